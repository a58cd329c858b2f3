//! Commands that set up a new lease and tear it down.
//!
//! The caller runs them: they come from the project and belong in the sandbox.

use serde::{Deserialize, Serialize};

use crate::lease::Lease;

/// Runs a project's command inside a lease, in a sandbox.
pub trait SetupRunner {
    /// Runs `command` by a shell in the lease's root with its environment. The error tells why it
    /// could not be started.
    fn run(&self, lease: &Lease, command: &str) -> Result<SetupRun, String>;
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupRun {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its output, standard output and error combined.
    pub output: String,
}

/// The result of a lease's setup. A lease whose setup failed can still be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupResult {
    /// Whether every command exited with 0.
    pub is_done: bool,
    /// The command that failed, or the last one.
    pub command: String,
    /// The last few thousand characters of its output.
    pub output: String,
}

/// Maximum length of the kept output, in characters.
const MAX_OUTPUT_CHARS: usize = 4000;

/// Runs `commands` in order until one fails; `None` if there are none.
pub(crate) fn run_all(
    lease: &Lease,
    commands: &[String],
    runner: &dyn SetupRunner,
) -> Option<SetupResult> {
    let mut last = None;
    for command in commands {
        let (is_done, output) = match runner.run(lease, command) {
            Ok(ran) => (ran.code == Some(0), ran.output),
            Err(sentence) => (false, sentence),
        };
        let skip = output.chars().count().saturating_sub(MAX_OUTPUT_CHARS);
        last = Some(SetupResult {
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
