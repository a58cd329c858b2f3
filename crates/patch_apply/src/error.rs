//! The reasons why a patch set cannot be applied.

use base::AbsPath;
use host::ErrorReason;

/// The reason why paths or files cannot be used, or why a commit was rolled back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The root is not a folder.
    #[error("{0} is not a folder")]
    RootIsNoFolder(AbsPath),
    /// The path is empty or contains a null byte.
    #[error("{0:?} is not a path")]
    InvalidPath(String),
    /// The path leads outside the root.
    #[error("{path} is outside {root}")]
    OutsideRoot {
        /// The path as the edit names it.
        path: String,
        /// The root as the user gave it.
        root: AbsPath,
    },
    /// The path is a symlink, and the edit would remove or rename the symlink itself.
    #[error("the path {0} is a link; name the file that it leads to")]
    IsLink(String),
    /// The file is binary.
    #[error("{0} is not a text file")]
    NotText(AbsPath),
    /// The file cannot be written back in its encoding.
    #[error("{path} cannot be edited: {reason}")]
    NotEditable {
        /// The file.
        path: AbsPath,
        /// The reason that decoding gave.
        reason: String,
    },
    /// The file's encoding lacks a character of the new text.
    #[error("{path} cannot be written: {source}")]
    NotEncodable {
        /// The path as the edit names it.
        path: String,
        /// The reason that encoding gave.
        source: text::EncodeError,
    },
    /// A file to be removed does not exist.
    #[error("{0} is gone")]
    Missing(String),
    /// Two paths of the plan lead to one file.
    #[error("{0} and another path of these edits lead to one file; name it by one path")]
    SameFile(String),
    /// A step of a commit failed. Everything was restored except for the files of `unrestored`.
    #[error("{failure}; {}", rolled_back(.unrestored))]
    RolledBack {
        /// The failed step.
        failure: host::Error,
        /// The steps that could not be undone; empty if nothing is changed.
        unrestored: Vec<host::Error>,
    },
    /// A file operation failed before anything was changed.
    #[error(transparent)]
    Host(#[from] host::Error),
}

impl Error {
    /// Returns whether a commit was rolled back because another program changed a file after it was
    /// read. In this case, read the file again and retry.
    pub fn is_external_change(&self) -> bool {
        matches!(
            self,
            Self::RolledBack { failure, .. } if matches!(
                failure.reason,
                ErrorReason::ChangedOnDisk { .. } | ErrorReason::AlreadyExists
            )
        )
    }
}

fn rolled_back(unrestored: &[host::Error]) -> String {
    if unrestored.is_empty() {
        return "nothing was changed".to_owned();
    }
    let unrestored: Vec<String> = unrestored.iter().map(host::Error::to_string).collect();
    format!(
        "what was changed before could not all be put back: {}",
        unrestored.join("; ")
    )
}
