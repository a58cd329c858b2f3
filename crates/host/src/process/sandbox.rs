//! The border to sandboxed processes. Callers' tests substitute fakes.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::time::Duration;

use base::AbsPath;

use super::ProcessExit;

/// Starts processes inside a sandbox.
pub trait SandboxSpawner: Send + Sync {
    /// Starts a process inside the sandbox.
    ///
    /// # Errors
    /// The sandbox cannot be set up, or the process cannot be started. It never runs outside the
    /// sandbox.
    fn start(
        &self,
        start: SandboxedCommand,
    ) -> Result<Box<dyn SandboxedProcess>, SandboxStartError>;
}

/// The reason that a process was not started in its sandbox: a sentence for the user that says what
/// is missing and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxStartError(pub String);

impl fmt::Display for SandboxStartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SandboxStartError {}

/// A process to start inside a sandbox.
#[derive(Debug)]
pub struct SandboxedCommand {
    /// The program: a name looked up in the `PATH` of its variables, or a path.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The working folder of the process.
    pub folder: AbsPath,
    /// The complete environment of the process.
    pub variables: Vec<(OsString, OsString)>,
    /// Standard input, output and error.
    pub streams: [OwnedFd; 3],
    /// Whether stream 0 becomes its controlling terminal.
    pub has_terminal: bool,
}

/// A process running inside a sandbox.
pub trait SandboxedProcess: Send + Sync {
    /// Returns the process id as this process sees it.
    fn id(&self) -> u32;

    /// Waits until it and all its descendants are gone. Returns how it ended and how many
    /// descendants were left and killed. Called once.
    fn wait(&self) -> (ProcessExit, usize);

    /// Returns the operations that the sandbox denied so far, without duplicates.
    fn denials(&self) -> Vec<Denial>;

    /// Returns the files it left that other programs execute. Complete once it has ended.
    fn planted(&self) -> Vec<PlantedFile> {
        Vec::new()
    }

    /// Interrupts it as Ctrl+C does in a terminal.
    fn interrupt(&self);

    /// Stops it and all its descendants: with SIGTERM during `grace`, then with SIGKILL. Blocks for
    /// at least that long if they do not end.
    fn stop(&self, grace: Duration);

    /// Returns the ids of its living processes, its own included.
    fn members(&self) -> Vec<u32>;
}

/// A file left by a process that other programs execute on their own, such as a hook or editor
/// settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedFile {
    /// The path where it was created, whether or not it is still there.
    pub path: AbsPath,
    /// Description for the user, as a sentence.
    pub sentence: String,
    /// The quarantine folder it was moved to, so that nothing executes it; `None` if it stayed in
    /// place.
    pub quarantine: Option<AbsPath>,
}

/// An operation that the sandbox denied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Denial {
    /// Changing or creating this path.
    Write(AbsPath),
    /// Reading the file at this path.
    Read(AbsPath),
    /// Connecting to the socket at this path.
    Connect(AbsPath),
    /// Connecting to this host and port.
    Host(String, u16),
    /// Making this system call.
    Call(String),
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denial::Write(path) => write!(f, "to change {path}"),
            Denial::Read(path) => write!(f, "to read {path}"),
            Denial::Connect(path) => write!(f, "to connect to {path}"),
            Denial::Host(host, port) => write!(f, "to reach {host}:{port}"),
            Denial::Call(name) => write!(f, "to call {name}"),
        }
    }
}
