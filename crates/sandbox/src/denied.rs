//! What a command wanted and was not given, typed, so that a card can offer choices.
//!
//! Invariant: a denial is told after the fact; it decides nothing. What keeps a command in is the
//! kernel, and a command that was denied without being told here was denied all the same.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base::AbsPath;

/// How a path was to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Its contents were to be read.
    Read,
    /// It was to be changed, or opened for changing.
    Write,
    /// It was to come into being, by whatever way: a file, a folder, a link, a rename.
    Create,
    /// It was to go away, or to be called otherwise.
    Remove,
    /// A socket of this path was to be called.
    Connect,
}

/// One thing that was denied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Denied {
    /// A path that the policy does not give, as the command sees it.
    Path {
        /// The path, with links followed as far as it exists.
        path: AbsPath,
        /// What was wanted of it.
        access: Access,
    },
    /// A host that the policy does not give.
    Host {
        /// The name or address, as the command wrote it.
        host: String,
        /// The port.
        port: u16,
    },
    /// A system call that no command is given.
    Call {
        /// Its name in the kernel's manual.
        name: &'static str,
    },
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path, access } => {
                let verb = match access {
                    Access::Read => "read",
                    Access::Write => "write",
                    Access::Create => "create",
                    Access::Remove => "remove or rename",
                    Access::Connect => "connect to",
                };
                write!(f, "the sandbox did not let it {verb} {path}")
            }
            Self::Host { host, port } => {
                write!(f, "the sandbox did not let it reach {host} port {port}")
            }
            Self::Call { name } => write!(f, "the sandbox does not give the system call {name}"),
        }
    }
}

/// Where the denials of one order, or of one room, are gathered. Cheap to clone; clones share.
#[derive(Clone, Debug, Default)]
pub struct Denials(Arc<Mutex<Vec<Denied>>>);

impl Denials {
    /// How many are kept; what a command tries after that is denied and not told.
    pub const KEPT: usize = 64;

    /// Adds one, unless it is known or there is no room left.
    pub fn add(&self, denied: Denied) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::KEPT && !kept.contains(&denied) {
            kept.push(denied);
        }
    }

    /// Takes all that were gathered, oldest first.
    pub fn take(&self) -> Vec<Denied> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
