//! Processes, each with a folder, a deadline and a cap on its output.
//!
//! Invariant: no process inherits our environment; what it finds is an allow-list's (`environment`) or given to it.
//! Invariant: when `run` returns, the process and those of its group are gone.
//! Start at `run`; what goes on beside us, streamed and with a terminal, is in `spawned`;
//! what stays and is spoken to over its pipes is in `live`. How the two are held on to is in `held`.

mod bounds;
mod guard;
mod held;
mod interrupts;
mod live;
mod spawned;
mod tree;

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base::{AbsPath, LogErr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::environment::{self, Recipient};
use crate::error::{Error, Reason};

pub use bounds::{Bound, BoundStart, Bounds, Denial, Planted};
pub use live::{Group, Live, Start, start};
pub use spawned::{Ended, Launch, Screen, Sink, Spawned, spawn};
pub(crate) use tree::MARK;
pub use tree::end_orphans;

/// A process to be run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder it runs in.
    pub folder: AbsPath,
    /// When it is killed with all its children.
    pub deadline: Duration,
    /// How many bytes of each of its outputs are kept; the rest is read and dropped.
    pub output_cap: usize,
    /// What it finds in its environment.
    pub environment: Environment,
    /// What it reads as its input.
    pub input: Vec<u8>,
}

/// What a process finds in its environment.
#[derive(Clone, Debug)]
pub enum Environment {
    /// What of ours the allow-list passes on to such a child.
    Allowed(Recipient),
    /// Only these variables.
    Only(Vec<(OsString, OsString)>),
}

/// What a process left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Its standard output, up to the cap.
    pub output: Vec<u8>,
    /// Its standard error, up to the cap.
    pub errors: Vec<u8>,
    /// Whether one of the two was longer than the cap.
    pub is_cut: bool,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, sent by somebody else.
    Signalled(i32),
    /// By us, at its deadline.
    TimedOut,
}

impl Request {
    /// A process of others without input, with ten seconds and a megabyte of output.
    pub fn new(program: impl Into<OsString>, folder: &AbsPath) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.clone(),
            deadline: Duration::from_secs(10),
            output_cap: 1 << 20,
            environment: Environment::Allowed(Recipient::Foreign),
            input: Vec::new(),
        }
    }

    /// The same with more arguments.
    pub fn with_arguments<T: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }
}

impl Finished {
    /// Whether it ended by itself and was content.
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }

    /// Its output as text, with foreign bytes replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }
}

/// Runs a process to its end.
pub fn run(request: &Request) -> Result<Finished, Error> {
    run_while(request, &|| true)
}

/// Runs a process to its end, or until it is not wanted any more, which ends it like its deadline does. Asked every
/// few milliseconds.
pub fn run_while(request: &Request, is_wanted: &dyn Fn() -> bool) -> Result<Finished, Error> {
    let failed = |error: &io::Error| start_error(request, error);
    interrupts::are_heard_by_children();
    let mut child = command(request).spawn().map_err(|error| failed(&error))?;
    let deadline = Instant::now() + request.deadline;
    let cap = request.output_cap;
    let input = request.input.clone();
    let stdin = child.stdin.take();
    let writer = thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A process that does not read its input is free to do so.
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
    Ok(Finished {
        end,
        output,
        errors,
        is_cut: output_cut || errors_cut,
    })
}

fn command(request: &Request) -> Command {
    let Request {
        program,
        arguments,
        folder,
        environment,
        ..
    } = request;
    piped(program, arguments, folder, environment)
}

/// A process in a group of its own that is spoken to over pipes.
fn piped(
    program: &OsStr,
    arguments: &[OsString],
    folder: &AbsPath,
    environment: &Environment,
) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.env_clear();
    match environment {
        Environment::Allowed(recipient) => command.envs(environment::variables(*recipient)),
        Environment::Only(variables) => {
            command.envs(variables.iter().map(|(name, value)| (name, value)))
        }
    };
    command
}

fn start_error(request: &Request, error: &io::Error) -> Error {
    not_started(&request.program, &request.folder, error)
}

fn not_started(program: &OsStr, folder: &AbsPath, error: &io::Error) -> Error {
    let program = program.to_string_lossy();
    let reason = match error.kind() {
        io::ErrorKind::NotFound if folder.as_path().is_dir() => Reason::Other(format!(
            "the program {program} is not installed; install it, or give its whole path"
        )),
        io::ErrorKind::NotFound => {
            Reason::Other("there is no such folder any more; make it again".to_owned())
        }
        _ => Reason::Other(format!("{program} did not start: {error}")),
    };
    Error::new(folder, "run a program in", reason)
}

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
                    let room = cap.saturating_sub(kept.len()).min(count);
                    kept.extend_from_slice(&chunk[..room]);
                    is_cut |= room < count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        (kept, is_cut)
    })
}

fn join(reader: Option<thread::JoinHandle<(Vec<u8>, bool)>>) -> (Vec<u8>, bool) {
    reader
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default()
}

fn wait(child: &mut Child, deadline: Instant, is_wanted: &dyn Fn() -> bool) -> io::Result<End> {
    let mut pause = Duration::from_micros(200);
    loop {
        if has_ended(child)? {
            // Grandchildren may still hold the pipes; they go with their group. The ended child
            // is collected only afterwards, so that its number cannot be somebody else's yet.
            kill_group(child);
            return Ok(end_of(child.wait()?));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !is_wanted() {
            kill_group(child);
            child.kill().log_err();
            child.wait()?;
            return Ok(End::TimedOut);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn has_ended(child: &Child) -> io::Result<bool> {
    let Some(pid) = pid_of(child) else {
        return Ok(true);
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or_default()),
    }
}

fn kill_group(child: &Child) {
    if let Some(pid) = pid_of(child) {
        // A group that is already empty is what we want.
        kill_process_group(pid, Signal::KILL).ok();
    }
}

#[cfg(test)]
mod tests;
