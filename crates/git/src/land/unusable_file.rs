//! The reasons that a file of a working tree is neither read nor written.

use crate::merge::NameDanger;
use crate::repository::Error;

/// The reason that a file is left alone, as the end of a sentence about its path.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnusableFile {
    /// A folder lies at the path of a file.
    #[error("a folder replaced it")]
    Folder,
    /// A pipe, socket or device lies at the path.
    #[error("it is a pipe, a socket or a device")]
    Special,
    /// A link that must not be followed or kept.
    #[error("{0}")]
    Danger(NameDanger),
    /// The file is larger than one may be.
    #[error("it has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Length in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// With this file, the changes together exceed the limit, in bytes.
    #[error("all changes together exceed {0} bytes")]
    AllTooLarge(u64),
    /// The file has neither its planned old nor its planned new content.
    #[error("it changed in the meantime and was left untouched")]
    Changed,
    /// Reading or writing failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<host::Error> for UnusableFile {
    fn from(error: host::Error) -> Self {
        Self::Failed(error.into())
    }
}
