//! Diagnosis of the machine: its capabilities and its problems.
//!
//! Every fact states what was found and, unless it is good, what to do about it. Nothing here
//! fails: a failed probe becomes a fact that says so.

#[cfg(any(test, target_os = "macos"))]
mod macos;
mod storage;

#[cfg(not(target_os = "macos"))]
mod linux;
#[cfg(target_os = "macos")]
mod macos_probe;

#[cfg(not(target_os = "macos"))]
use linux as system;
#[cfg(target_os = "macos")]
use macos_probe as system;

use std::time::Duration;

use base::AbsPath;

use crate::dirs::Dirs;
use crate::process::{self, ProcessRequest};
pub use system::no_display;

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
    let mut facts = vec![system(), git()];
    let mut volumes = vec![("cache volume", dirs.cache.clone())];
    let folder = std::env::current_dir().ok().and_then(AbsPath::new);
    volumes.extend(folder.map(|folder| ("project volume", folder)));
    facts.extend(storage::facts(dirs));
    facts.push(open_files());
    facts.extend(system::facts(&volumes));
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
    let kernel = rustix::system::uname();
    let value = format!(
        "{} {} {}{}",
        kernel.sysname().to_string_lossy(),
        kernel.release().to_string_lossy(),
        kernel.machine().to_string_lossy(),
        system::version().map_or(String::new(), |name| format!(", {name}"))
    );
    Fact::good("system", value)
}

/// Fewer open files than this do not suffice for a large project with agents.
const FEW_FILES: u64 = 4_096;

fn open_files() -> Fact {
    let name = "open files";
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match limit {
        None => Fact::good(name, "unlimited"),
        Some(limit) if limit >= FEW_FILES => Fact::good(name, format!("{limit} at most")),
        Some(limit) => Fact::warn(
            name,
            format!("{limit} at most"),
            "raise the hard limit: \"ulimit -H -n\" shows it",
        ),
    }
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

#[cfg(not(target_os = "macos"))]
fn text_of(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(not(target_os = "macos"))]
fn number_of(path: &str) -> Option<u64> {
    text_of(path)?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
