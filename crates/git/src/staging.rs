//! Stages and unstages files, hunks and lines.
//!
//! The staged content is written as a blob and put into the index; no patch is applied. The diff
//! that is shown and the diff that is staged are one `FileDiff`, never computed twice.
//! Invariant: the index is changed under git's lock and only where it still holds the base of the
//! diff; otherwise nothing is written and the caller makes a new diff.
//! Invariant: no working-tree file is written. To discard lines is an edit of the buffer.
//! Start at `Repository::file_diff`, then `stage_lines`.

mod discard;
mod file_diff;
mod files;
mod patch;
mod selection;
mod write;

use crate::capabilities::GitFeature;
use crate::clean::CleanError;
use crate::merge::TreePath;
use crate::repository::Error;

pub use discard::RowEdit;
pub use file_diff::{DiffHunk, FileDiff};
pub use selection::LineSelection;
pub use write::StagingUndo;

/// The two texts that a diff compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// HEAD against the index.
    Staged,
    /// The index against the working tree.
    Unstaged,
}

/// The reason why a change can only be staged as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WholeReason {
    /// The content is not text.
    Binary,
    /// The content is too large for a comparison.
    TooLarge,
    /// One side is a symlink.
    Symlink,
    /// One side is a submodule.
    Submodule,
}

/// Reason why a change was not staged or unstaged.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// A merge left the path unresolved.
    #[error("{0} has conflicts; resolve them first")]
    Conflicted(TreePath),
    /// The index or the file is not the one of the diff.
    #[error("{0} changed since its diff was made; nothing was staged")]
    Outdated(TreePath),
    /// Only the git program can do it.
    #[error("only git can stage {path}: {feature}")]
    NeedsProgram {
        /// The path.
        path: TreePath,
        /// The feature that libgit2 lacks.
        feature: GitFeature,
    },
    /// The change has no lines to choose.
    #[error("{path} can only be staged as a whole: {reason}")]
    WholeFileOnly {
        /// The path.
        path: TreePath,
        /// The reason.
        reason: WholeReason,
    },
    /// The bytes are not valid in the encoding of the attribute `working-tree-encoding`.
    #[error("{path} is not valid {encoding}, which its attribute working-tree-encoding demands")]
    Undecodable {
        /// The path.
        path: TreePath,
        /// The encoding.
        encoding: String,
    },
    /// Neither the index nor the working tree has the path.
    #[error("there is no file {0} in the index or in the working tree")]
    Absent(TreePath),
    /// The path is a repository that is no submodule.
    #[error("{0} is a repository of its own; add it as a submodule")]
    Repository(TreePath),
    /// The path is a pipe, socket or device.
    #[error("{0} is not a file, so git cannot store it")]
    Special(TreePath),
    /// The repository could not be read or written.
    #[error(transparent)]
    Git(#[from] Error),
}

impl std::fmt::Display for WholeReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            WholeReason::Binary => "it is not text",
            WholeReason::TooLarge => "it is too large for a comparison",
            WholeReason::Symlink => "it is a symbolic link",
            WholeReason::Submodule => "it is a submodule",
        })
    }
}

impl StagingError {
    fn of_clean(path: &TreePath, error: CleanError) -> Self {
        let path = path.clone();
        match error {
            CleanError::Program(feature) => StagingError::NeedsProgram { path, feature },
            CleanError::Undecodable(encoding) => StagingError::Undecodable { path, encoding },
        }
    }
}

#[cfg(test)]
mod tests;
