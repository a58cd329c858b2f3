//! A hook as a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use host::process::{self, End, Request};

/// Bytes of a hook's output that are read.
const OUTPUT: usize = 256 * 1024;

/// What a hook left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; `None` where it was ended.
    pub code: Option<i32>,
    /// What it printed.
    pub output: String,
    /// What it complained about.
    pub errors: String,
}

/// Runs hooks. Dropping the future ends the process.
pub trait HookRunner: Send + Sync {
    /// Runs a command in a folder with this input. Fails with the end of a sentence that begins with the hook's
    /// name.
    fn run(
        &self,
        command: &str,
        folder: &AbsPath,
        input: Vec<u8>,
        patience: Duration,
    ) -> BoxFuture<'static, Result<Ran, String>>;
}

/// Runs hooks with `sh`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealHooks;

/// Tells a process on another thread that nobody waits for it any more.
struct Leash(Arc<AtomicBool>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Where the project lies is in the environment, as hooks written for Claude Code expect.
const PRELUDE: &str = "CLAUDE_PROJECT_DIR=$1; export CLAUDE_PROJECT_DIR; eval \"$2\"";

impl HookRunner for RealHooks {
    fn run(
        &self,
        command: &str,
        folder: &AbsPath,
        input: Vec<u8>,
        patience: Duration,
    ) -> BoxFuture<'static, Result<Ran, String>> {
        let root = folder.as_path().as_os_str().to_owned();
        let mut request = Request::new("sh", folder).with_arguments(["-c", PRELUDE, "sh"]);
        request.arguments.extend([root, command.into()]);
        (request.deadline, request.output_cap, request.input) = (patience, OUTPUT, input);
        let is_wanted = Arc::new(AtomicBool::new(true));
        async move {
            let leash = Leash(is_wanted.clone());
            let running = tokio::task::spawn_blocking(move || {
                process::run_while(&request, &|| is_wanted.load(Ordering::Relaxed))
            });
            let finished = running.await;
            drop(leash);
            let finished = finished.map_err(|error| format!("could not be run: {error}"))?;
            let finished = finished.map_err(|error| format!("could not be run: {error}"))?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok(Ran {
                code: match finished.end {
                    End::Exited(code) => Some(code),
                    End::Signalled(signal) => Some(128 + signal),
                    End::TimedOut => None,
                },
                output: text(&finished.output),
                errors: text(&finished.errors),
            })
        }
        .boxed()
    }
}
