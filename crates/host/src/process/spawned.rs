//! A background process whose output is streamed, optionally with a terminal.
//!
//! Invariant: when a `SpawnedProcess` is stopped or dropped, all its descendants are gone (see `tree` for
//! the limits).
//! Invariant: processes that it leaves in the background end with it.
//! Start at `spawn`.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use async_channel::{Receiver, Sender, TrySendError};
use base::{AbsPath, LogErr};
use pty_process::blocking::Pty;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::termios::{LocalModes, tcgetattr};

use super::handle::{ProcessHandle, fresh_mark};
use super::sandbox::{Denial, PlantedFile, SandboxSpawner, SandboxedCommand, SandboxedProcess};
use super::terminal::{HeldTerminal, open_terminal, pty_error};
use super::{ProcessExit, busy, interrupts, not_started, tree};
use crate::error::{Error, ErrorReason};

/// Number of input messages that may wait; more are refused.
const INPUTS: usize = 64;
/// Time to wait for remaining output once the process itself has ended.
const DRAIN: Duration = Duration::from_millis(100);

/// A process to start.
#[derive(Clone)]
pub struct LaunchRequest {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The working folder of the process.
    pub folder: AbsPath,
    /// The complete environment: begin with `environment::variables`.
    pub variables: Vec<(OsString, OsString)>,
    /// The size of its terminal. Without one it has no input, and its two outputs are merged into
    /// one stream.
    pub terminal: Option<TerminalSize>,
    /// The sandbox it runs in; without one it has Burin's own rights.
    pub sandbox: Option<Arc<dyn SandboxSpawner>>,
}

/// The size of a terminal in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Height in rows of cells.
    pub rows: u16,
    /// Width in columns of cells.
    pub columns: u16,
}

/// Receives output on its own thread; the process blocks while it does not return.
pub type OutputSink = Box<dyn FnMut(&[u8]) + Send>;

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitReport {
    /// The way it ended.
    pub exit: ProcessExit,
    /// Number of descendants that were left and killed.
    pub orphans: usize,
}

/// A running process. Dropping it kills it and all its descendants.
pub struct SpawnedProcess {
    hold: ProcessOwner,
    ended: Receiver<ExitReport>,
    input: Option<Sender<Vec<u8>>>,
    screen: Option<Arc<Pty>>,
}

/// The owner of the process tree.
#[derive(Clone)]
enum ProcessOwner {
    Own(Arc<ProcessHandle>),
    Sandboxed(Arc<dyn SandboxedProcess>),
}

impl fmt::Debug for SpawnedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spawned").field(&self.pid()).finish()
    }
}

/// Starts a process. `sink` receives its output, both streams in the order in which they were
/// written.
///
/// # Errors
/// A sentence if it cannot be started: no such program, no such folder, no sandbox where one is
/// required.
pub fn spawn(launch: &LaunchRequest, sink: OutputSink) -> Result<SpawnedProcess, Error> {
    interrupts::restore_for_children();
    let failed = |error: io::Error| not_started(&launch.program, &launch.folder, &error);
    let (sender, ended) = async_channel::bounded(1);
    if let Some(bounds) = &launch.sandbox {
        let (started, streams) = spawn_sandboxed(launch, bounds.as_ref(), failed)?;
        let bound: Arc<dyn SandboxedProcess> = Arc::from(started);
        let drained = drain(streams.reader, sink);
        let (waited, terminal) = (Arc::clone(&bound), streams.terminal);
        thread::spawn(move || wait_sandboxed(waited.as_ref(), terminal, &drained, &sender));
        return Ok(SpawnedProcess {
            hold: ProcessOwner::Sandboxed(bound),
            ended,
            input: streams.input,
            screen: streams.screen,
        });
    }
    let mark = fresh_mark();
    let (child, streams) = match launch.terminal {
        Some(screen) => {
            let start = || spawn_in_terminal(launch, screen, &mark);
            busy::retry_while_busy(start).map_err(failed)?
        }
        None => busy::retry_while_busy(|| spawn_piped(launch, &mark)).map_err(failed)?,
    };
    let Some(held) = ProcessHandle::of(&child, &mark) else {
        return Err(failed(io::Error::other("its process id cannot be read")));
    };
    let held = Arc::new(held);
    let drained = drain(streams.reader, sink);
    let (waited, terminal) = (Arc::clone(&held), streams.terminal);
    thread::spawn(move || wait(child, &waited, terminal, &drained, &sender));
    Ok(SpawnedProcess {
        hold: ProcessOwner::Own(held),
        ended,
        input: streams.input,
        screen: streams.screen,
    })
}

/// Passes output to `sink` as it arrives, and signals when there is no more.
fn drain(reader: Box<dyn Read + Send>, sink: OutputSink) -> mpsc::Receiver<()> {
    let (drained, is_drained) = mpsc::channel();
    thread::spawn(move || {
        read(reader, sink);
        // The receiver is gone if it timed out.
        drained.send(()).ok();
    });
    is_drained
}

