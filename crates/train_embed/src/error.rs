//! The error of the trainer.

use std::io;
use std::path::{Path, PathBuf};

use index::embedding::TableError;
use index::minilm::MiniLmError;

/// The reason why a step of the trainer failed. Its message is printed unchanged.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot {verb} {}: {error}", path.display())]
    Io {
        /// The failed operation as an infinitive: read, write, make, find.
        verb: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// An external program could not be started.
    #[error("cannot start {program}: {error}")]
    ToolMissing {
        program: &'static str,
        error: io::Error,
    },
    /// The content of a file cannot be parsed.
    #[error("cannot read {}: {problem}", path.display())]
    Format { path: PathBuf, problem: String },
    /// The file differs from the pinned one.
    #[error("{} is not the pinned file: its SHA-256 differs", path.display())]
    NotPinned { path: PathBuf },
    #[error("there is no step {name:?}; there are pin, {known}, score")]
    UnknownStep {
        name: String,
        /// The steps of a whole run, separated by commas.
        known: String,
    },
    #[error("the training has no setting {0}")]
    UnknownSetting(String),
    #[error("{name}={value}: {value} is not a number")]
    SettingNotANumber { name: String, value: String },
    #[error(transparent)]
    Packages(#[from] packages::Error),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    MiniLm(#[from] MiniLmError),
    /// A thread of the mining step panicked.
    #[error("a mining thread panicked")]
    MinerPanicked,
}

impl Error {
    /// Returns a function for `map_err` that converts an I/O error at `path`; `verb` is an
    /// infinitive.
    pub(super) fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { verb, path, error }
    }

    /// Returns `Error::Format` for the file at `path`; `problem` describes the malformed part.
    pub(super) fn format(path: &Path, problem: impl ToString) -> Self {
        Self::Format {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}
