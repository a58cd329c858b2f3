//! What can go wrong with the file.

use rusqlite::ErrorCode;

use base::AbsPath;

/// Why the ledger could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process held the file for too long: try again.
    #[error("cannot {doing} {path}: another process has kept it busy for 5 seconds")]
    Busy {
        /// What was tried, as in `write to`.
        doing: &'static str,
        /// The file.
        path: AbsPath,
    },
    /// The file is damaged; the next `Ledger::open` moves it aside.
    #[error("{path} is damaged ({cause}); it is moved aside when Burin starts the next time")]
    Damaged {
        /// The file.
        path: AbsPath,
        /// What SQLite says.
        cause: String,
    },
    /// A newer Burin made the file.
    #[error(
        "{path} was written by a newer Burin (version {found}, this one knows {known}): update Burin, or move the file away"
    )]
    Newer {
        /// The file.
        path: AbsPath,
        /// Its version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The tables do not take the row: the number of an event is there already, or the like.
    #[error("{path} refuses a row: {cause}")]
    Refused {
        /// The file.
        path: AbsPath,
        /// Which rule it breaks.
        cause: String,
    },
    /// The disk is full, the folder is not writable, or the like.
    #[error("cannot {doing} {path}: {cause}")]
    Failed {
        /// What was tried, as in `open`.
        doing: &'static str,
        /// The file.
        path: AbsPath,
        /// What went wrong.
        cause: String,
    },
    /// The thread that writes has ended.
    #[error("nothing more can be written to the ledger: it is closed")]
    Closed,
}

impl Error {
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

    pub(crate) fn io(doing: &'static str, path: &AbsPath, error: &std::io::Error) -> Self {
        Self::Failed {
            doing,
            path: path.clone(),
            cause: error.to_string(),
        }
    }
}