/// Burin's ends of a process's streams.
struct OwnStreams {
    reader: Box<dyn Read + Send>,
    input: Option<Sender<Vec<u8>>>,
    /// Its terminal, if it has one. The reader ends after this was dropped.
    terminal: Option<HeldTerminal>,
    /// The side of its terminal that sets the size.
    screen: Option<Arc<Pty>>,
}

/// Starts a process in the sandbox `bounds`. Returns it with the reader of its output and, with a
/// terminal, the sender of its input. `failed` converts errors of the streams.
fn spawn_sandboxed(
    launch: &LaunchRequest,
    bounds: &dyn SandboxSpawner,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(Box<dyn SandboxedProcess>, OwnStreams), Error> {
    let (streams, own) = match launch.terminal {
        Some(screen) => terminal_streams(screen).map_err(&failed)?,
        None => pipe_streams().map_err(&failed)?,
    };
    let start = SandboxedCommand {
        program: launch.program.clone(),
        arguments: launch.arguments.clone(),
        folder: launch.folder.clone(),
        variables: launch.variables.clone(),
        streams,
        has_terminal: launch.terminal.is_some(),
    };
    let bound = bounds.start(start).map_err(|error| {
        Error::new(
            &launch.folder,
            "run a program in",
            ErrorReason::Other(error.to_string()),
        )
    })?;
    Ok((bound, own))
}

fn pipe_streams() -> io::Result<([OwnedFd; 3], OwnStreams)> {
    let (reader, writer) = io::pipe()?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let streams = [nothing, writer.try_clone()?.into(), writer.into()];
    Ok((streams, OwnStreams::of_pipe(reader)))
}

fn terminal_streams(screen: TerminalSize) -> io::Result<([OwnedFd; 3], OwnStreams)> {
    let (master, side) = open_terminal(screen)?;
    let of = || side.as_fd().try_clone_to_owned();
    let streams = [of()?, of()?, of()?];
    Ok((streams, OwnStreams::of_terminal(master, of()?)?))
}

fn spawn_piped(launch: &LaunchRequest, mark: &str) -> io::Result<(Child, OwnStreams)> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.variables.iter().map(|(name, value)| (name, value)))
        .env(mark, "1")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    tree::lead(&mut command);
    let child = command.spawn()?;
    Ok((child, OwnStreams::of_pipe(reader)))
}

/// Starts a process in a terminal of the size `screen`, with `mark` as an additional variable.
/// Returns it with the reader of its output and the sender of its input.
fn spawn_in_terminal(
    launch: &LaunchRequest,
    screen: TerminalSize,
    mark: &str,
) -> io::Result<(Child, OwnStreams)> {
    let (master, side) = open_terminal(screen)?;
    let held = side.as_fd().try_clone_to_owned()?;
    let command = pty_process::blocking::Command::new(&launch.program)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.variables.iter().map(|(name, value)| (name, value)))
        .env(mark, "1");
    let child = tree::lead_terminal(command)
        .spawn(side)
        .map_err(pty_error)?;
    Ok((child, OwnStreams::of_terminal(master, held)?))
}

impl OwnStreams {
    fn of_pipe(reader: io::PipeReader) -> Self {
        Self {
            reader: Box::new(reader),
            input: None,
            terminal: None,
            screen: None,
        }
    }

    fn of_terminal(master: Pty, side: OwnedFd) -> io::Result<Self> {
        let master = Arc::new(master);
        let (reader, held) = HeldTerminal::new(Arc::clone(&master), side)?;
        Ok(Self {
            reader: Box::new(reader),
            input: Some(input_writer(&master)),
            terminal: Some(held),
            screen: Some(master),
        })
    }
}

/// Starts a thread that writes input to a terminal.
fn input_writer(terminal: &Arc<Pty>) -> Sender<Vec<u8>> {
    let (sender, inputs) = async_channel::bounded::<Vec<u8>>(INPUTS);
    let written = Arc::clone(terminal);
    thread::spawn(move || {
        while let Ok(bytes) = inputs.recv_blocking() {
            if (&*written).write_all(&bytes).is_err() {
                break;
            }
        }
    });
    sender
}

fn read(mut reader: Box<dyn Read + Send>, mut sink: OutputSink) {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => sink(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Reading from a terminal whose other end is closed fails.
            Err(_) => return,
        }
    }
}

