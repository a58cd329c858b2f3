//! Running a hook as a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use host::process::{self, ProcessExit, ProcessRequest};

use crate::error::Error;

/// Maximum size of a hook's output, in bytes.
const OUTPUT: usize = 256 * 1024;

/// The result of a hook that ran to its end or was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOutput {
    /// The exit code; `None` if the process was killed.
    pub code: Option<i32>,
    /// Text from standard output.
    pub output: String,
    /// Text from standard error.
    pub errors: String,
}

/// Runs hooks. Dropping the future kills the process.
pub trait HookRunner: Send + Sync {
    /// Runs a command line in a folder with `input` on standard input; it is killed after
    /// `patience`. Fails with `Error::HookNotRun` if it cannot run.
    fn run(
        &self,
        command: &str,
        folder: &AbsPath,
        input: Vec<u8>,
        patience: Duration,
    ) -> BoxFuture<'static, Result<HookOutput, Error>>;
}

/// Runs hooks as processes of `sh -c`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessHookRunner;

/// Cancels a process on another thread when dropped.
struct HookProcess(Arc<AtomicBool>);

impl Drop for HookProcess {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Hooks written for Claude Code expect the project's folder in the environment.
const PRELUDE: &str = "CLAUDE_PROJECT_DIR=$1; export CLAUDE_PROJECT_DIR; eval \"$2\"";

impl HookRunner for ProcessHookRunner {
    fn run(
        &self,
        command: &str,
        folder: &AbsPath,
        input: Vec<u8>,
        patience: Duration,
    ) -> BoxFuture<'static, Result<HookOutput, Error>> {
        let root = folder.as_path().as_os_str().to_owned();
        let mut request = ProcessRequest::new("sh", folder).with_arguments(["-c", PRELUDE, "sh"]);
        request.arguments.extend([root, command.into()]);
        (request.deadline, request.output_cap, request.input) = (patience, OUTPUT, input);
        let is_wanted = Arc::new(AtomicBool::new(true));
        async move {
            let leash = HookProcess(is_wanted.clone());
            let running = tokio::task::spawn_blocking(move || {
                process::run_while(&request, &|| is_wanted.load(Ordering::Relaxed))
            });
            let finished = running.await;
            drop(leash);
            let finished = finished.map_err(|error| not_run(&error))?;
            let finished = finished.map_err(|error| not_run(&error))?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok(HookOutput {
                code: match finished.exit {
                    ProcessExit::Exited(code) => Some(code),
                    ProcessExit::Signalled(signal) => Some(128 + signal),
                    ProcessExit::TimedOut => None,
                },
                output: text(&finished.output),
                errors: text(&finished.errors),
            })
        }
        .boxed()
    }
}

fn not_run(error: &dyn std::fmt::Display) -> Error {
    Error::HookNotRun(format!("could not be run: {error}"))
}
