//! A program of Burin's own that outlives this process.
//!
//! Invariant: only Burin's own programs are started in this way. They inherit the whole environment,
//! because they need the keys of models, but not the marks of the process tree of this process.
//! Start at `start_detached`; the program itself calls `leave_terminal`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};
use std::thread;

use base::AbsPath;
use rustix::process::{Pid, Signal, kill_process};

use super::{interrupts, not_started};
use crate::environment;
use crate::error::Error;

/// Starts a program of Burin's own, which is not ended with this process. Its input is empty; both
/// outputs are appended to the file `log`, which only this user can read.
///
/// # Errors
/// The program does not exist or cannot be executed, or the log cannot be written.
pub fn start_detached(
    program: &AbsPath,
    arguments: &[OsString],
    folder: &AbsPath,
    log: &AbsPath,
) -> Result<(), Error> {
    interrupts::restore_for_children();
    let output = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(log.as_path());
    let output = output.map_err(|error| Error::from_io(log, "write", &error))?;
    let errors = output.try_clone();
    let errors = errors.map_err(|error| Error::from_io(log, "write", &error))?;
    let failed = |error: &io::Error| not_started(program.as_path().as_os_str(), folder, error);
    let mut command = Command::new(program.as_path());
    command
        .args(arguments)
        .current_dir(folder.as_path())
        .env_clear()
        .envs(environment::for_own_program())
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    // A program that ends before this process must not stay as a zombie.
    let waiter = thread::Builder::new().name("detached".to_owned());
    let waiter = waiter.spawn(move || child.wait());
    waiter.map(drop).map_err(|error| failed(&error))
}

/// Returns whether a user id is that of this process.
pub fn is_own_user(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw()
}

/// Asks a process of the same user to end, with SIGTERM. Fails if there is no such process.
pub fn terminate(process: i32) -> io::Result<()> {
    let process = Pid::from_raw(process).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_process(process, Signal::TERM)?)
}

/// Leaves the terminal and the process group of the program that started this one, so that their
/// end does not end this process. Without effect for the leader of a group.
pub fn leave_terminal() {
    // The only error is that this process leads a group already.
    rustix::process::setsid().ok();
}
