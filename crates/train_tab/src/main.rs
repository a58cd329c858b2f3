//! Trains the tables of Tab's local tier: `cargo xtask train-tab [STEP…]`.
//!
//! Without a named step, all of these run in this order:
//!
//! - `fetch` downloads the pinned packages,
//! - `idioms` counts the idioms of the fitting set,
//! - `train` types the changes of the fitting set and fits the scorer's tables in two rounds,
//! - `choose` selects the policy of showing on the development set, and writes the scorer.
//!
//! Three more steps run only when named: `pin` makes the list of packages anew, `score` measures the
//! tables on the development set, `final` on the final set.
//!
//! Intermediate files are below `target/tab`. Invariant: the same packages give the same tables, bit
//! for bit, on any number of threads, with the same toolchain and platform: `exp` and `ln` are the
//! platform's. `assets/models/tab-scorer.md` lists the inputs that may disappear.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore talks to the terminal and starts programs; none of it is linked into the product"
)]

mod boost;
mod changes;
mod error;
#[cfg(test)]
mod fixture;
mod idioms;
mod projects;
mod samples;
mod score;
mod tally;
mod train;

use std::path::Path;
use std::process::ExitCode;

use packages::{fetch, sources};

use error::Error;
use projects::{ProjectSet, set_of};

const FOLDER: &str = "target/tab";
/// Path of the pinned list of packages.
const LIST: &str = "assets/models/tab-scorer.sources.json";
/// Path of the tables that ship.
const SHIPPED: &str = "assets/models/tab-scorer.bin";
/// Path of the idioms that ship.
const IDIOMS: &str = "assets/models/tab-idioms.bin";
const STEPS: &[&str] = &["fetch", "idioms", "train", "choose"];

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

/// Runs the named steps in the order given.
fn run(arguments: &[String]) -> Result<(), Error> {
    let folder = Path::new(FOLDER);
    std::fs::create_dir_all(folder).map_err(packages::Error::io("make", folder))?;
    let steps: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let steps = if steps.is_empty() { STEPS } else { &steps };
    steps.iter().try_for_each(|name| step(name, folder))
}

/// Runs the step `name` on the files in `folder`. Returns an error if there is no such step or it
/// fails.
fn step(name: &str, folder: &Path) -> Result<(), Error> {
    let inputs = folder.join("inputs");
    let list = Path::new(LIST);
    match name {
        "pin" => {
            let mut packages = fetch::pin(&inputs)?;
            projects::choose(&mut packages);
            let set = |source: &sources::Source| Some(set_of(&source.name).name());
            Ok(sources::write(list, &packages, set)?)
        }
        "fetch" => Ok(fetch::run(&sources::read(list)?, &inputs)?),
        "idioms" => idioms::run(&sources::read(list)?, &inputs),
        "train" => train::run(&sources::read(list)?, &inputs, folder),
        "choose" => score::choose(&sources::read(list)?, &inputs, folder),
        "score" => score::run(&sources::read(list)?, &inputs, ProjectSet::Development),
        "final" => score::run(&sources::read(list)?, &inputs, ProjectSet::Final),
        other => Err(Error::UnknownStep {
            name: other.to_owned(),
            known: STEPS.join(", "),
        }),
    }
}

/// Reads a file of tables.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    Ok(std::fs::read(path).map_err(packages::Error::io("read", path))?)
}

/// Writes a file of tables and prints its size.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(packages::Error::io("write", path))?;
    eprintln!("{}: {} bytes", path.display(), bytes.len());
    Ok(())
}

/// The number of threads to spread work over. Results do not depend on it.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Applies `work` to each item on all threads and returns the results in the order of the items.
fn spread<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Result<Vec<R>, Error> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let ix = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(ix) else {
                return done;
            };
            done.push((ix, work(item)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads()).map(|_| scope.spawn(take)).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        let mut all = Vec::new();
        for done in ended {
            all.extend(done.map_err(|_| Error::ThreadPanicked)?);
        }
        Ok::<_, Error>(all)
    })?;
    all.sort_by_key(|(ix, _)| *ix);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}
