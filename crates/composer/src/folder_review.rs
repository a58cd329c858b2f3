//! Review and undo of agents' changes in a folder that the user has open.
//!
//! A session that works in the user's own folder writes to the disk at once. The folder's
//! `ChangeHistory` knows the author of every change; this module shows the changes of a session as
//! hunks and takes them out again: a hunk, a file, a call, a turn, all of a session, or everything
//! since a message. The log and the contents are in the program's state folder, under the real path
//! of the folder. Nothing is written to the folder's repository.
//!
//! Public types: `FolderReview` is the engine of one folder, which `FolderReviews` opens on demand.
//! `FolderReview::changes` returns `FolderChanges`, the `FolderHunk`s of a session; an action names
//! a `ReviewTarget` and returns an `UndoOutcome`. An action on a hunk carries path, hunk and the hash
//! of the hunk's content (its id): a file that changed since is read and planned again.
//!
//! Knows: `change_history`, `checkpoint`. Must not know: windows, Git's index, sessions beyond their
//! ids.
//! Invariant: an action changes only lines of the named changes. A place in which others wrote since
//! is contested: it stays, and the outcome lists it.
//! Invariant: files that an action does not change are not written, and removals come last. Only
//! files that the log knows as created by an agent are removed.
//! Invariant: kept changes are never rejected; a restore of a message takes them back as well.
//! Invariant: a file with unsaved text is not written; the outcome has the edit for its buffer.
//! Limitations: the first look at a folder stores at most `FIRST_LOOK_BYTES` of files that Git does
//! not have; later files cannot be taken back, nor can ignored files that a command changed. Changes
//! of other programs while a command runs count as the command's.
//! Start at `FolderReviews::open`.

mod apply;
mod base;
mod changes;
mod groups;
mod line_roles;
mod plan;
mod registry;
mod rewriting;
mod threads;
mod weave;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ::base::AbsPath;
use agent::services::Buffers;
use host::{Clock, Files};
use serde::{Deserialize, Serialize};

pub use apply::{BufferEdit, FolderAction, UndoOutcome};
pub use changes::{FolderChanges, FolderHunk, TurnCheckpoint};
pub use registry::FolderReviews;

use crate::Error;
use crate::change_history::{ChangeAuthor, ChangeHistory, ChangeHistoryOptions};
use crate::worktrees::lock_of;
use base::FolderBase;
use plan::FileWeave;

/// The changes that an action is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReviewTarget {
    /// One hunk.
    Hunk {
        /// Path of its file, relative to the root.
        path: String,
        /// Id of the hunk, which contains a hash of its content.
        hunk: String,
    },
    /// All changes of a file.
    File(String),
    /// All changes of a turn.
    Turn(u64),
    /// All changes of a tool call.
    Call(String),
    /// All changes.
    All,
}

/// The review of one open folder. Its methods block on the disk.
pub struct FolderReview {
    history: Arc<Mutex<ChangeHistory>>,
    /// The weaves of changed files, by path; each is brought up to date when it is needed.
    weaves: Mutex<HashMap<String, FileWeave>>,
    /// The unsaved texts of the windows; `None` without windows.
    unsaved: Option<Arc<dyn Buffers>>,
}

impl FolderReview {
    /// Opens the review of a folder, given by its real path, with its records in `folder`. Reads
    /// the folder's metadata, and at the first time the files that Git does not have. Blocks on the
    /// disk. Fails with `Busy` if another process has it open, with `TooLarge` if there are too many
    /// files.
    pub fn open(
        root: &AbsPath,
        folder: AbsPath,
        files: Arc<dyn Files>,
        clock: Arc<dyn Clock>,
        unsaved: Option<Arc<dyn Buffers>>,
    ) -> Result<Self, Error> {
        let options = ChangeHistoryOptions {
            root: root.clone(),
            base: Box::new(FolderBase::open(root)),
            folder,
            files,
            clock,
        };
        let history = ChangeHistory::open(options, ChangeAuthor::Disk)?;
        Ok(Self {
            history: Arc::new(Mutex::new(history)),
            weaves: Mutex::default(),
            unsaved,
        })
    }

    /// The change history of the folder, for the observer of tool calls.
    pub fn history(&self) -> &Arc<Mutex<ChangeHistory>> {
        &self.history
    }

    /// Records the present content of a file as the user's, and what a formatter changed since
    /// `unformatted` as the formatter's. Returns whether the file changed.
    fn note_saved(&self, file: &AbsPath, unformatted: Option<&str>) -> bool {
        let mut history = lock_of(&self.history);
        let relative = file.relative_to(history.root()).and_then(|it| it.to_str());
        let Some(relative) = relative.map(str::to_owned) else {
            return false;
        };
        let observed = history.observe_saved(&relative, unformatted);
        let observed = observed.inspect_err(|error| log::warn!("cannot record {file}: {error}"));
        observed.is_ok_and(|changes| !changes.is_empty())
    }

    /// The sessions that made changes, in the order of their first one.
    pub fn sessions(&self) -> Vec<String> {
        let history = lock_of(&self.history);
        let mut sessions: Vec<String> = Vec::new();
        for change in history.changes() {
            if let Some(call) = change.author.agent_call()
                && !sessions.contains(&call.session)
            {
                sessions.push(call.session.clone());
            }
        }
        sessions
    }
}
