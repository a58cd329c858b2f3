//! Records which version of a file an agent has read, to detect whether the lines it edits changed
//! since.
//!
//! A mark uses four bytes per line and shares them with its clones. Edits are rejected by range, so
//! a user who types elsewhere in the file does not conflict.
//!
//! Start at `ReadMark::new`; a plan takes a `StaleGuard`.

use std::ops::Range;
use std::sync::Arc;

use base::Row;

use crate::diff::diff;
use crate::file::FileText;
use crate::fold;

/// The version of a file that an agent read, in whole or in part, as hashes of the lines. With it,
/// later edits of lines that have changed since are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMark {
    /// Hash of each line of the whole file.
    lines: Arc<[u32]>,
    /// Rows that were shown, sorted, never touching.
    shown: Vec<Range<Row>>,
}

/// The rows of a file that changed after the model read them: unknown, computed from a mark, or
/// given.
#[derive(Clone, Copy, Debug)]
pub enum StaleGuard<'a> {
    /// No information; hunks are checked by their text only.
    Off,
    /// The version that was read.
    Read(&'a ReadMark),
    /// Changed rows of the current text; an empty range marks removed rows.
    Changed(&'a [Range<Row>]),
}

impl ReadMark {
    /// Marks the whole file as read.
    pub fn new(file: &FileText) -> Self {
        let rows = Row(0)..Row(file.line_count() as u32);
        Self::partial(file, rows)
    }

    /// Marks only these rows as shown; changes of other rows do not matter to the agent.
    pub fn partial(file: &FileText, rows: Range<Row>) -> Self {
        let lines = 0..file.line_count();
        let mut mark = Self {
            lines: lines.map(|row| hash(file.content(row))).collect(),
            shown: Vec::new(),
        };
        mark.show(rows);
        mark
    }

    /// Whether both marks have the same text, regardless of the rows shown.
    pub fn is_same_text(&self, other: &Self) -> bool {
        self.lines == other.lines
    }

    /// Marks further rows of the same text as shown to the agent.
    pub fn show(&mut self, rows: Range<Row>) {
        self.shown.push(rows);
        self.shown.sort_by_key(|rows| rows.start);
        let mut merged: Vec<Range<Row>> = Vec::new();
        for rows in self.shown.drain(..).filter(|rows| !rows.is_empty()) {
            match merged.last_mut() {
                Some(last) if rows.start <= last.end => last.end = last.end.max(rows.end),
                _ => merged.push(rows),
            }
        }
        self.shown = merged;
    }

    /// Returns the rows of the current text that differ from the rows shown; an empty range marks
    /// removed rows. Takes time proportional to the lines and to their differences.
    pub fn changed_rows(&self, now: &FileText) -> Vec<Range<Row>> {
        let count = now.line_count();
        let hashes: Vec<u32> = (0..count).map(|row| hash(now.content(row))).collect();
        let runs = diff(self.lines.len(), count, |old, new| {
            self.lines[old] == hashes[new]
        });
        let runs = runs.into_iter().filter(|run| self.has_shown(&run.old));
        runs.map(|run| Row(run.new.start as u32)..Row(run.new.end as u32))
            .collect()
    }

    /// Whether any of these rows was shown or, for an empty range, both adjacent rows.
    fn has_shown(&self, rows: &Range<usize>) -> bool {
        let (start, end) = (Row(rows.start as u32), Row(rows.end as u32));
        if start == end {
            self.shown
                .iter()
                .any(|shown| shown.start < start && start < shown.end)
        } else {
            self.shown
                .iter()
                .any(|shown| shown.start < end && start < shown.end)
        }
    }
}

impl StaleGuard<'_> {
    /// Returns the rows of the current text that changed after they were read. An empty range marks
    /// removed rows. Returns an empty list if the changes are unknown.
    pub(crate) fn changed_rows(self, file: &FileText) -> Vec<Range<Row>> {
        match self {
            Self::Off => Vec::new(),
            Self::Read(mark) => mark.changed_rows(file),
            Self::Changed(rows) => rows.to_vec(),
        }
    }
}

/// Returns the first of the changed ranges that a hunk covering `rows` would touch, or `None` if
/// there is no such range.
pub(crate) fn stale(changed: &[Range<Row>], rows: &Range<usize>) -> Option<Range<Row>> {
    let (start, end) = (Row(rows.start as u32), Row(rows.end as u32));
    let mut changed = changed.iter();
    let touches = |other: &&Range<Row>| match (start == end, other.is_empty()) {
        (true, _) => other.start < start && start < other.end,
        (false, true) => start < other.start && other.start < end,
        (false, false) => start < other.end && other.start < end,
    };
    changed.find(touches).cloned()
}

/// Returns a hash of the exact line, including its white space.
fn hash(line: &str) -> u32 {
    let mut hash = fold::LineHash::new();
    hash.add(line.as_bytes());
    (hash.0 ^ (hash.0 >> 32)) as u32
}

#[cfg(test)]
mod tests;
