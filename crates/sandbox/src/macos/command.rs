//! A running command: waits for its process tree, ends it, and reports the denials.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use host::process::{OwnedProcess, ProcessExit};

use super::memory::TreeWatch;
use super::pool::SandboxResources;
use crate::{CommandExit, CommandOutcome, SandboxLayer};

/// The greatest time that a failed command's denials are waited for.
const LOG_DELAY: Duration = Duration::from_millis(100);

/// The layers that macOS does not have.
const ABSENT: [SandboxLayer; 4] = [
    SandboxLayer::Namespaces,
    SandboxLayer::Landlock,
    SandboxLayer::Seccomp,
    SandboxLayer::NoNewPrivs,
];

/// The macOS implementation of `crate::RunningCommand`.
#[derive(Debug)]
pub(crate) struct SupervisedCommand {
    pub(super) process: Arc<OwnedProcess>,
    pub(super) resources: Arc<SandboxResources>,
    pub(super) watch: Option<TreeWatch>,
    pub(super) fixed: Vec<AbsPath>,
    pub(super) without: BTreeSet<SandboxLayer>,
    pub(super) is_over: bool,
}

impl SupervisedCommand {
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn fixed(&self) -> Vec<AbsPath> {
        self.fixed.clone()
    }

    pub(crate) fn wait(mut self) -> CommandOutcome {
        let exit = match self.process.wait() {
            ProcessExit::Exited(code) => CommandExit::Exit(code),
            ProcessExit::Signalled(signal) => CommandExit::Signal(signal),
            ProcessExit::TimedOut => CommandExit::Signal(libc::SIGKILL),
        };
        self.is_over = true;
        drop(self.watch.take());
        // The denials of a command that failed may still be on their way through the log.
        let limit = match exit {
            CommandExit::Exit(0) => Duration::ZERO,
            _ => LOG_DELAY,
        };
        let mut without = std::mem::take(&mut self.without);
        without.extend(ABSENT);
        CommandOutcome {
            exit,
            denials: self.resources.denials.drain_within(limit),
            without,
        }
    }

    pub(crate) fn kill_handle(&self) -> SupervisorHandle {
        SupervisorHandle(self.process.clone())
    }
}

impl Drop for SupervisedCommand {
    fn drop(&mut self) {
        if !self.is_over {
            self.process.kill();
            // Reaps it, although a kill handle or the watch of its limits may still hold it.
            self.process.wait();
        }
    }
}

/// The macOS implementation of `crate::KillHandle`.
#[derive(Clone, Debug)]
pub(crate) struct SupervisorHandle(Arc<OwnedProcess>);

impl SupervisorHandle {
    pub(crate) fn kill(&self) {
        self.0.kill();
    }

    pub(crate) fn signal(&self, signal: i32) {
        self.0.signal(signal);
    }
}
