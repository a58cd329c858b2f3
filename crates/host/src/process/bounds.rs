//! Processes in bounds: the border to whoever keeps them there. Fakes stand for it in tests of its callers.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::time::Duration;

use base::AbsPath;

use super::End;

/// Starts processes that can touch only what they may.
pub trait Bounds: Send + Sync {
    /// Starts one.
    ///
    /// # Errors
    /// A sentence when it cannot be kept in bounds, which says what is missing, or when it cannot be started.
    /// It never runs without them.
    fn start(&self, start: BoundStart) -> Result<Box<dyn Bound>, String>;
}

/// A process to be started in bounds.
#[derive(Debug)]
pub struct BoundStart {
    /// The program: a name looked up in the `PATH` of its variables, or a path.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder it runs in.
    pub folder: AbsPath,
    /// All of its environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Its input, output and complaints.
    pub streams: [OwnedFd; 3],
    /// Whether the first of its streams becomes its terminal.
    pub has_terminal: bool,
}

/// A process that was started in bounds.
pub trait Bound: Send + Sync {
    /// Its number, as we see it.
    fn id(&self) -> u32;

    /// Waits until it and all that it started are gone. Answers how it ended, and how many it left behind, which were
    /// ended. Called once.
    fn wait(&self) -> (End, usize);

    /// What was forbidden to it so far, each thing once.
    fn denials(&self) -> Vec<Denial>;

    /// What it left that other programs run by themselves. Complete once it has ended.
    fn planted(&self) -> Vec<Planted> {
        Vec::new()
    }

    /// Interrupts it, as Ctrl+C does in a terminal.
    fn interrupt(&self);

    /// Ends it and all that it started: politely for as long as `grace`, then for good. Blocks for that long and for
    /// as long as the system takes.
    fn stop(&self, grace: Duration);

    /// Its living processes, itself among them.
    fn members(&self) -> Vec<u32>;
}

/// Something that a process left and that other programs run by themselves: a hook, the settings of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// Where it was, or is.
    pub path: AbsPath,
    /// What it is, as a sentence for the person.
    pub sentence: String,
    /// The folder that it was put aside in, so that nothing runs it; `None` where it stayed.
    pub aside: Option<AbsPath>,
}

/// What was forbidden to a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Denial {
    /// To change this place.
    Write(AbsPath),
    /// To look at this place.
    Read(AbsPath),
    /// To speak to whoever listens at this path.
    Connect(AbsPath),
    /// To reach this host at this port.
    Host(String, u16),
    /// To ask this of the system.
    Call(String),
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denial::Write(path) => write!(f, "to change {path}"),
            Denial::Read(path) => write!(f, "to read {path}"),
            Denial::Connect(path) => write!(f, "to speak to {path}"),
            Denial::Host(host, port) => write!(f, "to reach {host}:{port}"),
            Denial::Call(name) => write!(f, "to call {name}"),
        }
    }
}
