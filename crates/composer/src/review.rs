//! Everything agents changed, in one list of hunks that are accepted or rejected one by one.
//!
//! The list begins with what is riskiest. What was accepted becomes exact bytes: hunks come from one comparison
//! with the base, so taking some of them and leaving others needs no search for where they belong, and what no
//! hunk touches stays as it was, endings, byte order mark and all.
//! Invariant: a hunk keeps its id for as long as what it does stays the same, so decisions outlive another look at
//! the worktree.
//! Invariant: all hunks of a session accepted give exactly the session's files; none accepted, exactly the base.
//! Start at `Review::of`; what was accepted is in `Review::accepted`, across candidates in `Review::mix`; hunks are put in
//! words in `telling`.

mod choices;
mod diff;
mod result;
mod risk;
mod telling;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use git::merge::{Changes, Entry, Mode, TreePath};

pub use choices::Choice;
pub use result::Overlap;
pub use risk::{Reason, Risk};

use crate::work::CommitId;
use choices::Choices;

/// Names a hunk by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HunkId(pub u128);

/// A session whose changes are reviewed.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// Names it.
    pub session: String,
    /// The commit it began from.
    pub base: CommitId,
    /// What it made of that, with the bytes.
    pub changes: Arc<Changes>,
}

/// Who wrote what.
pub trait Authors {
    /// Who had a hand in some lines of a file as the session has it, counted from 0; the whole file when `None`.
    fn authors(&self, session: &str, path: &TreePath, lines: Option<Range<u32>>) -> Vec<String>;
}

/// What was checked.
pub trait Covered {
    /// The checks that ran over some lines of a file as the session has it, counted from 0.
    fn checks(&self, session: &str, path: &TreePath, lines: Option<Range<u32>>) -> Vec<String>;
}

/// Nobody knows anything.
pub struct Unknown;

impl Authors for Unknown {
    fn authors(&self, _: &str, _: &TreePath, _: Option<Range<u32>>) -> Vec<String> {
        Vec::new()
    }
}

impl Covered for Unknown {
    fn checks(&self, _: &str, _: &TreePath, _: Option<Range<u32>>) -> Vec<String> {
        Vec::new()
    }
}

/// What a hunk does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Lines become others; counted from 0.
    Lines {
        /// In the base.
        before: Range<u32>,
        /// In the session's file.
        after: Range<u32>,
        /// The bytes that go.
        removed: Arc<[u8]>,
        /// The bytes that come.
        added: Arc<[u8]>,
    },
    /// A file may be executed from now on, or no longer.
    Mode {
        /// How it is kept.
        from: Mode,
        /// How it will be.
        to: Mode,
    },
    /// A file has another name.
    Name {
        /// What it is called in the base.
        from: TreePath,
    },
    /// A file comes, goes or is replaced as a whole: new and removed files, links, files without lines.
    Whole {
        /// What the base has.
        before: Option<Entry>,
        /// What the session has.
        after: Option<Entry>,
        /// Whether it has no lines to be shown.
        is_binary: bool,
    },
}

/// One decision to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Names it.
    pub id: HunkId,
    /// Whose it is.
    pub session: String,
    /// The file, as the session calls it.
    pub path: TreePath,
    /// What it does.
    pub part: Part,
    /// The function, type or section it is in.
    pub symbol: Option<String>,
    /// Who had a hand in it.
    pub authors: Vec<String>,
    /// The checks that ran over it.
    pub checks: Vec<String>,
    /// How closely to look.
    pub risk: Risk,
}

/// All hunks with what was decided about them. A value: a clone is another review.
#[derive(Clone, Debug)]
pub struct Review {
    /// The riskiest file first, the hunks of a file together and in order.
    hunks: Arc<Vec<Hunk>>,
    files: Arc<Vec<File>>,
    choices: Choices,
}

