//! Commands that make a fresh lease ready for work, and clean up after it.
//!
//! Who runs them is the caller's: they are a project's, so they belong in the sandbox.

use serde::{Deserialize, Serialize};

use crate::lease::Lease;

/// Runs one command of a project inside a lease, kept in bounds.
pub trait Runner {
    /// Runs `command` by a shell in the lease's root with its environment. The error is why it could not be started.
    fn run(&self, lease: &Lease, command: &str) -> Result<Ran, String>;
}

/// What a command left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; `None` when it was ended by a signal.
    pub code: Option<i32>,
    /// What it said, on both its outputs.
    pub output: String,
}

/// How setting a lease up went. A failure is a state of the lease, which can be used all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUp {
    /// Whether every command ended with 0.
    pub is_done: bool,
    /// The command that failed, or the last one.
    pub command: String,
    /// What it said, the last few thousand characters.
    pub output: String,
}

/// How much of a command's output is kept, in characters.
const KEPT: usize = 4000;

/// Runs `commands` in order until one fails; `None` when there is none.
pub(crate) fn run_all(lease: &Lease, commands: &[String], runner: &dyn Runner) -> Option<SetUp> {
    let mut last = None;
    for command in commands {
        let (is_done, output) = match runner.run(lease, command) {
            Ok(ran) => (ran.code == Some(0), ran.output),
            Err(sentence) => (false, sentence),
        };
        let skip = output.chars().count().saturating_sub(KEPT);
        last = Some(SetUp {
            is_done,
            command: command.clone(),
            output: output.chars().skip(skip).collect(),
        });
        if !is_done {
            break;
        }
    }
    last
}
