//! What a leased worktree needs from git: the files of a commit, an index that is warm, what a lease changed, and
//! its commits brought home.
//!
//! Must not know: mounts, where leases lie, who holds them.
//! Invariant: nothing here opens the git folder of a lease as a repository; its config, refs and hooks are
//! whatever an agent made of them. Objects are read from copies, and only below hashes that are checked.
//! Invariant: of the hub only objects are added; refs, index, config and checkout are never written.
//! Start at `Hub::open`; what a lease changed is in `Glance`.

mod adopt;
mod fit;
mod glance;
mod hub;
mod index;

pub use adopt::{Archived, Difference};
pub use fit::Reader;
pub(crate) use glance::is_draft;
pub use glance::{Glance, Touched};
pub use hub::{Contents, Head, Hub, TreeFile};
pub use index::{FileTime, Stamped, write_index};

use std::path::{Path, PathBuf};

/// Why git could not serve a lease.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No repository around this folder.
    #[error("no git repository holds {0}; run \"git init\" and commit something first")]
    NoRepository(PathBuf),
    /// A repository without a working tree.
    #[error("the repository at {0} is bare; lease from a checkout of it")]
    Bare(PathBuf),
    /// Nothing was committed yet.
    #[error("nothing was committed yet in {0}; commit something, then lease")]
    NoCommit(PathBuf),
    /// A commit holds a name that no folder may hold.
    #[error(
        "the commit names the file {0:?}, which would lie outside the worktree or inside .git; such a commit is not checked out"
    )]
    BadName(String),
    /// Objects that a partial clone left at its server.
    #[error(
        "the repository lacks the content of {0}; it is a partial clone, so run \"git fetch --refetch --no-filter\" first"
    )]
    Missing(String),
    /// libgit2 refused; the message is its own.
    #[error("git cannot {doing} {path}: {message}")]
    Git {
        /// What was tried, as a verb.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What libgit2 said.
        message: String,
    },
}

impl Error {
    pub(crate) fn new(doing: &'static str, path: &Path, error: &git2::Error) -> Self {
        Self::Git {
            doing,
            path: path.to_path_buf(),
            message: error.message().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
