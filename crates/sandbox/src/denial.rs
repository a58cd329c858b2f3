//! Operations that the sandbox denied, typed so that the UI can offer choices.
//!
//! Invariant: a denial is a report after the fact; it enforces nothing. The kernel confines the
//! command, and an operation can be denied without being reported here.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;

/// The intended use of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathAccess {
    /// Reading the file's contents.
    Read,
    /// Changing the file, or opening it for writing.
    Write,
    /// Creating the path: a file, a folder, a link, a rename target.
    Create,
    /// Removing or renaming the path.
    Remove,
    /// Connecting to a socket at this path.
    Connect,
}

/// One operation that the sandbox denied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeniedAccess {
    /// A path that the policy does not grant, as the command sees it.
    Path {
        /// The path, with links followed as far as it exists.
        path: AbsPath,
        /// The intended use of the path.
        access: PathAccess,
    },
    /// A host that the policy does not grant.
    Host {
        /// The name or address, as the command wrote it.
        host: String,
        /// The port of the host.
        port: u16,
    },
    /// A system call that no command may make.
    Call {
        /// Its name in the kernel's manual.
        name: &'static str,
    },
}

impl fmt::Display for DeniedAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path, access } => {
                let verb = match access {
                    PathAccess::Read => "read",
                    PathAccess::Write => "write",
                    PathAccess::Create => "create",
                    PathAccess::Remove => "remove or rename",
                    PathAccess::Connect => "connect to",
                };
                write!(f, "the sandbox denied access: {verb} {path}")
            }
            Self::Host { host, port } => {
                write!(f, "the sandbox denied access to {host} port {port}")
            }
            Self::Call { name } => write!(f, "the sandbox denied the system call {name}"),
        }
    }
}

/// Collects the denials of one command or one warm sandbox. Cheap to clone; clones share.
#[derive(Clone, Debug, Default)]
pub struct DenialLog(Arc<SharedDenials>);

#[derive(Debug, Default)]
struct SharedDenials {
    kept: Mutex<Vec<DeniedAccess>>,
    added: Condvar,
}

impl DenialLog {
    /// Maximum number kept; later denials are enforced but not recorded.
    pub const MAX_DENIALS: usize = 64;

    /// Adds a denial unless it is known or the log is full.
    pub fn add(&self, denied: DeniedAccess) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::MAX_DENIALS && !kept.contains(&denied) {
            kept.push(denied);
            self.0.added.notify_all();
        }
    }

    /// Takes all recorded denials, oldest first.
    pub fn drain(&self) -> Vec<DeniedAccess> {
        self.drain_within(Duration::ZERO)
    }

    /// Like `drain`, and blocks for at most `limit` while there are none.
    pub(crate) fn drain_within(&self, limit: Duration) -> Vec<DeniedAccess> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .added
            .wait_timeout_while(kept, limit, |kept| kept.is_empty());
        let (mut kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *kept)
    }
}

#[cfg(test)]
mod tests;
