//! Errors of automations.

use base::AbsPath;

/// The reason why an automation does not run or cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no automation of this name in the folder.
    #[error("there is no automation \"{0}\"; automations are files in .burin/automations")]
    Unknown(String),
    /// The file or something that it includes changed since it was shown.
    #[error("{0} changed meanwhile: look at it again")]
    Changed(AbsPath),
    /// The automation is not trusted, or it changed since.
    #[error("the automation \"{0}\" is off: trust it first")]
    Off(String),
    /// The file has problems.
    #[error("the automation \"{name}\" cannot be read: {problem}")]
    Invalid {
        /// Name of the automation.
        name: String,
        /// The first problem, as a sentence with its line.
        problem: String,
    },
    /// The run could not be started.
    #[error("{0}")]
    NotStarted(String),
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] host::Error),
    /// The ledger could not be read or written.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
}