fn wait(
    mut child: Child,
    held: &ProcessHandle,
    terminal: Option<HeldTerminal>,
    drained: &mpsc::Receiver<()>,
    sender: &Sender<ExitReport>,
) {
    held.wait();
    // A process that still writes, such as the last part of a pipeline, may end on its own.
    let left_to_drain = match terminal {
        None if drained.recv_timeout(DRAIN).is_ok() => Duration::ZERO,
        None => DRAIN,
        Some(_) => {
            held.wait_for_descendants(DRAIN);
            2 * DRAIN
        }
    };
    let (end, left) = held.reap(&mut child);
    drop(terminal);
    if !left_to_drain.is_zero() {
        // A process that escaped may hold the pipe, or write to the terminal, forever.
        drained.recv_timeout(left_to_drain).ok();
    }
    // The owner may have dropped the process.
    sender
        .try_send(ExitReport {
            exit: end,
            orphans: left,
        })
        .ok();
}

fn wait_sandboxed(
    bound: &dyn SandboxedProcess,
    terminal: Option<HeldTerminal>,
    drained: &mpsc::Receiver<()>,
    sender: &Sender<ExitReport>,
) {
    let (end, left) = bound.wait();
    drop(terminal);
    // No process is left that could write.
    drained.recv_timeout(DRAIN).ok();
    sender
        .try_send(ExitReport {
            exit: end,
            orphans: left,
        })
        .ok();
}

impl SpawnedProcess {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        match &self.hold {
            ProcessOwner::Own(held) => held.leader().as_raw_nonzero().get().cast_unsigned(),
            ProcessOwner::Sandboxed(bound) => bound.id(),
        }
    }

    /// Returns the operations that the sandbox denied so far, without duplicates.
    pub fn denials(&self) -> Vec<Denial> {
        match &self.hold {
            ProcessOwner::Own(_) => Vec::new(),
            ProcessOwner::Sandboxed(bound) => bound.denials(),
        }
    }

    /// Returns the files it left that other programs execute. Complete once it has ended.
    pub fn planted(&self) -> Vec<PlantedFile> {
        match &self.hold {
            ProcessOwner::Own(_) => Vec::new(),
            ProcessOwner::Sandboxed(bound) => bound.planted(),
        }
    }

    /// Returns a receiver that yields once, when the process has ended and its output was
    /// delivered.
    pub fn exit_receiver(&self) -> Receiver<ExitReport> {
        self.ended.clone()
    }

    /// Writes to its terminal; returns false if it has none, has ended, or does not read its input.
    pub fn write(&self, bytes: Vec<u8>) -> bool {
        match &self.input {
            Some(input) => !matches!(
                input.try_send(bytes),
                Err(TrySendError::Full(_) | TrySendError::Closed(_))
            ),
            None => false,
        }
    }

    /// Returns whether it has a terminal.
    pub fn has_terminal(&self) -> bool {
        self.input.is_some()
    }

    /// Sets the size of its terminal, which the processes in the foreground learn by SIGWINCH. Does nothing without a
    /// terminal.
    pub fn resize(&self, size: TerminalSize) {
        if let Some(screen) = &self.screen {
            screen
                .resize(pty_process::Size::new(size.rows, size.columns))
                .map_err(pty_error)
                .log_err();
        }
    }

    /// Returns whether it reads a line without showing it, such as a password. False without a terminal.
    pub fn hides_input(&self) -> bool {
        let modes = self.screen.as_ref().map(|screen| tcgetattr(&**screen));
        modes.is_some_and(|modes| {
            modes.is_ok_and(|modes| {
                let modes = modes.local_modes;
                modes.contains(LocalModes::ICANON) && !modes.contains(LocalModes::ECHO)
            })
        })
    }

    /// Interrupts it as Ctrl+C does in a terminal.
    pub fn interrupt(&self) {
        match &self.hold {
            ProcessOwner::Own(held) => held.signal(Signal::INT),
            ProcessOwner::Sandboxed(bound) => bound.interrupt(),
        }
    }

    /// Stops it and all its descendants: with SIGTERM during `grace`, then with SIGKILL. Blocks
    /// until they are gone or a time limit passes.
    pub fn stop(&self, grace: Duration) {
        match &self.hold {
            ProcessOwner::Own(held) => held.stop(grace),
            ProcessOwner::Sandboxed(bound) => bound.stop(grace),
        }
    }

    /// Ends it as a terminal that closes does: with SIGHUP, then with SIGKILL for it and all its descendants that are left
    /// after `grace`. In a sandbox, the first signal is SIGTERM. Blocks until they are gone or a time limit passes.
    pub fn hang_up(&self, grace: Duration) {
        match &self.hold {
            ProcessOwner::Own(held) => held.hang_up(grace),
            ProcessOwner::Sandboxed(bound) => bound.stop(grace),
        }
    }

    /// Returns the ids of its living processes, its own included.
    pub fn members(&self) -> Vec<u32> {
        match &self.hold {
            ProcessOwner::Own(held) => held.members(),
            ProcessOwner::Sandboxed(bound) => bound.members(),
        }
    }
}

impl Drop for SpawnedProcess {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

#[cfg(test)]
mod tests;
