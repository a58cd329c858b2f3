//! Review of agents' changes: one list of hunks, each accepted or rejected.
//!
//! The riskiest hunks come first. Accepted hunks give exact bytes: all hunks of a file come from
//! one diff against the base, so any subset applies without a search, and untouched bytes stay the
//! same, including line endings and the byte order mark.
//! Invariant: a hunk keeps its id while its change stays the same, so verdicts survive another
//! scan of the worktree.
//! Invariant: all hunks of a session accepted give exactly the session's files; none accepted,
//! exactly the base.
//! Start at `Review::build`; `Review::accepted` applies verdicts, `Review::mix` combines several
//! sessions; `display` describes hunks.

mod diff;
mod display;
mod result;
mod risk;
mod verdicts;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use git::merge::{EntryMode, ObjectEntry, TreePath};

pub use result::HunkOverlap;
pub use risk::{Risk, RiskReason};
pub use verdicts::HunkVerdict;

use crate::work::CommitId;
use verdicts::VerdictHistory;

/// The id of a hunk, a hash of its change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HunkId(pub u128);

/// Knows the authors of lines, for the display of a review.
pub trait LineAuthors {
    /// Returns the authors of the rows `lines` of a session's file, counted from 0, as texts for
    /// display. If `lines` is `None`, returns the authors of the whole file. Returns an empty list
    /// if the authors are unknown.
    fn authors(&self, session: &str, path: &TreePath, lines: Option<Range<u32>>) -> Vec<String>;
}

/// Knows the checks that cover lines, for the risk of hunks.
pub trait CheckCoverage {
    /// Returns the names of the checks that covered the rows `lines` of a session's file, counted
    /// from 0. If `lines` is `None`, returns the checks that covered any row of the file.
    fn checks(&self, session: &str, path: &TreePath, lines: Option<Range<u32>>) -> Vec<String>;
}

/// A source that knows no authors and no checks.
pub struct NoReviewSources;

impl LineAuthors for NoReviewSources {
    fn authors(&self, _: &str, _: &TreePath, _: Option<Range<u32>>) -> Vec<String> {
        Vec::new()
    }
}

impl CheckCoverage for NoReviewSources {
    fn checks(&self, _: &str, _: &TreePath, _: Option<Range<u32>>) -> Vec<String> {
        Vec::new()
    }
}

/// The change that a hunk makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkChange {
    /// Replaces rows; counted from 0.
    Lines {
        /// Rows in the base.
        before: Range<u32>,
        /// Rows in the session's file.
        after: Range<u32>,
        /// The bytes that are removed.
        removed: Arc<[u8]>,
        /// The bytes that are added.
        added: Arc<[u8]>,
    },
    /// Changes the executable bit.
    Mode {
        /// Mode in the base.
        from: EntryMode,
        /// Mode in the session.
        to: EntryMode,
    },
    /// Renames the file of the base.
    Name {
        /// Path in the base.
        from: TreePath,
    },
    /// Adds, removes or replaces a whole file: new and removed files, symlinks, binary files.
    Whole {
        /// The entry in the base.
        before: Option<ObjectEntry>,
        /// The entry in the session.
        after: Option<ObjectEntry>,
        /// Whether one of the sides has no lines to show.
        is_binary: bool,
    },
}

/// A reviewable change, the unit of verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewHunk {
    /// Id of the hunk.
    pub id: HunkId,
    /// The session that made it.
    pub session: String,
    /// Path of the file in the session.
    pub path: TreePath,
    /// The change that it makes.
    pub part: HunkChange,
    /// The enclosing function, type or section.
    pub symbol: Option<String>,
    /// The authors of its lines.
    pub authors: Vec<String>,
    /// The checks that covered it.
    pub checks: Vec<String>,
    /// The risk of accepting it.
    pub risk: Risk,
}

/// All hunks with the verdicts on them. A value: a clone is an independent review.
#[derive(Clone, Debug)]
pub struct Review {
    /// The riskiest file first; the hunks of a file are adjacent and in order.
    hunks: Arc<Vec<ReviewHunk>>,
    files: Arc<Vec<ReviewFile>>,
    verdicts: VerdictHistory,
}

/// A file of a session, compared with the base.
#[derive(Clone, Debug)]
struct ReviewFile {
    session: String,
    base: CommitId,
    /// Path in the session, and in the base unless `renamed_from` is set.
    path: TreePath,
    renamed_from: Option<TreePath>,
    before: Option<ReviewedVersion>,
    after: Option<ReviewedVersion>,
    hunks: Vec<HunkId>,
}

