//! What this machine offers, and what is wrong with it.
//!
//! Every fact says what was found and, unless it is good, what to do. Nothing here fails: what
//! cannot be found out becomes a fact that says so.

mod display;
mod sandbox;
mod storage;

use std::fs;
use std::time::Duration;

use base::AbsPath;

use crate::dirs::Dirs;
use crate::process::{self, Request};
pub use display::no_display;

/// How long any program that is asked may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// One thing found out about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What was looked at.
    pub name: &'static str,
    /// What was found.
    pub value: String,
    /// Whether that is good.
    pub verdict: Verdict,
}

/// Whether a fact is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Works, but not as well as it could: what to do about it.
    Warn(String),
    /// Something does not work: what to do about it.
    Bad(String),
}

/// Looks at the machine. Blocks, up to some seconds.
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
            verdict: Verdict::Good,
        }
    }

    fn warn(name: &'static str, value: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            verdict: Verdict::Warn(advice.into()),
        }
    }

    fn bad(name: &'static str, value: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            verdict: Verdict::Bad(advice.into()),
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

/// What a program says, if it is there and content.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let root = AbsPath::new("/")?;
    let mut request = Request::new(program, &root).with_arguments(arguments.iter().copied());
    request.environment = process::Environment::Allowed(crate::environment::Recipient::Personal);
    request.deadline = PATIENCE;
    let finished = process::run(&request).ok()?;
    finished.is_success().then(|| finished.text())
}

fn text_of(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn number_of(path: &str) -> Option<u64> {
    text_of(path)?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
