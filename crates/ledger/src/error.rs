//! Errors of the ledger.

use rusqlite::ErrorCode;

use base::AbsPath;

/// Reason why a ledger operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process held the file for too long; retry.
    #[error("cannot {doing} {path}: locked by another process for 5 seconds")]
    Busy {
        /// The attempted action, as in `write to`.
        doing: &'static str,
        /// Path of the ledger.
        path: AbsPath,
    },
    /// The file is damaged; the next `Ledger::open` quarantines it.
    #[error("{path} is damaged ({cause}); it will be moved aside at the next start of Burin")]
    Damaged {
        /// Path of the ledger.
        path: AbsPath,
        /// SQLite's description of the damage.
        cause: String,
    },
    /// A newer Burin created the file.
    #[error(
        "{path} was written by a newer Burin (version {found}, this one supports {known}): update \
         Burin, or move the file away"
    )]
    Newer {
        /// Path of the ledger.
        path: AbsPath,
        /// Schema version of the file.
        found: i64,
        /// The newest schema version that this program supports.
        known: i64,
    },
    /// The tables reject the row, for example because its event number exists already.
    #[error("{path} rejects a row: {cause}")]
    Refused {
        /// Path of the ledger.
        path: AbsPath,
        /// The constraint that the row violates.
        cause: String,
    },
    /// The operation failed for another reason, for example a full disk or a read-only folder.
    #[error("cannot {doing} {path}: {cause}")]
    Failed {
        /// The attempted action, as in `open`.
        doing: &'static str,
        /// Path of the ledger.
        path: AbsPath,
        /// Description of the underlying error.
        cause: String,
    },
    /// The writer thread has ended.
    #[error("cannot write to the ledger: it is closed")]
    Closed,
}

impl Error {
    /// Classifies an error of SQLite; `doing` is the attempted action, as in `write to`.
    pub(crate) fn new(doing: &'static str, path: &AbsPath, error: &rusqlite::Error) -> Self {
        let path = path.clone();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { doing, path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                path,
                cause: error.to_string(),
            },
            Some(ErrorCode::ConstraintViolation) => Self::Refused {
                path,
                cause: error.to_string(),
            },
            _ => Self::Failed {
                doing,
                path,
                cause: error.to_string(),
            },
        }
    }

    /// Creates the error of a failed system call; `doing` is the attempted action.
    pub(crate) fn io(doing: &'static str, path: &AbsPath, error: &std::io::Error) -> Self {
        Self::Failed {
            doing,
            path: path.clone(),
            cause: error.to_string(),
        }
    }
}
