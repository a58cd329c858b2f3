//! A process that goes on beside us: its output is handed over as it comes, with a terminal if it wants one.
//!
//! Invariant: when a `Spawned` is stopped or dropped, everything it started is gone (see `tree` for the limits).
//! Invariant: what it leaves in the background ends with it.
//! Start at `spawn`.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use async_channel::{Receiver, Sender, TrySendError};
use base::AbsPath;
use pty_process::blocking::{Pts, Pty};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;

use super::bounds::{Bound, BoundStart, Bounds, Denial, Planted};
use super::held::{Held, fresh_mark};
use super::{End, interrupts, not_started};
use crate::error::{Error, Reason};

/// Pieces of input that may wait; more is refused.
const INPUTS: usize = 64;
/// How long the rest of the output may take to come once the process itself is over.
const DRAIN: Duration = Duration::from_millis(100);

/// A process to be started.
#[derive(Clone)]
pub struct Launch {
    /// The program: a name looked up in `PATH`, or a path.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder it runs in.
    pub folder: AbsPath,
    /// All of its environment: begin with `environment::variables`.
    pub variables: Vec<(OsString, OsString)>,
    /// The terminal it runs in. Without one it has no input, and its outputs come together as one.
    pub screen: Option<Screen>,
    /// What keeps it in bounds; without, it has our rights.
    pub bounds: Option<Arc<dyn Bounds>>,
}

/// How large a terminal is, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Cells from top to bottom.
    pub rows: u16,
    /// Cells from left to right.
    pub columns: u16,
}

/// Takes output on a thread of its own; while it does not return, the process waits.
pub type Sink = Box<dyn FnMut(&[u8]) + Send>;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub end: End,
    /// How many processes it left behind, which were ended.
    pub left: usize,
}

/// A process that was started. Dropping it ends it and all that it started.
pub struct Spawned {
    hold: Hold,
    ended: Receiver<Ended>,
    input: Option<Sender<Vec<u8>>>,
}

/// How a process is held on to.
#[derive(Clone)]
enum Hold {
    Own(Arc<Held>),
    Bound(Arc<dyn Bound>),
}

impl fmt::Debug for Spawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spawned").field(&self.pid()).finish()
    }
}

/// Starts a process. `sink` is given its output, the two streams in the order they were written.
///
/// # Errors
/// A sentence when it cannot be started: no such program, no such folder, no bounds where it was to have some.
pub fn spawn(launch: &Launch, sink: Sink) -> Result<Spawned, Error> {
    interrupts::are_heard_by_children();
    let failed = |error: io::Error| not_started(&launch.program, &launch.folder, &error);
    let (sender, ended) = async_channel::bounded(1);
    if let Some(bounds) = &launch.bounds {
        let (started, reader, input) = in_bounds(launch, bounds.as_ref(), failed)?;
        let bound: Arc<dyn Bound> = Arc::from(started);
        let drained = drain(reader, sink);
        let waited = Arc::clone(&bound);
        thread::spawn(move || wait_bound(waited.as_ref(), &drained, &sender));
        let hold = Hold::Bound(bound);
        return Ok(Spawned { hold, ended, input });
    }
    let mark = fresh_mark();
    let (child, reader, input) = match launch.screen {
        Some(screen) => with_screen(launch, screen, &mark).map_err(failed)?,
        None => without_screen(launch, &mark).map_err(failed)?,
    };
    let Some(held) = Held::of(&child, &mark) else {
        return Err(failed(io::Error::other("its number cannot be read")));
    };
    let held = Arc::new(held);
    let drained = drain(reader, sink);
    let waited = Arc::clone(&held);
    thread::spawn(move || wait(child, &waited, &drained, &sender));
    let hold = Hold::Own(held);
    Ok(Spawned { hold, ended, input })
}

/// Hands output over as it comes; tells when there is no more.
fn drain(reader: Box<dyn Read + Send>, sink: Sink) -> mpsc::Receiver<()> {
    let (drained, is_drained) = mpsc::channel();
    thread::spawn(move || {
        read(reader, sink);
        // Nobody listens any more if it took too long.
        drained.send(()).ok();
    });
    is_drained
}

type Opened<T> = (T, Box<dyn Read + Send>, Option<Sender<Vec<u8>>>);
type Started = Opened<Child>;

fn in_bounds(
    launch: &Launch,
    bounds: &dyn Bounds,
    failed: impl Fn(io::Error) -> Error,
) -> Result<Opened<Box<dyn Bound>>, Error> {
    let (streams, reader, input) = match launch.screen {
        Some(screen) => terminal_streams(screen).map_err(&failed)?,
        None => pipe_streams().map_err(&failed)?,
    };
    let start = BoundStart {
        program: launch.program.clone(),
        arguments: launch.arguments.clone(),
        folder: launch.folder.clone(),
        variables: launch.variables.clone(),
        streams,
        has_terminal: launch.screen.is_some(),
    };
    let bound = bounds.start(start).map_err(|sentence| {
        Error::new(&launch.folder, "run a program in", Reason::Other(sentence))
    })?;
    Ok((bound, reader, input))
}