/// A file of a session against the base.
#[derive(Clone, Debug)]
struct File {
    session: String,
    base: CommitId,
    /// Its name in the session; in the base as well, unless `was` says otherwise.
    path: TreePath,
    was: Option<TreePath>,
    before: Option<Version>,
    after: Option<Version>,
    hunks: Vec<HunkId>,
}

#[derive(Clone, Debug)]
struct Version {
    entry: Entry,
    bytes: Arc<[u8]>,
}

/// How far a review is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Hunks that were accepted.
    pub accepted: usize,
    /// Hunks that were rejected.
    pub rejected: usize,
    /// Hunks nobody has decided about.
    pub open: usize,
}

impl Review {
    /// All hunks, the riskiest file first.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// A hunk by its id.
    pub fn hunk(&self, id: HunkId) -> Option<&Hunk> {
        self.hunks.iter().find(|hunk| hunk.id == id)
    }

    /// What was decided about a hunk; `None` when nothing yet.
    pub fn choice(&self, id: HunkId) -> Option<Choice> {
        self.choices.of(id)
    }

    /// Decides about some hunks at once; `None` takes a decision back. One step for `undo`.
    pub fn decide(&mut self, ids: &[HunkId], choice: Option<Choice>) {
        let known: Vec<HunkId> = ids
            .iter()
            .copied()
            .filter(|id| self.hunk(*id).is_some())
            .collect();
        self.choices.decide(&known, choice);
    }

    /// Decides about all hunks of a file of a session.
    pub fn decide_file(&mut self, session: &str, path: &TreePath, choice: Option<Choice>) {
        let is_in = |hunk: &&Hunk| hunk.session == session && hunk.path == *path;
        let ids: Vec<HunkId> = self
            .hunks
            .iter()
            .filter(is_in)
            .map(|hunk| hunk.id)
            .collect();
        self.choices.decide(&ids, choice);
    }

    /// Decides about everything a session did.
    pub fn decide_session(&mut self, session: &str, choice: Option<Choice>) {
        let is_of = |hunk: &&Hunk| hunk.session == session;
        let ids: Vec<HunkId> = self
            .hunks
            .iter()
            .filter(is_of)
            .map(|hunk| hunk.id)
            .collect();
        self.choices.decide(&ids, choice);
    }

    /// Takes the last decision back; `false` when there is none.
    pub fn undo(&mut self) -> bool {
        self.choices.undo()
    }

    /// Decides again what was taken back; `false` when there is nothing.
    pub fn redo(&mut self) -> bool {
        self.choices.redo()
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let count = |choice| {
            self.hunks
                .iter()
                .filter(|hunk| self.choice(hunk.id) == choice)
                .count()
        };
        Progress {
            accepted: count(Some(Choice::Accepted)),
            rejected: count(Some(Choice::Rejected)),
            open: count(None),
        }
    }

    /// The decisions of `earlier` on what is still the same here.
    pub fn with_decisions_of(mut self, earlier: &Review) -> Self {
        let known: BTreeMap<HunkId, ()> = self.hunks.iter().map(|hunk| (hunk.id, ())).collect();
        self.choices = earlier.choices.only(&|id| known.contains_key(&id));
        self
    }

    /// What was decided elsewhere about hunks on which nothing was decided here. No step for `undo`.
    pub fn with_choices(mut self, of: impl Fn(HunkId) -> Option<Choice>) -> Self {
        for hunk in self.hunks.iter() {
            if let (None, Some(choice)) = (self.choices.of(hunk.id), of(hunk.id)) {
                self.choices.set(hunk.id, Some(choice));
            }
        }
        self
    }

    /// The accepted hunks, in the order of the list.
    pub fn accepted_hunks(&self) -> impl Iterator<Item = &Hunk> {
        let is_accepted = |hunk: &&Hunk| self.choice(hunk.id) == Some(Choice::Accepted);
        self.hunks.iter().filter(is_accepted)
    }
}

#[cfg(test)]
mod tests;
