//! Diagnosis of the machine: its capabilities and its problems.
//!
//! Every fact states what was found and, unless it is good, what to do about it. Nothing here
//! fails: a failed probe becomes a fact that says so.

mod display;
mod sandbox;
mod storage;

use std::fs;
use std::time::Duration;

use base::AbsPath;

use crate::dirs::Dirs;
use crate::process::{self, ProcessRequest};
pub use display::no_display;

/// Time limit for any program that a probe runs.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// One finding about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The subject of the probe.
    pub name: &'static str,
    /// The value that was found.
    pub value: String,
    /// The assessment of the value.
    pub verdict: FactVerdict,
}

/// The assessment of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactVerdict {
    /// Works as it should.
    Good,
    /// Works, but not as well as it could; holds the advice.
    Warn(String),
    /// Does not work; holds the advice.
    Bad(String),
}

/// Probes the machine. Blocks for up to some seconds.
pub fn facts(dirs: &Dirs) -> Vec<Fact> {
    let mut facts = vec![system()];
    facts.extend(display::facts());
    facts.push(git());
    facts.extend(sandbox::facts());
    facts.extend(storage::facts(dirs));
    facts
}

impl Fact {
    fn good(name: &'static str, value: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            verdict: FactVerdict::Good,
        }
    }

    fn warn(name: &'static str, value: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            verdict: FactVerdict::Warn(advice.into()),
        }
    }

    fn bad(name: &'static str, value: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            verdict: FactVerdict::Bad(advice.into()),
        }
    }
}

fn system() -> Fact {
    let system = rustix::system::uname();
    let distribution = text_of("/etc/os-release").and_then(|text| {
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="));
        name.map(|name| name.trim_matches('"').to_owned())
    });
    let value = format!(
        "{} {} {}{}",
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
        system.machine().to_string_lossy(),
        distribution.map_or(String::new(), |name| format!(", {name}"))
    );
    Fact::good("system", value)
}

fn git() -> Fact {
    match output_of("git", &["--version"]) {
        Some(text) => {
            let version = text.trim().trim_start_matches("git version ").to_owned();
            Fact::good("git", version)
        }
        None => Fact::warn(
            "git",
            "not found",
            "Burin reads repositories without it; install git to commit, fetch and push",
        ),
    }
}

/// Returns a program's output if it exists and succeeds.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let root = AbsPath::new("/")?;
    let mut request = ProcessRequest::new(program, &root).with_arguments(arguments.iter().copied());
    request.environment =
        process::ProcessEnvironment::Allowed(crate::environment::Recipient::Personal);
    request.deadline = PROBE_TIMEOUT;
    let finished = process::run(&request).ok()?;
    finished.is_success().then(|| finished.text())
}

/// Reads a text file; `None` if it is unreadable or not UTF-8.
fn text_of(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Reads a decimal number from a file that contains nothing else; `None` if there is none.
fn number_of(path: &str) -> Option<u64> {
    text_of(path)?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
