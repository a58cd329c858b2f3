//! Why a landing cannot even begin or go on, as sentences.

use base::AbsPath;
use git::merge::TreePath;

use super::LandingId;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no change in it.
    #[error("Cannot land “{title}”: nothing in it was accepted. Accept a hunk first.")]
    NothingToLand {
        /// What it is called.
        title: String,
    },
    /// A name or link that is not let in.
    #[error("Cannot land “{title}”: {path} is refused, {reason}. Reject it, then land the rest.")]
    Refused {
        /// What it is called.
        title: String,
        /// Where.
        path: TreePath,
        /// Why.
        reason: String,
    },
    /// A conflict of a merge that was not resolved.
    #[error(
        "Cannot land “{title}”: {path} has a conflict marker at line {line} (“{}”). Resolve that conflict, or reject \
         the hunk, then land.",
        base::printable(.text, base::LineFeeds::Escape)
    )]
    ConflictMarkers {
        /// What it is called.
        title: String,
        /// Where.
        path: TreePath,
        /// The line, from 1.
        line: u32,
        /// The line's text.
        text: String,
    },
    /// HEAD names no branch.
    #[error("Cannot land “{title}”: no branch is checked out. Check one out, or name the branch.")]
    NoBranch {
        /// What it is called.
        title: String,
    },
    /// It landed already.
    #[error("“{title}” has landed; to take it back, undo it.")]
    AlreadyLanded {
        /// What it is called.
        title: String,
    },
    /// It has not landed.
    #[error("Cannot undo “{title}”: it has not landed.")]
    NotLanded {
        /// What it is called.
        title: String,
    },
    /// It was taken back already.
    #[error("Cannot undo “{title}” twice: {by} took it back. Undo that one to have it again.")]
    AlreadyUndone {
        /// What it is called.
        title: String,
        /// By which landing.
        by: LandingId,
    },
    /// It waits for something else than its turn.
    #[error("“{title}” does not wait for its turn: it is {state}.")]
    NotWaiting {
        /// What it is called.
        title: String,
        /// What it is.
        state: String,
    },
    /// Nothing is fought over there.
    #[error("“{title}” has no conflict in {path}.")]
    NoSuchConflict {
        /// What it is called.
        title: String,
        /// Where.
        path: TreePath,
    },
    /// Nothing of this number.
    #[error("There is no {0}.")]
    Unknown(LandingId),
    /// It is being landed right now.
    #[error("{0} is under way. Wait until it is done.")]
    UnderWay(LandingId),
    /// Another program is landing something here.
    #[error("Another program is landing work in {0}. Wait until it is done, then try again.")]
    Busy(AbsPath),
    /// What was written down about a landing cannot be read.
    #[error("Cannot read {path}: {message}. Move it away to go on without that landing.")]
    Unreadable {
        /// The record.
        path: AbsPath,
        /// What is wrong with it.
        message: String,
    },
    /// Git could not.
    #[error("Cannot go on with the landing: {0}.")]
    Git(#[from] git::Error),
    /// A file could not be read or written.
    #[error("Cannot go on with the landing: {0}.")]
    File(#[from] host::Error),
}
