//! A process that stays: its pipes are the caller's, its group ends with it, with its owner and with us.
//!
//! Invariant: when a process has ended, so have those of its group; the same when its `Group` is dropped, and when
//! this program dies, however it dies.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, io::Write, thread};

use base::{AbsPath, LogErr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{End, Environment, end_of, pid_of};
use crate::error::{Error, Reason};

/// Waits for a line that tells that all is over. The end of its input instead means that this program died.
const GUARD: &str = r#"read -r over || kill -s KILL -- "-$1""#;

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
    /// The hold on it and its children. Dropping it kills them.
    pub group: Group,
}

/// The hold on a process and those of its group. Dropping it kills them.
#[derive(Debug)]
pub struct Group {
    pid: Pid,
    /// `None` until the process has ended and was collected; its number is its own until then.
    end: Arc<Mutex<Option<End>>>,
    /// Closed when the process has ended.
    ended: async_channel::Receiver<()>,
}

/// Starts a process in a group of its own.
pub fn start(request: &Start) -> Result<Live, Error> {
    let mut child = command(request)
        .spawn()
        .map_err(|error| start_error(request, &error))?;
    let (Some(pid), Some(input), Some(output), Some(errors)) = (
        pid_of(&child),
        child.stdin.take(),
        child.stdout.take(),
        child.stderr.take(),
    ) else {
        let reason = Reason::Other("it has no pipes".to_owned());
        return Err(Error::new(&request.folder, "run a program in", reason));
    };
    let guard = guard(pid).log_err();
    let end = Arc::new(Mutex::new(None));
    let (sender, ended) = async_channel::bounded(1);
    let group = Group {
        pid,
        end: end.clone(),
        ended,
    };
    thread::spawn(move || {
        collect(&mut child, pid, &end, guard);
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
    /// Kills the process and those of its group at once.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Asks the process and those of its group to end.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<End> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the process and those of its group have ended.
    pub async fn ended(&self) -> End {
        // Nothing is ever sent: the channel closes.
        self.ended.recv().await.ok();
        self.end().unwrap_or(End::Signalled(0))
    }

    /// The process's number.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    fn signal(&self, signal: Signal) {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // Once it is collected, its number may be somebody else's.
        if end.is_none() {
            // A group that is already empty is what we want.
            kill_process_group(self.pid, signal).ok();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(request: &Start) -> Command {
    let mut command = Command::new(&request.program);
    command
        .args(&request.arguments)
        .current_dir(&request.folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Environment::Only(variables) = &request.environment {
        command.env_clear();
        command.envs(variables.iter().map(|(name, value)| (name, value)));
    }
    command
}

fn start_error(request: &Start, error: &io::Error) -> Error {
    let program = request.program.to_string_lossy();
    let reason = match error.kind() {
        io::ErrorKind::NotFound if request.folder.as_path().is_dir() => Reason::Other(format!(
            "the program {program} is not installed; install it, or give its whole path"
        )),
        io::ErrorKind::NotFound => Reason::Other("there is no such folder".to_owned()),
        _ => Reason::Other(format!("{program} did not start: {error}")),
    };
    Error::new(&request.folder, "run a program in", reason)
}

/// Starts the process that outlives us only to kill the group.
fn guard(pid: Pid) -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", GUARD, "burin-guard"])
        .arg(pid.as_raw_nonzero().get().to_string())
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn collect(child: &mut Child, pid: Pid, end: &Mutex<Option<End>>, guard: Option<Child>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(error) = waitid(WaitId::Pid(pid), options) {
        if error != rustix::io::Errno::INTR {
            break;
        }
    }
    // The guard stands down before the number is free for others.
    if let Some(mut guard) = guard {
        if let Some(mut input) = guard.stdin.take() {
            input.write_all(b"over\n").log_err();
        }
        guard.wait().log_err();
    }
    let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
    kill_process_group(pid, Signal::KILL).ok();
    *end = Some(child.wait().map_or(End::Signalled(0), end_of));
}

#[cfg(test)]
mod tests;
