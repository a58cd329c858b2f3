//! The errors of the crate, by what a caller does about them. Messages are shown to users.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::land::{CheckError, LandingError};

/// The reason why an operation on the board, a worktree or a review failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The named job, role or hunk does not exist: name another one.
    #[error("{0}")]
    NotFound(String),
    /// The tasks cannot be added: a dependency is unknown or cyclic, or a name is used twice.
    #[error("{0}")]
    InvalidTask(String),
    /// The state of a job does not allow the command: pause or stop it, or wait.
    #[error("{0}")]
    WrongState(String),
    /// Another program or operation is at work: try again once it has ended.
    #[error("{0}")]
    Busy(String),
    /// The command has nothing to act on.
    #[error("{0}")]
    NothingToDo(String),
    /// A file that would be written has unsaved text.
    #[error(
        "{path} has text that you have not saved, and would be changed: save it or take it back, then try again."
    )]
    Unsaved {
        /// Path of the file, relative to the root.
        path: String,
    },
    /// The text that resolves a conflict still has markers.
    #[error("{path} still has conflict markers: remove them, then resolve it")]
    Unresolved {
        /// Path of the file, relative to the root.
        path: String,
    },
    /// A stored file or record is damaged: remove it, or continue without it.
    #[error("{0}")]
    Unreadable(String),
    /// Accepted hunks of several jobs exclude each other: accept only one of them.
    #[error("{0}")]
    Overlapping(String),
    /// The content of a version was not stored, so it cannot be restored.
    #[error("{0}")]
    NotStored(String),
    /// A folder is too large for a record of its changes.
    #[error("{0}")]
    TooLarge(String),
    /// The change that an action names is not there any more: look at the present changes.
    #[error("{0}")]
    Stale(String),
    /// No selected change is still in effect.
    #[error("nothing left to undo")]
    NothingToUndo,
    /// The same lines or files were changed since, so nothing was undone.
    #[error(
        "nothing was undone, because of conflicting changes: {}",
        list_conflicts(.0)
    )]
    UndoConflicts(Vec<UndoConflict>),
    /// An undo failed, and so did its rollback, or the repair of its files.
    #[error("{cause}; and {rollback}")]
    NotRolledBack {
        /// The error that stopped the operation.
        cause: Box<Error>,
        /// The error of the rollback.
        rollback: Box<Error>,
    },
    /// An operation of the composer failed, with the work that it was about.
    #[error("{0}")]
    Failed(String),
    /// A session could not be started, read or copied.
    #[error("{0}")]
    Session(String),
    /// The board has ended.
    #[error("The board has ended: open the folder again.")]
    Closed,
    /// A background task panicked or was cancelled.
    #[error("{0}")]
    Aborted(String),
    /// No checks are configured for the repository.
    #[error(
        "this repository has no checks yet: name them with `burin-agent compose land --check COMMAND`"
    )]
    NoChecks,
    /// The checks gave no result.
    #[error(transparent)]
    Checks(#[from] CheckError),
    /// A landing cannot begin or continue.
    #[error(transparent)]
    Landing(#[from] LandingError),
    /// A Git operation failed.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] host::Error),
    /// The ledger could not be read or written.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A worktree could not be leased, restored or released.
    #[error(transparent)]
    Worktree(#[from] worktree::Error),
    /// A value could not be encoded.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// A change that cannot be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoConflict {
    /// Path of the file.
    pub path: String,
    /// Conflicting rows of the present file, from 0; `None` for the whole file.
    pub rows: Option<Range<u32>>,
    /// The reason, in a few words.
    pub why: String,
}

impl fmt::Display for UndoConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rows {
            Some(rows) => write!(f, "{}:{} ({})", self.path, rows.start + 1, self.why),
            None => write!(f, "{} ({})", self.path, self.why),
        }
    }
}

fn list_conflicts(conflicts: &[UndoConflict]) -> String {
    let conflicts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    conflicts.join("; ")
}
