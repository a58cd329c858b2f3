//! The project's own chores: `cargo xtask bench`, `soak`, `package`, `symbolise`, `mac-check`, `prices`, `train-embed`
//! and `train-tab`.
//!
//! Its tests check the tree itself: layers, sizes, words, exports, the glossary and the links of documents. Every test run
//! builds this crate, so `model` is its only dependency in the workspace; chores that need more are separate packages,
//! which it starts.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore talks to the terminal and starts cargo; none of it is linked into the product"
)]

use std::path::Path;
use std::process::{Command, ExitCode};

#[cfg(test)]
mod circles;
#[cfg(test)]
mod exports;
#[cfg(test)]
mod features;
#[cfg(test)]
mod glossary;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod language;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod packaging;
#[cfg(test)]
mod platforms;
mod prices;
#[cfg(test)]
mod scan;
mod symbolise;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod tree;

const USAGE: &str = "usage: cargo xtask bench NAME [ARGUMENT…]
       cargo xtask bench        lists the names
       cargo xtask soak [TEST…] runs tests with large counts: all of them, or those whose names contain a TEST
       cargo xtask package [FORMAT…]
                                makes the packages of a release; see crates/packaging/src/main.rs
       cargo xtask symbolise NOTE SYMBOLS
                                names the functions in a note about a crash; see crates/xtask/src/symbolise.rs
       cargo xtask mac-check [aarch64|x86_64] [CARGO ARGUMENT…]
                                type-checks for macOS on Linux; see packaging/mac-check
       cargo xtask prices LITELLM_JSON SOURCE DATE MODELS_DEV_JSON SOURCE DATE
                                writes assets/models/prices.json; see crates/xtask/src/prices.rs
       cargo xtask train-embed [STEP…]
                                trains the table of code embeddings; see crates/train_embed/src/main.rs
       cargo xtask train-tab [STEP…]
                                trains the tables of Tab's local tier; see crates/train_tab/src/main.rs";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("bench") => run_package("bench", arguments.collect()),
        Some("soak") => soak(arguments.collect()),
        Some("package") => run_package("packaging", arguments.collect()),
        Some("symbolise") => ended(symbolise(&arguments.collect::<Vec<_>>())),
        Some("mac-check") => mac_check(arguments.collect()),
        Some("prices") => ended(prices(&arguments.collect::<Vec<_>>())),
        Some("train-embed") => run_package("train_embed", arguments.collect()),
        Some("train-tab") => run_package("train_tab", arguments.collect()),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Builds and runs a package in the release profile: benchmarks measure optimized code, and training and the packing of
/// large programs would take too long without optimization.
fn run_package(package: &str, arguments: Vec<String>) -> ExitCode {
    let mut command = cargo();
    command.args(["run", "--release", "--package", package, "--"]);
    command.args(arguments);
    finished(&mut command)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn finished(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let program = command.get_program().display();
            eprintln!("cannot start {program}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a note about a crash with the names of functions.
fn symbolise(arguments: &[String]) -> Result<(), String> {
    let [note, symbols] = arguments else {
        return Err(USAGE.to_owned());
    };
    let text = symbolise::symbolise(Path::new(note), Path::new(symbols))?;
    let mut output = std::io::stdout();
    std::io::Write::write_all(&mut output, text.as_bytes())
        .map_err(|error| format!("cannot write the note: {error}"))
}

/// Type-checks the workspace for macOS.
fn mac_check(arguments: Vec<String>) -> ExitCode {
    finished(Command::new("packaging/mac-check").args(arguments))
}

/// Variables that the soak sets in addition to `BURIN_SOAK`: counts for single tests.
const SOAK_COUNTS: &[(&str, &str)] = &[
    ("BURIN_BATTERY", "all"),
    ("BURIN_CANCELS", "200"),
    ("BURIN_CONFLICTS", "300"),
    ("BURIN_CUTS", "200"),
    // More than a change of a repository has calls: it is killed at each of them.
    ("BURIN_GIT_KILLS", "1000"),
    ("BURIN_KILLS", "200"),
    ("BURIN_MERGES", "3000"),
    ("BURIN_PAYLOADS", "315"),
    ("BURIN_RACES", "10000"),
    // Multiplies the usual rounds: 34 gives more than 100,000 project replacements.
    ("BURIN_ROUNDS", "34"),
    ("BURIN_SEEDS", "200"),
    ("BURIN_SESSIONS", "200"),
    ("BURIN_SPELLINGS", "10000"),
    // Selections of lines that are staged here and by git.
    ("BURIN_STAGINGS", "100000"),
    ("BURIN_TEST_KILLS", "100"),
    ("BURIN_WINDOW_KILLS", "200"),
    ("PATCH_SEEDS", "25000"),
];

/// The value that the Makefile uses; with other lints, Cargo would build the workspace again.
const CLIPPY_ARGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Runs tests with large counts, in the gate's profile and with its lints, so that nothing is built again.
fn soak(filters: Vec<String>) -> ExitCode {
    let mut command = cargo();
    command.args(["test", "--workspace", "--tests", "--"]);
    command.args(filters).env("BURIN_SOAK", "1");
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    command.env("CLIPPY_ARGS", CLIPPY_ARGS);
    for (name, count) in SOAK_COUNTS {
        if std::env::var_os(name).is_none() {
            command.env(name, count);
        }
    }
    finished(&mut command)
}

fn prices(arguments: &[String]) -> Result<(), String> {
    let [litellm, one, its_date, models_dev, other, other_date] = arguments else {
        return Err(USAGE.to_owned());
    };
    let table = |path: &str, source: &str, date: &str| match std::fs::read_to_string(path) {
        Ok(text) => Ok(prices::Table {
            text,
            source: source.to_owned(),
            date: date.to_owned(),
        }),
        Err(error) => Err(format!("cannot read {path}: {error}")),
    };
    let litellm = table(litellm, one, its_date)?;
    let models_dev = table(models_dev, other, other_date)?;
    let (text, notes) = prices::merge(&litellm, &models_dev);
    for note in &notes {
        eprintln!("{note}");
    }
    let path = "assets/models/prices.json";
    std::fs::write(path, &text).map_err(|error| format!("cannot write {path}: {error}"))?;
    let rows = text.lines().count().saturating_sub(2);
    eprintln!(
        "{path}: {rows} rows, {} bytes, {} notes",
        text.len(),
        notes.len()
    );
    Ok(())
}
