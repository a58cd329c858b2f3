//! Who holds a lease: a lock file whose lock dies with its process.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Who took a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// A program, for as long as it lives.
    Process {
        /// Its number.
        pid: u32,
        /// When it started, in clock ticks since the machine did; tells it from a later one of that number.
        started: u64,
    },
    /// A person, until it is released.
    Person,
}

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self::Process {
            pid,
            started: started(pid).unwrap_or(0),
        }
    }

    /// Whether the program it names still runs, by its number and start.
    pub fn is_alive(&self) -> bool {
        match self {
            Self::Process { pid, started: then } => started(*pid) == Some(*then),
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

/// The lock of one lease, held by this process until it is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    file: fs::File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child of another thread that is about to run a program still has the file.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).ok();
    }
}

/// The lock of the lease in `folder`; `None` while another process has it.
pub(crate) fn lock(folder: &Path) -> Result<Option<Lock>, Error> {
    let path = folder.join("owner");
    let file = open(&path)?;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(Lock { file })),
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::errno("lock", &path)(errno)),
        }
    }
}

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

/// A lock that is waited for, given back when dropped or when the process dies.
pub(crate) struct Gate {
    _file: fs::File,
}

impl Gate {
    /// Blocks until nobody else has it.
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

fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets and spaces too.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_whitespace().nth(19)?.parse().ok()
}
