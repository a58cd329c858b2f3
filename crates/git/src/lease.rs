//! Git operations for leased worktrees: the files of a commit, a prefilled index, the changes of a
//! lease, and importing its commits into the main repository.
//!
//! Must not know: mounts, where leases are located, which agent holds them.
//! Invariant: nothing here opens the git folder of a lease as a repository, since an agent may have
//! written its config, refs and hooks. Objects are read from copies and their hashes are checked.
//! Invariant: only objects are added to the main repository; its refs, index, config and checkout
//! are never written.
//! Start at `MainRepo::open`; `StatusProbe` finds the changes of a lease.

mod archive;
mod checkout_filter;
mod index;
mod main_repo;
mod status;

pub use archive::{ArchivedCommit, Difference};
pub use checkout_filter::BlobReader;
pub use index::{FileStat, FileTime, write_index};
pub use main_repo::{CommitContents, CommitFile, HeadCommit, MainRepo};
pub(crate) use status::is_draft;
pub use status::{StatusProbe, TouchedFile};

use std::path::{Path, PathBuf};

/// Reason why a git operation for a lease failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path is in no repository.
    #[error("no git repository contains {0}; run \"git init\" and commit something first")]
    NoRepository(PathBuf),
    /// The repository has no working tree.
    #[error("the repository at {0} is bare; lease from a checkout of it")]
    Bare(PathBuf),
    /// The repository has no commit yet.
    #[error("{0} has no commit yet; commit something first")]
    NoCommit(PathBuf),
    /// The commit contains a path that must not be checked out.
    #[error(
        "cannot check out the commit: its file {0:?} would be outside the worktree or inside .git"
    )]
    BadName(String),
    /// The partial clone lacks objects that are still on its server.
    #[error(
        "the repository lacks the content of {0}; it is a partial clone, so run \"git fetch --refetch --no-filter\" first"
    )]
    Missing(String),
    /// libgit2 failed; the message is its own.
    #[error("git cannot {doing} {path}: {message}")]
    Git {
        /// The attempted action, as a verb.
        doing: &'static str,
        /// Path of the affected file or repository.
        path: PathBuf,
        /// The error message of libgit2.
        message: String,
    },
}

impl Error {
    /// Wraps an error of libgit2 about the file or repository at `path`; `doing` is a verb.
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
