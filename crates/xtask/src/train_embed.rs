//! Makes the table of code embeddings: `cargo xtask train-embed [STEP…]`.
//!
//! Steps, all of them when none is named: `fetch` brings the pinned packages here, `mine` finds pairs of a
//! documentation and its function in them. `pin` makes the list of packages anew.
//! Everything but the table and the list of sources is written below `target/embed`.

mod archive;
mod fetch;
mod mine;
mod sources;

use std::path::Path;

const FOLDER: &str = "target/embed";
const STEPS: &[&str] = &["fetch", "mine"];

/// Runs the steps in the order given.
///
/// # Errors
/// A sentence that says which step failed at what.
pub(crate) fn run(steps: &[String]) -> Result<(), String> {
    let folder = Path::new(FOLDER);
    let inputs = folder.join("inputs");
    std::fs::create_dir_all(&inputs)
        .map_err(|error| format!("cannot make {}: {error}", inputs.display()))?;
    let all: Vec<String> = STEPS.iter().map(|step| (*step).to_owned()).collect();
    let steps = if steps.is_empty() { &all } else { steps };
    for step in steps {
        match step.as_str() {
            "pin" => sources::write(&fetch::pin(&inputs)?)?,
            "fetch" => fetch::run(&sources::read()?, &inputs)?,
            "mine" => mine::run(&sources::read()?, &inputs, folder)?,
            other => {
                return Err(format!(
                    "there is no step {other:?}; there are pin, {}",
                    STEPS.join(", ")
                ));
            }
        }
    }
    Ok(())
}

/// How many threads the work is spread over. What comes out does not depend on it.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