fn pipe_streams() -> io::Result<Opened<[OwnedFd; 3]>> {
    let (reader, writer) = io::pipe()?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let streams = [nothing, writer.try_clone()?.into(), writer.into()];
    Ok((streams, Box::new(reader), None))
}

fn terminal_streams(screen: Screen) -> io::Result<Opened<[OwnedFd; 3]>> {
    let (terminal, side) = open_terminal(screen)?;
    let of = || side.as_fd().try_clone_to_owned();
    let streams = [of()?, of()?, of()?];
    let terminal = Arc::new(terminal);
    let input = typing(&terminal);
    Ok((streams, Box::new(Reading(terminal)), Some(input)))
}

fn without_screen(launch: &Launch, mark: &str) -> io::Result<Started> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.variables.iter().map(|(name, value)| (name, value)))
        .env(mark, "1")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let child = command.spawn()?;
    Ok((child, Box::new(reader), None))
}

fn with_screen(launch: &Launch, screen: Screen, mark: &str) -> io::Result<Started> {
    let (terminal, side) = open_terminal(screen)?;
    let child = pty_process::blocking::Command::new(&launch.program)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.variables.iter().map(|(name, value)| (name, value)))
        .env(mark, "1")
        .spawn(side)
        .map_err(pty_error)?;
    let terminal = Arc::new(terminal);
    let input = typing(&terminal);
    Ok((child, Box::new(Reading(terminal)), Some(input)))
}

fn open_terminal(screen: Screen) -> io::Result<(Pty, Pts)> {
    let (terminal, side) = pty_process::blocking::open().map_err(pty_error)?;
    terminal
        .resize(pty_process::Size::new(screen.rows, screen.columns))
        .map_err(pty_error)?;
    Ok((terminal, side))
}

fn pty_error(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

/// Types into a terminal whatever is sent.
fn typing(terminal: &Arc<Pty>) -> Sender<Vec<u8>> {
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

struct Reading(Arc<Pty>);

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

fn read(mut reader: Box<dyn Read + Send>, mut sink: Sink) {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => sink(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A terminal whose other side is closed says so by an error.
            Err(_) => return,
        }
    }
}

fn wait(mut child: Child, held: &Held, drained: &mpsc::Receiver<()>, sender: &Sender<Ended>) {
    held.wait();
    // What still writes, such as the last part of a pipeline, may come to its end by itself.
    let is_drained = drained.recv_timeout(DRAIN).is_ok();
    let (end, left) = held.collect(&mut child);
    if !is_drained {
        // A process that slipped away may hold the pipe for ever.
        drained.recv_timeout(DRAIN).ok();
    }
    // Whoever dropped the process does not want to know.
    sender.try_send(Ended { end, left }).ok();
}

fn wait_bound(bound: &dyn Bound, drained: &mpsc::Receiver<()>, sender: &Sender<Ended>) {
    let (end, left) = bound.wait();
    // Nobody is left who could write.
    drained.recv_timeout(DRAIN).ok();
    sender.try_send(Ended { end, left }).ok();
}

impl Spawned {
    /// Its number.
    pub fn pid(&self) -> u32 {
        match &self.hold {
            Hold::Own(held) => held.first().as_raw_nonzero().get().cast_unsigned(),
            Hold::Bound(bound) => bound.id(),
        }
    }

    /// What its bounds forbade it so far, each thing once.
    pub fn denials(&self) -> Vec<Denial> {
        match &self.hold {
            Hold::Own(_) => Vec::new(),
            Hold::Bound(bound) => bound.denials(),
        }
    }

    /// What it left that other programs run by themselves. Complete once it is over.
    pub fn planted(&self) -> Vec<Planted> {
        match &self.hold {
            Hold::Own(_) => Vec::new(),
            Hold::Bound(bound) => bound.planted(),
        }
    }

    /// Told once, when it is over and its output was handed over.
    pub fn ended(&self) -> Receiver<Ended> {
        self.ended.clone()
    }

    /// Types into its terminal; false where there is none, it is over, or it does not read what was typed.
    pub fn write(&self, bytes: Vec<u8>) -> bool {
        match &self.input {
            Some(input) => !matches!(
                input.try_send(bytes),
                Err(TrySendError::Full(_) | TrySendError::Closed(_))
            ),
            None => false,
        }
    }

    /// Whether it has a terminal.
    pub fn has_screen(&self) -> bool {
        self.input.is_some()
    }

    /// Interrupts it, as Ctrl+C does in a terminal.
    pub fn interrupt(&self) {
        match &self.hold {
            Hold::Own(held) => held.signal(Signal::INT),
            Hold::Bound(bound) => bound.interrupt(),
        }
    }

    /// Ends it and everything it started: politely for as long as `grace`, then for good. Blocks for that
    /// long, and for as long as the system takes.
    pub fn stop(&self, grace: Duration) {
        match &self.hold {
            Hold::Own(held) => held.stop(grace),
            Hold::Bound(bound) => bound.stop(grace),
        }
    }

    /// Its living processes, itself among them.
    pub fn members(&self) -> Vec<u32> {
        match &self.hold {
            Hold::Own(held) => held.members(),
            Hold::Bound(bound) => bound.members(),
        }
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

#[cfg(test)]
mod tests;
