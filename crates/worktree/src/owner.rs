//! The owner of a lease, and its lock file, whose lock ends with its process.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::system;

/// The owner of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// A process, until it ends.
    Process {
        /// Id of the process.
        pid: u32,
        /// Start of the process, which distinguishes processes with the same id: clock ticks since
        /// the boot on Linux, microseconds since 1970 on macOS; 0 if the system did not report it.
        started: u64,
    },
    /// The user, until the lease is released.
    Person,
}

impl Owner {
    /// Returns the current process as an owner.
    pub fn current_process() -> Self {
        let pid = std::process::id();
        Self::Process {
            pid,
            started: system::process_start(pid).unwrap_or(0),
        }
    }

    /// Returns whether the process still runs, by its id and start time. A process that exists but
    /// whose start is hidden from us counts as running; `Person` always does.
    pub fn is_alive(&self) -> bool {
        match self {
            Self::Process { pid, started } => match system::process_start(*pid) {
                Some(start) => start == *started,
                None => system::is_running(*pid),
            },
            Self::Person => true,
        }
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Process { pid, .. } => write!(f, "process {pid}"),
            Self::Person => f.write_str("you"),
        }
    }
}

/// The lock of one lease, held until it is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct LeaseLock {
    file: fs::File,
}

impl Drop for LeaseLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that was just forked may still have it open.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).ok();
    }
}

/// Locks the lease in `folder`; `None` if another process holds it.
pub(crate) fn try_lock(folder: &Path) -> Result<Option<LeaseLock>, Error> {
    let path = folder.join("owner");
    let file = open(&path)?;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(LeaseLock { file })),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::errno("lock", &path)(errno)),
        }
    }
}

/// Opens a lock file for writing, and creates it if it is missing. Keeps its content.
fn open(path: &Path) -> Result<fs::File, Error> {
    let mut options = fs::OpenOptions::new();
    options
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(Error::file("open", path))
}

/// A blocking file lock, released on drop or when the process dies.
pub(crate) struct BlockingLock {
    _file: fs::File,
}

impl BlockingLock {
    /// Waits until the lock is free and takes it.
    pub(crate) fn wait(path: &Path) -> Result<Self, Error> {
        let file = open(path)?;
        loop {
            match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::errno("lock", path)(errno)),
            }
        }
    }
}
