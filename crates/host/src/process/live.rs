//! A process that stays: its pipes are the caller's, all that it started ends with it, with its owner and with us.
//!
//! Invariant: when a process has ended, so has everything it started (see `tree` for the limits); the same soon after
//! its `Group` is dropped, and when this program dies, however it dies.

use std::ffi::OsString;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::Arc;
use std::{io, thread};

use base::AbsPath;
use rustix::process::Signal;

use super::held::{Held, fresh_mark};
use super::{End, Environment, interrupts, not_started, piped};
use crate::error::{Error, Reason};

/// A process to be started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program: a name looked up in the `PATH` of its environment, or a path.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder it runs in.
    pub folder: AbsPath,
    /// What it finds in its environment.
    pub environment: Environment,
}

/// A process under way.
#[derive(Debug)]
pub struct Live {
    /// Its input.
    pub input: ChildStdin,
    /// Its output.
    pub output: ChildStdout,
    /// Its complaints.
    pub errors: ChildStderr,
    /// The hold on it and all that it started. Dropping it kills them.
    pub group: Group,
}

/// The hold on a process and all that it started. Dropping it kills them.
#[derive(Debug)]
pub struct Group {
    held: Arc<Held>,
    /// Closed when the process has ended.
    ended: async_channel::Receiver<()>,
}

/// Starts a process in a group of its own.
///
/// # Errors
/// A sentence when it cannot be started: no such program, no such folder.
pub fn start(request: &Start) -> Result<Live, Error> {
    interrupts::are_heard_by_children();
    let mark = fresh_mark();
    let failed = |error: &io::Error| not_started(&request.program, &request.folder, error);
    let mut child = command(request, &mark)
        .spawn()
        .map_err(|error| failed(&error))?;
    let (Some(held), Some(input), Some(output), Some(errors)) = (
        Held::of(&child, &mark),
        child.stdin.take(),
        child.stdout.take(),
        child.stderr.take(),
    ) else {
        let reason = Reason::Other("it has no pipes".to_owned());
        return Err(Error::new(&request.folder, "run a program in", reason));
    };
    let held = Arc::new(held);
    let (sender, ended) = async_channel::bounded(1);
    let group = Group {
        held: held.clone(),
        ended,
    };
    thread::spawn(move || {
        held.wait();
        held.collect(&mut child);
        drop(sender);
    });
    Ok(Live {
        input,
        output,
        errors,
        group,
    })
}

impl Group {
    /// Kills the process and those of its group at once, and the rest of what it started as soon as it is gone.
    pub fn kill(&self) {
        self.held.kill();
    }

    /// Asks the process and those of its group to end.
    pub fn ask_to_end(&self) {
        self.held.signal(Signal::TERM);
    }

    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<End> {
        self.held.end()
    }

    /// Waits until the process and all that it started have ended.
    pub async fn ended(&self) -> End {
        // Nothing is ever sent: the channel closes.
        self.ended.recv().await.ok();
        self.end().unwrap_or(End::Signalled(0))
    }

    /// The process's number.
    pub fn id(&self) -> i32 {
        self.held.first().as_raw_nonzero().get()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(request: &Start, mark: &str) -> Command {
    let Start {
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
