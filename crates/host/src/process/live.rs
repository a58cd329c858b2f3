//! A long-running process whose pipes belong to the caller.
//!
//! Invariant: when the process has ended, so have all its descendants (see `tree` for the limits);
//! the same holds soon after its `ProcessGroup` is dropped, and when Burin dies.

use std::ffi::OsString;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::Arc;
use std::{io, thread};

use base::AbsPath;
use rustix::process::Signal;

use super::handle::{ProcessHandle, fresh_mark};
use super::{ProcessEnvironment, ProcessExit, busy, interrupts, not_started, piped};
use crate::error::{Error, ErrorReason};

/// A process to start.
#[derive(Clone, Debug)]
pub struct StartRequest {
    /// The program: a name looked up in the `PATH` of its environment, or a path.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The working folder of the process.
    pub folder: AbsPath,
    /// The environment variables that it receives.
    pub environment: ProcessEnvironment,
}

/// A running process and its pipes.
#[derive(Debug)]
pub struct LiveProcess {
    /// The pipe to its standard input.
    pub input: ChildStdin,
    /// The pipe from its standard output.
    pub output: ChildStdout,
    /// The pipe from its standard error.
    pub errors: ChildStderr,
    /// Owns the process and its descendants; dropping it kills them.
    pub group: ProcessGroup,
}

/// Owns a process and its descendants. Dropping it kills them.
#[derive(Debug)]
pub struct ProcessGroup {
    held: Arc<ProcessHandle>,
    /// Closed when the process has ended.
    ended: async_channel::Receiver<()>,
}

/// Starts a process in its own process group.
///
/// # Errors
/// The program or the folder does not exist, or the program cannot be executed.
pub fn start(request: &StartRequest) -> Result<LiveProcess, Error> {
    interrupts::restore_for_children();
    let mark = fresh_mark();
    let failed = |error: &io::Error| not_started(&request.program, &request.folder, error);
    let mut command = command(request, &mark);
    let child = busy::retry_while_busy(|| command.spawn());
    let mut child = child.map_err(|error| failed(&error))?;
    let (Some(held), Some(input), Some(output), Some(errors)) = (
        ProcessHandle::of(&child, &mark),
        child.stdin.take(),
        child.stdout.take(),
        child.stderr.take(),
    ) else {
        let reason = ErrorReason::Other("it has no pipes".to_owned());
        return Err(Error::new(&request.folder, "run a program in", reason));
    };
    let held = Arc::new(held);
    let (sender, ended) = async_channel::bounded(1);
    let group = ProcessGroup {
        held: held.clone(),
        ended,
    };
    thread::spawn(move || {
        held.wait();
        held.reap(&mut child);
        drop(sender);
    });
    Ok(LiveProcess {
        input,
        output,
        errors,
        group,
    })
}

impl ProcessGroup {
    /// Kills the process and its group at once; descendants outside the group are killed once it is
    /// gone.
    pub fn kill(&self) {
        self.held.kill();
    }

    /// Asks the process and its group to terminate.
    pub fn terminate(&self) {
        self.held.signal(Signal::TERM);
    }

    /// Returns how it ended; `None` while it runs.
    pub fn exit(&self) -> Option<ProcessExit> {
        self.held.exit()
    }

    /// Waits until the process and all its descendants have ended.
    pub async fn wait(&self) -> ProcessExit {
        // Nothing is ever sent: the channel closes.
        self.ended.recv().await.ok();
        self.exit().unwrap_or(ProcessExit::Signalled(0))
    }

    /// Returns the ids of its living processes, its own included.
    #[cfg(test)]
    pub(super) fn members(&self) -> Vec<u32> {
        self.held.members()
    }

    /// Returns the memory of the process and its descendants in bytes; `None` if they have ended. Memory that they
    /// share counts once on Linux. Blocks while it reads the process table.
    pub fn memory(&self) -> Option<u64> {
        let members = self.held.members().into_iter();
        let memory = members.filter_map(super::memory::memory_of);
        Some(memory.sum()).filter(|bytes| *bytes > 0)
    }

    /// Returns the process id.
    pub fn id(&self) -> i32 {
        self.held.leader().as_raw_nonzero().get()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(request: &StartRequest, mark: &str) -> Command {
    let StartRequest {
        program,
        arguments,
        folder,
        environment,
    } = request;
    let mut command = piped(program, arguments, folder, environment);
    command.env(mark, "1");
    command
}

#[cfg(test)]
mod tests;
