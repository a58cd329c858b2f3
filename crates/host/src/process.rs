//! Child processes, each with a folder, a deadline and a cap on its output.
//!
//! Invariant: no process inherits Burin's environment; it receives allow-listed variables
//! (`environment`) and those given to it.
//! Invariant: when `run` returns, the process and its group are gone.
//! Start at `run`; `spawned` runs a process in the background, streamed and optionally with a
//! terminal; `live` runs one that is spoken to over its pipes; `handle` owns the process tree
//! of both.

mod backlog;
mod busy;
mod detached;
mod file_limit;
mod guard;
mod handle;
mod interrupts;
mod live;
mod memory;
mod owned;
#[cfg(test)]
mod probe;
mod record;
mod sandbox;
mod spawned;
mod terminal;
mod tree;

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base::{AbsPath, LogErr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::environment::{self, Recipient};
use crate::error::{Error, ErrorReason};

#[cfg(test)]
pub(crate) use probe::{sleepers, wait_until};

pub use backlog::{BacklogReader, OutputBacklog, OutputPart};
pub use detached::{is_own_user, leave_terminal, start_detached, terminate};
pub use file_limit::raise_file_limit;
pub use guard::guard_main;
pub use live::{LiveProcess, ProcessGroup, StartRequest, start};
pub use owned::{OwnedProcess, spawn_owned};
pub use sandbox::{
    Denial, PlantedFile, SandboxSpawner, SandboxStartError, SandboxedCommand, SandboxedProcess,
};
pub use spawned::{ExitReport, LaunchRequest, OutputSink, SpawnedProcess, TerminalSize, spawn};
pub use tree::end_orphans;

/// Keeps a record of the processes that this program starts in `folder` from now on, so that
/// `end_orphans` of a later program finds them. `end_orphans` reads the records of that folder. Does
/// nothing on Linux, where marks in the environment are enough. Blocks while the first record is
/// written; errors are logged.
pub fn keep_process_record(folder: &AbsPath) {
    tree::keep_record(folder);
}

/// A process to run to completion.
#[derive(Clone, Debug)]
pub struct ProcessRequest {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The working folder of the process.
    pub folder: AbsPath,
    /// Time after which the process and its children are killed.
    pub deadline: Duration,
    /// Bytes kept of each output stream; the rest is read and dropped.
    pub output_cap: usize,
    /// The environment variables that the process receives.
    pub environment: ProcessEnvironment,
    /// The bytes written to its standard input.
    pub input: Vec<u8>,
}

/// The source of a process's environment variables.
#[derive(Clone, Debug)]
pub enum ProcessEnvironment {
    /// The variables of this process that the allow-list passes on to such a child.
    Allowed(Recipient),
    /// Exactly these variables and no others.
    Only(Vec<(OsString, OsString)>),
}

/// The result of a finished process.
#[derive(Clone, Debug)]
pub struct ProcessOutput {
    /// The way the process ended.
    pub exit: ProcessExit,
    /// Standard output, up to the cap.
    pub output: Vec<u8>,
    /// Standard error, up to the cap.
    pub errors: Vec<u8>,
    /// Whether either stream exceeded the cap.
    pub is_cut: bool,
}

/// The way a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessExit {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal, sent by another process.
    Signalled(i32),
    /// Burin killed it, at its deadline or because it was no longer wanted.
    TimedOut,
}

impl ProcessRequest {
    /// Creates a request for a third-party program without input, with a deadline of ten seconds
    /// and a cap of one megabyte.
    pub fn new(program: impl Into<OsString>, folder: &AbsPath) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.clone(),
            deadline: Duration::from_secs(10),
            output_cap: 1 << 20,
            environment: ProcessEnvironment::Allowed(Recipient::Foreign),
            input: Vec::new(),
        }
    }

    /// Appends arguments to the request.
    pub fn with_arguments<T: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }
}

impl ProcessOutput {
    /// Returns whether it exited with code 0.
    pub fn is_success(&self) -> bool {
        self.exit == ProcessExit::Exited(0)
    }

    /// Returns standard output as text, with invalid UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }
}

/// Runs a process to completion.
pub fn run(request: &ProcessRequest) -> Result<ProcessOutput, Error> {
    run_while(request, &|| true)
}

