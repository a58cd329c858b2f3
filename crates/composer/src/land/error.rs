//! The errors of the landing queue.

use base::AbsPath;
use git::merge::TreePath;

use super::LandingId;

/// The reason why a landing cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum LandingError {
    /// No change was accepted.
    #[error("Cannot land “{title}”: nothing in it was accepted. Accept a hunk first.")]
    NothingToLand {
        /// Title of the landing.
        title: String,
    },
    /// A path or symlink that is not allowed to land.
    #[error("Cannot land “{title}”: {path} is refused, {reason}. Reject it, then land the rest.")]
    Refused {
        /// Title of the landing.
        title: String,
        /// Path of the refused file.
        path: TreePath,
        /// The reason for the refusal.
        reason: String,
    },
    /// The changes add a conflict marker.
    #[error(
        "Cannot land “{title}”: {path} has a conflict marker at line {line} (“{}”). Resolve that conflict, or reject \
         the hunk, then land.",
        base::printable(.text, base::LineFeeds::Escape)
    )]
    ConflictMarkers {
        /// Title of the landing.
        title: String,
        /// Path of the file.
        path: TreePath,
        /// Line number, from 1.
        line: u32,
        /// Text of the line.
        text: String,
    },
    /// HEAD is detached, so there is no target branch.
    #[error("Cannot land “{title}”: no branch is checked out. Check one out, or name the branch.")]
    NoBranch {
        /// Title of the landing.
        title: String,
    },
    /// It has already landed.
    #[error("“{title}” has already landed; undo it to remove it from the branch.")]
    AlreadyLanded {
        /// Title of the landing.
        title: String,
    },
    /// It has not landed.
    #[error("Cannot undo “{title}”: it has not landed.")]
    NotLanded {
        /// Title of the landing.
        title: String,
    },
    /// It was already undone.
    #[error("Cannot undo “{title}” twice: {by} already undid it. Undo {by} to restore it.")]
    AlreadyUndone {
        /// Title of the landing.
        title: String,
        /// The landing that undid it.
        by: LandingId,
    },
    /// The landing is not queued.
    #[error("“{title}” is not queued: it is {state}.")]
    NotWaiting {
        /// Title of the landing.
        title: String,
        /// Its step, in words.
        state: String,
    },
    /// There is no conflict in that file.
    #[error("“{title}” has no conflict in {path}.")]
    NoSuchConflict {
        /// Title of the landing.
        title: String,
        /// Path of the file.
        path: TreePath,
    },
    /// No landing has this id.
    #[error("There is no {0}.")]
    Unknown(LandingId),
    /// The landing is in progress.
    #[error("{0} is in progress. Wait until it is done.")]
    UnderWay(LandingId),
    /// Another program is landing work in the repository.
    #[error("Another program is landing work in {0}. Wait until it is done, then try again.")]
    Busy(AbsPath),
    /// The record of a landing is invalid.
    #[error("Cannot read {path}: {message}. Move the file away to continue without it.")]
    Unreadable {
        /// Path of the record.
        path: AbsPath,
        /// The problem with it.
        message: String,
    },
    /// A Git operation failed.
    #[error("Cannot continue the landing: {0}.")]
    Git(#[from] git::Error),
    /// A file could not be read or written.
    #[error("Cannot continue the landing: {0}.")]
    File(#[from] host::Error),
}
