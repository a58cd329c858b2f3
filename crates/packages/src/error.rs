//! The one error of the crate.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a package cannot be fetched or read. Its message is printed as it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file operation failed.
    #[error("cannot {verb} {}: {error}", path.display())]
    Io {
        /// The failed operation as an infinitive: read, write, make, find.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// An external program could not be started.
    #[error("cannot start {program}: {error}")]
    ToolMissing {
        /// Name of the program.
        program: &'static str,
        /// The error of the system.
        error: io::Error,
    },
    /// An external program ended with a failure.
    #[error("{program} cannot {task}")]
    ToolFailed {
        /// Name of the program.
        program: &'static str,
        /// The intended result as an infinitive, with advice if there is any.
        task: String,
    },
    /// The content of a file cannot be parsed.
    #[error("cannot read {}: {problem}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The malformed part.
        problem: String,
    },
    /// A file other than the pinned one.
    #[error("{} is not the pinned file: its SHA-256 differs", path.display())]
    NotPinned {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// Makes the conversion of an I/O error at `path`, for `map_err`; `verb` is an infinitive.
    pub fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { verb, path, error }
    }

    /// Returns `Error::Format` for the file at `path`; `problem` describes the malformed part.
    pub fn format(path: &Path, problem: impl ToString) -> Self {
        Self::Format {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}
