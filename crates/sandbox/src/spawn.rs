//! Spawn requests and their results: runs a command in a new sandbox or in a warm one.
//!
//! Invariant: dropping a `RunningCommand` kills the command; dropping a `WarmSandbox` kills everything
//! that runs in it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use base::AbsPath;

use crate::{DeniedAccess, Policy, SandboxError, SandboxLayer, system};

/// One command to run.
#[derive(Debug)]
pub struct SpawnRequest {
    /// The program: a path, or a name looked up in the policy's `PATH`.
    pub program: OsString,
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The folder to start in: inside the workspace, or any other that is visible inside.
    pub folder: AbsPath,
    /// Added to the policy's environment; the value given here wins.
    pub environment: Vec<(OsString, OsString)>,
    /// Standard input, output and error.
    pub streams: [OwnedFd; 3],
    /// Whether stream 0 becomes the controlling terminal.
    pub terminal: bool,
}

/// The way a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExit {
    /// With an exit code.
    Exit(i32),
    /// Killed by a signal.
    Signal(i32),
}

impl CommandExit {
    /// Returns the code that a shell reports: the exit code, or 128 plus the signal.
    pub fn code(self) -> i32 {
        match self {
            Self::Exit(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// The result of a command. Every process that it started is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutcome {
    /// The way the command itself ended.
    pub exit: CommandExit,
    /// The denied operations, oldest first, without duplicates, at most `DenialLog::MAX_DENIALS`.
    pub denials: Vec<DeniedAccess>,
    /// The layers that the policy omitted, and those that the system does not have.
    pub without: BTreeSet<SandboxLayer>,
}

/// Forks a small launcher while this process is still small: later starts are cheaper, and no
/// secret that this process learns later is copied into a sandbox. Call it first in `main`, before
/// any thread starts; a later or repeated call only affects the cost.
pub fn prepare() {
    system::prepare();
}

/// Runs one command in a new sandbox.
///
/// # Errors
/// Nothing was run; the error holds the reason.
pub fn start(policy: &Policy, request: SpawnRequest) -> Result<RunningCommand, SandboxError> {
    system::start(policy, request).map(RunningCommand)
}

/// A sandbox of one policy, kept running so that commands start as fast as unsandboxed ones.
/// Commands share the private folders; each has its own processes, which end with it.
#[derive(Debug)]
pub struct WarmSandbox(Arc<system::SupervisorPool>);

impl WarmSandbox {
    /// Opens the sandbox and keeps it running.
    ///
    /// # Errors
    /// See `start`.
    pub fn open(policy: &Policy) -> Result<Self, SandboxError> {
        system::SupervisorPool::open(policy).map(|pool| Self(Arc::new(pool)))
    }

    /// Returns whether the protected files are still the ones that existed when it was opened. A
    /// sandbox that is not current protects the old files: open a new one for the next command.
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// Runs a command. Several can run at a time.
    ///
    /// # Errors
    /// See `start`; `SandboxError::Gone` if the sandbox has ended.
    pub fn start(&self, request: SpawnRequest) -> Result<RunningCommand, SandboxError> {
        system::SupervisorPool::start(&self.0, request).map(RunningCommand)
    }
}

/// A running sandboxed command.
#[derive(Debug)]
pub struct RunningCommand(system::SupervisedCommand);

impl RunningCommand {
    /// Returns the id, in this process's PID namespace, of the process that supervises the
    /// command's process tree; on macOS of the command itself.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns the files and folders of the granted ones that the command cannot change, including
    /// their contents, free of links; the workspace itself if it is read-only.
    pub fn fixed(&self) -> Vec<AbsPath> {
        self.0.fixed()
    }

    /// Blocks until the command has ended and every process that it started is dead.
    pub fn wait(self) -> CommandOutcome {
        self.0.wait()
    }

    /// Returns a handle that can kill the command from another thread.
    pub fn kill_handle(&self) -> KillHandle {
        KillHandle(self.0.kill_handle())
    }
}

/// Kills a command from another thread. Cheap to clone; has no effect once the command has ended.
#[derive(Clone, Debug)]
pub struct KillHandle(system::SupervisorHandle);

impl KillHandle {
    /// Kills the whole process tree. Blocks until it is dead, on macOS for at most two seconds.
    pub fn kill(&self) {
        self.0.kill();
    }

    /// Sends a signal to the command's process group as a terminal would, for example
    /// `libc::SIGINT`.
    pub fn signal(&self, signal: i32) {
        self.0.signal(signal);
    }
}
