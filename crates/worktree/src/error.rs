//! What goes wrong with worktrees, as sentences for the reader.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Git could not serve.
    #[error(transparent)]
    Git(#[from] git::lease::Error),
    /// The machine's files could not.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// A file or folder of ours could not be made, read or removed.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried, as a verb.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no lease of this name.
    #[error("there is no lease {0}; \"burin-agent worktree list\" names those there are")]
    Unknown(String),
    /// A lease of this name was begun and never made: its program was killed.
    #[error("lease {0} was never ready; \"burin-agent worktree gc\" clears it away")]
    Unready(String),
    /// Somebody removed the folder with its files.
    #[error(
        "the files of lease {id} are gone: {} was removed; \"burin-agent worktree release {id} --discard\" clears away what is left of it",
        path.display()
    )]
    Gone {
        /// Which lease.
        id: String,
        /// What is missing.
        path: PathBuf,
    },
    /// A living program holds the lease.
    #[error("lease {id} is held by {owner}; end it first")]
    Held {
        /// Which lease.
        id: String,
        /// Who has it.
        owner: String,
    },
    /// Releasing would lose work.
    #[error("lease {id} {what}; commit and land it, archive it, or release it with --discard")]
    Unsaved {
        /// Which lease.
        id: String,
        /// What would be lost, as the second half of a sentence.
        what: String,
    },
    /// Files changed on both sides; nothing was written.
    #[error("{} changed on both sides: {}; nothing was carried over", files(.0.len()), .0.join(", "))]
    Conflicts(Vec<String>),
    /// What lies in the lease cannot be trusted or understood.
    #[error("lease {id}: {what}")]
    Spoilt {
        /// Which lease.
        id: String,
        /// What is wrong and what to do, as a sentence.
        what: String,
    },
    /// Cannot be had, with the reason and what to do.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            doing,
            path: path.to_path_buf(),
            source,
        }
    }

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