/// Runs a process until it ends. It is killed if its deadline passes or if `is_wanted` returns
/// false. `is_wanted` is called every few milliseconds.
pub fn run_while(
    request: &ProcessRequest,
    is_wanted: &dyn Fn() -> bool,
) -> Result<ProcessOutput, Error> {
    let failed = |error: &io::Error| start_error(request, error);
    interrupts::restore_for_children();
    let mut command = command(request);
    let child = busy::retry_while_busy(|| command.spawn());
    let mut child = child.map_err(|error| failed(&error))?;
    if let Some(pid) = pid_of(&child) {
        tree::adopt(pid);
    }
    let deadline = Instant::now() + request.deadline;
    let cap = request.output_cap;
    let input = request.input.clone();
    let stdin = child.stdin.take();
    let writer = thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A process may ignore its input.
            stdin.write_all(&input).ok();
        }
    });
    let output = child.stdout.take().map(|pipe| read_capped(pipe, cap));
    let errors = child.stderr.take().map(|pipe| read_capped(pipe, cap));
    let end = wait(&mut child, deadline, is_wanted).map_err(|error| failed(&error))?;
    let (output, output_cut) = join(output);
    let (errors, errors_cut) = join(errors);
    if writer.join().is_err() {
        base::never!("the input thread panicked");
    }
    Ok(ProcessOutput {
        exit: end,
        output,
        errors,
        is_cut: output_cut || errors_cut,
    })
}

fn command(request: &ProcessRequest) -> Command {
    let ProcessRequest {
        program,
        arguments,
        folder,
        environment,
        ..
    } = request;
    piped(program, arguments, folder, environment)
}

/// Builds a command with piped streams in its own process group.
fn piped(
    program: &OsStr,
    arguments: &[OsString],
    folder: &AbsPath,
    environment: &ProcessEnvironment,
) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    tree::lead(&mut command);
    command.env_clear();
    match environment {
        ProcessEnvironment::Allowed(recipient) => command.envs(environment::variables(*recipient)),
        ProcessEnvironment::Only(variables) => {
            command.envs(variables.iter().map(|(name, value)| (name, value)))
        }
    };
    command
}

fn start_error(request: &ProcessRequest, error: &io::Error) -> Error {
    not_started(&request.program, &request.folder, error)
}

fn not_started(program: &OsStr, folder: &AbsPath, error: &io::Error) -> Error {
    let program = program.to_string_lossy();
    let reason = match error.kind() {
        io::ErrorKind::NotFound if folder.as_path().is_dir() => ErrorReason::Other(format!(
            "the program {program} is not installed; install it, or give its whole path"
        )),
        io::ErrorKind::NotFound => {
            ErrorReason::Other("the folder does not exist any more; create it again".to_owned())
        }
        _ => ErrorReason::Other(format!("{program} did not start: {error}")),
    };
    Error::new(folder, "run a program in", reason)
}

/// Starts a thread that reads a pipe to its end or to an error. It returns the first `cap` bytes
/// and whether there were more, which are dropped.
fn read_capped(
    mut pipe: impl Read + Send + 'static,
    cap: usize,
) -> thread::JoinHandle<(Vec<u8>, bool)> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut is_cut = false;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => {
                    let free = cap.saturating_sub(kept.len()).min(count);
                    kept.extend_from_slice(&chunk[..free]);
                    is_cut |= free < count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        (kept, is_cut)
    })
}

/// Waits for a thread of `read_capped` and returns its result; empty and not cut if there is none
/// or it panicked.
fn join(reader: Option<thread::JoinHandle<(Vec<u8>, bool)>>) -> (Vec<u8>, bool) {
    reader
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default()
}

/// Waits until the child ends, then kills the rest of its group and reaps it. Kills the child too,
/// and returns `TimedOut`, at the deadline or once `is_wanted` returns false.
fn wait(
    child: &mut Child,
    deadline: Instant,
    is_wanted: &dyn Fn() -> bool,
) -> io::Result<ProcessExit> {
    let mut pause = Duration::from_micros(200);
    loop {
        if has_ended(child)? {
            // Grandchildren may still hold the pipes; killing the group ends them. The child is
            // reaped only afterwards, so that its process id is not reused yet.
            kill_group(child);
            return Ok(end_of(child.wait()?));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !is_wanted() {
            kill_group(child);
            child.kill().log_err();
            child.wait()?;
            return Ok(ProcessExit::TimedOut);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Returns whether the child has ended, without reaping it. True if its process id cannot be
/// represented.
fn has_ended(child: &Child) -> io::Result<bool> {
    let Some(pid) = pid_of(child) else {
        return Ok(true);
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

/// Returns the child's process id; `None` if it cannot be represented.
fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn end_of(status: ExitStatus) -> ProcessExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessExit::Exited(code),
        (None, signal) => ProcessExit::Signalled(signal.unwrap_or_default()),
    }
}

fn kill_group(child: &Child) {
    if let Some(pid) = pid_of(child) {
        // An error means that the group is already empty.
        kill_process_group(pid, Signal::KILL).ok();
    }
}

#[cfg(test)]
mod tests;
