//! The changed lines that the user chose, and the text that they make.

use std::collections::BTreeSet;

use base::Row;

use super::file_diff::{DiffHunk, FileDiff};
use crate::lines::lines_of;

/// A set of changed lines of a `FileDiff`. Lines outside its hunks have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineSelection {
    /// Rows of the base that are removed.
    removed: BTreeSet<u32>,
    /// Rows of the work text that are added.
    added: BTreeSet<u32>,
}

impl LineSelection {
    /// Selects all changes of a diff.
    pub fn of_all(diff: &FileDiff) -> Self {
        Self::of_hunks(&diff.hunks)
    }

    /// Selects whole hunks.
    pub fn of_hunks<'h>(hunks: impl IntoIterator<Item = &'h DiffHunk>) -> Self {
        let mut selection = Self::default();
        for hunk in hunks {
            selection.removed.extend(hunk.base.start.0..hunk.base.end.0);
            selection.added.extend(hunk.work.start.0..hunk.work.end.0);
        }
        selection
    }

    /// Selects the removal of a row of the base.
    pub fn add_removed(&mut self, row: Row) {
        self.removed.insert(row.0);
    }

    /// Selects the addition of a row of the work text.
    pub fn add_added(&mut self, row: Row) {
        self.added.insert(row.0);
    }

    /// Returns the changes of `diff` that this selection lacks.
    pub(super) fn complement(&self, diff: &FileDiff) -> Self {
        let all = Self::of_all(diff);
        Self {
            removed: all.removed.difference(&self.removed).copied().collect(),
            added: all.added.difference(&self.added).copied().collect(),
        }
    }

    /// Returns whether a line of the hunk is selected.
    pub(super) fn touches(&self, hunk: &DiffHunk) -> bool {
        let base = hunk.base.start.0..hunk.base.end.0;
        let work = hunk.work.start.0..hunk.work.end.0;
        self.removed.range(base).next().is_some() || self.added.range(work).next().is_some()
    }

    /// Returns whether no change of `diff` is selected.
    pub(super) fn is_nothing_of(&self, diff: &FileDiff) -> bool {
        !diff.hunks.iter().any(|hunk| self.touches(hunk))
    }

    /// Returns whether every change of `diff` is selected.
    pub(super) fn is_all_of(&self, diff: &FileDiff) -> bool {
        let rest = self.complement(diff);
        rest.removed.is_empty() && rest.added.is_empty()
    }

    /// Returns the base with the selected changes.
    pub(super) fn apply(&self, diff: &FileDiff) -> Vec<u8> {
        let (base, work) = (lines_of(&diff.base), lines_of(&diff.work));
        let mut text = LineJoiner::default();
        let mut row = 0;
        for hunk in &diff.hunks {
            let start = hunk.base.start.0 as usize;
            base[row..start].iter().for_each(|line| text.push(line));
            self.apply_hunk(hunk, &base, &work, &mut text);
            row = hunk.base.end.0 as usize;
        }
        base[row..].iter().for_each(|line| text.push(line));
        text.0
    }

    /// Returns the text of one hunk with its selected changes.
    pub(super) fn hunk_text(&self, hunk: &DiffHunk, diff: &FileDiff) -> Vec<u8> {
        let mut text = LineJoiner::default();
        self.apply_hunk(
            hunk,
            &lines_of(&diff.base),
            &lines_of(&diff.work),
            &mut text,
        );
        text.0
    }

    /// Appends a hunk. The n-th line of the base and the n-th line of the work text stay together,
    /// so that one line of several rewritten ones keeps its position; the rest of the longer side
    /// follows.
    fn apply_hunk(&self, hunk: &DiffHunk, base: &[&[u8]], work: &[&[u8]], text: &mut LineJoiner) {
        for ix in 0..hunk.base.len().max(hunk.work.len()) {
            let (old, new) = (hunk.base.start + ix, hunk.work.start + ix);
            if old < hunk.base.end && !self.removed.contains(&old.0) {
                text.push(base[old.0 as usize]);
            }
            if new < hunk.work.end && self.added.contains(&new.0) {
                text.push(work[new.0 as usize]);
            }
        }
    }
}

/// A text made of lines.
#[derive(Default)]
struct LineJoiner(Vec<u8>);

impl LineJoiner {
    /// Appends a line. A line before it that has no line feed, because it is the last one of a
    /// text, gets one.
    fn push(&mut self, line: &[u8]) {
        if self.0.last().is_some_and(|last| *last != b'\n') {
            self.0.push(b'\n');
        }
        self.0.extend_from_slice(line);
    }
}
