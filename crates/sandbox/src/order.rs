//! Orders: what to run, and what came of it. Starts at once or in a room that is kept.
//!
//! Invariant: `Running` dropped ends what runs; `Room` dropped ends all that runs in it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use base::AbsPath;

use crate::{Denied, Layer, Policy, Refused, system};

/// One command.
#[derive(Debug)]
pub struct Order {
    /// The program: a path, or a name that is looked for in the policy's `PATH`.
    pub program: OsString,
    /// What it is told, without its own name.
    pub arguments: Vec<OsString>,
    /// The folder to start in: within the workspace, or any other that can be seen inside.
    pub folder: AbsPath,
    /// Added to the policy's environment; a variable named twice has the value given here.
    pub environment: Vec<(OsString, OsString)>,
    /// Standard input, output and error.
    pub streams: [OwnedFd; 3],
    /// Stream 0 becomes the controlling terminal.
    pub terminal: bool,
}

/// How an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With an exit code.
    Exit(i32),
    /// By a signal.
    Signal(i32),
}

impl End {
    /// As a shell says it: the code, or 128 and the signal.
    pub fn code(self) -> i32 {
        match self {
            Self::Exit(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// What came of an order. Everything that it began is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How the command itself ended.
    pub end: End,
    /// What it wanted and was not given, oldest first, each once, at most `Denials::KEPT`.
    pub denials: Vec<Denied>,
    /// The layers that the policy did without.
    pub without: BTreeSet<Layer>,
}

/// Makes a small launcher out of this process while it is still small: later starts are cheaper, and
/// nothing that this process comes to know is copied into a sandbox. To be called first thing in
/// `main`, before there are threads; called again, or too late, it changes nothing but the cost.
pub fn prepare() {
    system::prepare();
}

/// Runs one order in a sandbox of its own, from nothing.
///
/// # Errors
/// Nothing has run: the reason is in the value.
pub fn start(policy: &Policy, order: Order) -> Result<Running, Refused> {
    system::start(policy, order).map(Running)
}

/// The sandbox of one policy, kept up so that orders start as fast as bare commands. Orders share the
/// private folders; each has processes of its own, which end with it.
#[derive(Debug)]
pub struct Room(Arc<system::Room>);

impl Room {
    /// Puts the sandbox up.
    ///
    /// # Errors
    /// As `start`.
    pub fn open(policy: &Policy) -> Result<Self, Refused> {
        system::Room::open(policy).map(|room| Self(Arc::new(room)))
    }

    /// Whether what the room protects is still what was there when it was opened. A room that is not current
    /// protects the old files: open another one for the next order.
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// Runs an order. Several can run at a time.
    ///
    /// # Errors
    /// As `start`; `Refused::Gone` when the room has ended.
    pub fn start(&self, order: Order) -> Result<Running, Refused> {
        system::Room::start(&self.0, order).map(Running)
    }
}

/// A command that runs.
#[derive(Debug)]
pub struct Running(system::Running);

impl Running {
    /// The number of the process that stands for the whole tree, as this machine counts.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Files and folders of the workspace that it can change in no way, with all that lies in them, without links.
    pub fn fixed(&self) -> Vec<AbsPath> {
        self.0.fixed()
    }

    /// Waits until the command has ended and all that it began is dead. Blocks the thread.
    pub fn wait(self) -> Finished {
        self.0.wait()
    }

    /// Ends it from elsewhere.
    pub fn ender(&self) -> Ender {
        Ender(self.0.ender())
    }
}

/// Ends an order from another thread. Cheap to clone; harmless when the order has ended already.
#[derive(Clone, Debug)]
pub struct Ender(system::Ender);

impl Ender {
    /// Kills the whole tree and returns when it is seen dead.
    pub fn end(&self) {
        self.0.end();
    }

    /// Sends a signal to the command's own group, as a terminal would: `libc::SIGINT` and the like.
    pub fn signal(&self, signal: i32) {
        self.0.signal(signal);
    }
}
