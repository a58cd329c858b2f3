//! Trains the table of code embeddings: `cargo xtask train-embed [STEP…] [SETTING=NUMBER…]`.
//!
//! Without a named step, all of these run in this order:
//!
//! - `fetch` downloads the pinned packages and the MiniLM model,
//! - `mine` extracts pairs of a function and its documentation,
//! - `vocabulary` chooses the tokens,
//! - `distil` computes MiniLM's embedding of each token,
//! - `tune` trains the table on the pairs,
//! - `write` quantises the table into `assets/models`.
//!
//! Two more steps run only when named: `pin` regenerates the list of packages, and `score` measures the shipped table
//! on the held-out pairs.
//!
//! Intermediate files are below `target/embed`. Invariant: the same inputs give the same table, bit for bit, on any
//! number of threads.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore talks to the terminal and starts programs; none of it is linked into the product"
)]

mod bags;
mod distil;
mod error;
mod matrix;
mod mine;
mod model_input;
mod score;
mod tune;
mod vocabulary;
mod write;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use index::minilm::MiniLm;
use index::wordpiece::Vocabulary;
use packages::{fetch, sources};

use error::Error;
use tune::Tuning;

const FOLDER: &str = "target/embed";
/// Path of the pinned list of packages.
const LIST: &str = "assets/models/code-embedding.sources.json";
const STEPS: &[&str] = &["fetch", "mine", "vocabulary", "distil", "tune", "write"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the named steps in the given order.
fn run(arguments: &[String]) -> Result<(), Error> {
    let (settings, steps): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|word| word.contains('='));
    let settings: Vec<_> = settings
        .iter()
        .filter_map(|word| word.split_once('='))
        .collect();
    let tuning = Tuning::CHOSEN.with(&settings)?;
    let folder = Path::new(FOLDER);
    std::fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    let steps = if steps.is_empty() { STEPS } else { &steps };
    steps.iter().try_for_each(|name| step(name, folder, tuning))
}

/// Runs the step `name` on the files in `folder`. Returns an error if there is no such step or it
/// fails.
fn step(name: &str, folder: &Path, tuning: Tuning) -> Result<(), Error> {
    let inputs = folder.join("inputs");
    let list = Path::new(LIST);
    match name {
        "pin" => Ok(sources::write(list, &fetch::pin(&inputs)?, |_| None)?),
        "fetch" => {
            fetch::run(&sources::read(list)?, &inputs)?;
            model_input::fetch(&inputs, &model_folder(folder))
        }
        "mine" => mine::run(&sources::read(list)?, &inputs, folder),
        "vocabulary" => vocabulary::run(&mine::read(folder)?, model(folder)?.vocabulary(), folder),
        "distil" => distil::run(&vocabulary::read(folder)?, &model(folder)?, folder),
        "tune" => {
            let tokens = vocabulary::read(folder)?;
            let vocabulary = Vocabulary::new(tokens.iter().map(|(token, _)| token.as_str()));
            let table = tune::run(
                &mine::read(folder)?,
                &vocabulary,
                distil::read(folder)?,
                tuning,
            );
            matrix::write(&folder.join(write::TUNED), &table)
        }
        "write" => write::run(folder),
        "score" => write::score(folder),
        other => Err(Error::UnknownStep {
            name: other.to_owned(),
            known: STEPS.join(", "),
        }),
    }
}

fn model_folder(folder: &Path) -> PathBuf {
    folder.join("minilm")
}

/// Loads MiniLM from the folder of intermediate files. Returns an error if its files are missing or
/// invalid.
fn model(folder: &Path) -> Result<MiniLm, Error> {
    let folder = model_folder(folder);
    let folder = folder.canonicalize().map_err(Error::io("find", &folder))?;
    Ok(MiniLm::open(&folder)?)
}

/// Returns the number of threads to use. Results do not depend on it.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
