//! A child process inside a sandbox, which ends all its descendants with it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use host::process::{
    ProcessEnvironment, ProcessExit, SandboxSpawner, SandboxedCommand, SandboxedProcess,
    StartRequest,
};
use tokio::sync::watch;

use crate::error::Error;

/// A process inside a sandbox. Dropping it kills the process and its descendants.
pub(super) struct SandboxedChild {
    process: Arc<dyn SandboxedProcess>,
    /// The exit, once the process and its descendants are gone.
    exit: watch::Receiver<Option<ProcessExit>>,
}

impl SandboxedChild {
    /// Starts a process inside a sandbox. Returns our ends of its standard input, output and error.
    /// Fails if the sandbox cannot be set up or the program cannot run.
    pub(super) fn start(
        start: StartRequest,
        sandbox: &dyn SandboxSpawner,
    ) -> Result<([OwnedFd; 3], Self), Error> {
        let pipe =
            || io::pipe().map_err(|error| Error::Start(format!("its pipes do not work: {error}")));
        let ((input_end, input), (output, output_end), (errors, errors_end)) =
            (pipe()?, pipe()?, pipe()?);
        let variables = match start.environment {
            ProcessEnvironment::Only(variables) => variables,
            ProcessEnvironment::Allowed(recipient) => host::environment::variables(recipient),
        };
        let started = sandbox.start(SandboxedCommand {
            program: start.program,
            arguments: start.arguments,
            folder: start.folder,
            variables,
            streams: [input_end.into(), output_end.into(), errors_end.into()],
            has_terminal: false,
        });
        let process: Arc<dyn SandboxedProcess> = match started {
            Ok(process) => Arc::from(process),
            Err(error) => return Err(Error::Start(error.to_string())),
        };
        let (sender, exit) = watch::channel(None);
        let waited = process.clone();
        std::thread::spawn(move || {
            let (exit, _) = waited.wait();
            sender.send_replace(Some(exit));
        });
        let streams = [input.into(), output.into(), errors.into()];
        Ok((streams, Self { process, exit }))
    }

    /// Waits until the process and its descendants are gone.
    pub(super) async fn wait(&self) -> ProcessExit {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await;
        // The sender is dropped only after it sent the exit, unless the wait panicked.
        ended
            .ok()
            .and_then(|exit| *exit)
            .unwrap_or(ProcessExit::Signalled(0))
    }

    /// Asks the process to terminate.
    pub(super) fn terminate(&self) {
        self.process.interrupt();
    }

    /// Kills the process and its descendants.
    pub(super) fn kill(&self) {
        self.process.stop(Duration::ZERO);
    }
}

impl Drop for SandboxedChild {
    fn drop(&mut self) {
        if self.exit.borrow().is_none() {
            self.kill();
        }
    }
}

impl fmt::Debug for SandboxedChild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxedChild")
            .field("id", &self.process.id())
            .finish_non_exhaustive()
    }
}
