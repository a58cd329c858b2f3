//! The errors of worktrees, as sentences for the user.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// The reason why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A Git operation failed.
    #[error(transparent)]
    Git(#[from] git::lease::Error),
    /// A file operation of the host failed.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// A file or folder could not be created, read or removed.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The operation, as a verb.
        doing: &'static str,
        /// Path of the file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// No lease has this name.
    #[error("there is no lease {0}; \"burin-agent worktree list\" lists the leases")]
    Unknown(String),
    /// The lease was never completed: its program was killed.
    #[error("lease {0} is incomplete; \"burin-agent worktree gc\" removes it")]
    Unready(String),
    /// The folder with the lease's files was removed.
    #[error(
        "the files of lease {id} are gone: {} was removed; \"burin-agent worktree release {id} \
         --discard\" removes the rest of it",
        path.display()
    )]
    FilesMissing {
        /// Name of the lease.
        id: String,
        /// The missing path.
        path: PathBuf,
    },
    /// A running process holds the lease.
    #[error("lease {id} is held by {owner}; end it first")]
    Held {
        /// Name of the lease.
        id: String,
        /// The process or user that holds it.
        owner: String,
    },
    /// Releasing the lease would lose work.
    #[error("lease {id} {what}; commit and land it, archive it, or release it with --discard")]
    Unsaved {
        /// Name of the lease.
        id: String,
        /// The work that would be lost, as the second half of a sentence.
        what: String,
    },
    /// Files changed on both sides; nothing was written.
    #[error("{} changed on both sides: {}; nothing was copied", files(.0.len()), .0.join(", "))]
    Conflicts(Vec<String>),
    /// The contents of the lease are invalid or untrusted.
    #[error("lease {id}: {what}")]
    Corrupt {
        /// Name of the lease.
        id: String,
        /// The problem and the remedy, as a sentence.
        what: String,
    },
    /// The volume of the pool takes two paths of the commit for one.
    #[error(
        "cannot check out the commit: the volume of {} takes {one} and {other} for the same name; \
         rename one of them, or set XDG_STATE_HOME to a folder on a case-sensitive volume",
        folder.display()
    )]
    SameName {
        /// The folder with the worktrees.
        folder: PathBuf,
        /// The first path, from the root of the commit.
        one: String,
        /// The second path.
        other: String,
    },
    /// The volume of the pool cannot hold worktrees.
    #[error(
        "cannot lease worktrees: {} {reason}; set XDG_STATE_HOME to a folder on a local disk",
        folder.display()
    )]
    UnusableVolume {
        /// The folder with the worktrees.
        folder: PathBuf,
        /// The reason, as the end of a sentence about the folder.
        reason: String,
    },
    /// The request cannot be met; the reason and the remedy.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// Returns a function that wraps an error of the system about `path`; `doing` is a verb.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            doing,
            path: path.to_path_buf(),
            source,
        }
    }

    /// Returns the same as `file`, for the error type of system calls.
    pub(crate) fn errno(doing: &'static str, path: &Path) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::File {
            doing,
            path: path.to_path_buf(),
            source: errno.into(),
        }
    }
}

fn files(count: usize) -> String {
    match count {
        1 => "one file".to_owned(),
        count => format!("{count} files"),
    }
}