#[derive(Clone, Debug)]
struct ReviewedVersion {
    entry: ObjectEntry,
    bytes: Arc<[u8]>,
}

/// The progress of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewProgress {
    /// Number of accepted hunks.
    pub accepted: usize,
    /// Number of rejected hunks.
    pub rejected: usize,
    /// Number of undecided hunks.
    pub open: usize,
}

impl Review {
    /// All hunks, the riskiest file first.
    pub fn hunks(&self) -> &[ReviewHunk] {
        &self.hunks
    }

    /// Finds a hunk by its id.
    pub fn hunk(&self, id: HunkId) -> Option<&ReviewHunk> {
        self.hunks.iter().find(|hunk| hunk.id == id)
    }

    /// The verdict on a hunk; `Open` for an unknown one.
    pub fn verdict(&self, id: HunkId) -> HunkVerdict {
        self.verdicts.get(id)
    }

    /// Sets the verdict on several hunks, as one step for `undo`. `Open` withdraws an earlier
    /// verdict. Skips unknown ids.
    pub fn decide(&mut self, ids: &[HunkId], verdict: HunkVerdict) {
        let known: Vec<HunkId> = ids
            .iter()
            .copied()
            .filter(|id| self.hunk(*id).is_some())
            .collect();
        self.verdicts.decide(&known, verdict);
    }

    /// Sets the verdict on all hunks of one file of a session, as one step for `undo`. `path` is the
    /// file's path in the session.
    pub fn decide_file(&mut self, session: &str, path: &TreePath, verdict: HunkVerdict) {
        let is_in = |hunk: &&ReviewHunk| hunk.session == session && hunk.path == *path;
        let ids: Vec<HunkId> = self
            .hunks
            .iter()
            .filter(is_in)
            .map(|hunk| hunk.id)
            .collect();
        self.verdicts.decide(&ids, verdict);
    }

    /// Sets the verdict on all hunks of a session, as one step for `undo`.
    pub fn decide_session(&mut self, session: &str, verdict: HunkVerdict) {
        let is_of = |hunk: &&ReviewHunk| hunk.session == session;
        let ids: Vec<HunkId> = self
            .hunks
            .iter()
            .filter(is_of)
            .map(|hunk| hunk.id)
            .collect();
        self.verdicts.decide(&ids, verdict);
    }

    /// Undoes the latest change of verdicts; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        self.verdicts.undo()
    }

    /// Redoes the change undone last; `false` if there is none.
    pub fn redo(&mut self) -> bool {
        self.verdicts.redo()
    }

    /// Counts accepted, rejected and undecided hunks.
    pub fn progress(&self) -> ReviewProgress {
        let count = |verdict| {
            self.hunks
                .iter()
                .filter(|hunk| self.verdict(hunk.id) == verdict)
                .count()
        };
        ReviewProgress {
            accepted: count(HunkVerdict::Accepted),
            rejected: count(HunkVerdict::Rejected),
            open: count(HunkVerdict::Open),
        }
    }

    /// Replaces the verdicts of this review by the verdicts and undo steps of an earlier review, as
    /// far as their hunks still exist.
    pub fn with_verdicts_of(mut self, earlier: &Review) -> Self {
        let known: BTreeMap<HunkId, ()> = self.hunks.iter().map(|hunk| (hunk.id, ())).collect();
        self.verdicts = earlier.verdicts.retain_known(&|id| known.contains_key(&id));
        self
    }

    /// Fills in stored verdicts for hunks that are undecided here. This is not a step for `undo`.
    pub fn with_stored_verdicts(mut self, stored: impl Fn(HunkId) -> HunkVerdict) -> Self {
        for hunk in self.hunks.iter() {
            if self.verdicts.get(hunk.id) == HunkVerdict::Open {
                self.verdicts.set(hunk.id, stored(hunk.id));
            }
        }
        self
    }

    /// The accepted hunks, in list order.
    pub fn accepted_hunks(&self) -> impl Iterator<Item = &ReviewHunk> {
        let is_accepted = |hunk: &&ReviewHunk| self.verdict(hunk.id) == HunkVerdict::Accepted;
        self.hunks.iter().filter(is_accepted)
    }
}

#[cfg(test)]
mod tests;
