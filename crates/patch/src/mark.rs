//! What an agent has seen of a file, to tell whether the lines it edits changed since.
//!
//! A mark holds four bytes a line and shares them with its clones. Rejection goes by range: a user
//! who types elsewhere in the file disturbs nobody.
//! Start at `ReadMark::new`; `Guard` is what a plan takes.

use std::ops::Range;
use std::sync::Arc;

use base::Row;

use crate::diff::diff;
use crate::file::FileText;
use crate::fold;

/// A file as an agent read it, whole or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMark {
    /// A hash per line of the whole file.
    lines: Arc<[u32]>,
    /// Rows that were shown, sorted, never touching.
    shown: Vec<Range<Row>>,
}

/// How a plan learns which lines changed after they were read.
#[derive(Clone, Copy, Debug)]
pub enum Guard<'a> {
    /// Nothing is known; only the text of a hunk speaks for it.
    Off,
    /// What was read.
    Read(&'a ReadMark),
    /// Rows of the present text that changed; an empty range is where rows went away.
    Changed(&'a [Range<Row>]),
}

impl ReadMark {
    /// The whole file was read.
    pub fn new(file: &FileText) -> Self {
        let rows = Row(0)..Row(file.line_count() as u32);
        Self::partial(file, rows)
    }

    /// Only these rows were shown; changes of others are no news to the agent.
    pub fn partial(file: &FileText, rows: Range<Row>) -> Self {
        let lines = 0..file.line_count();
        let mut mark = Self {
            lines: lines.map(|row| hash(file.content(row))).collect(),
            shown: Vec::new(),
        };
        mark.show(rows);
        mark
    }

    /// Whether both are of the same text, whatever was shown of it.
    pub fn is_same_text(&self, other: &Self) -> bool {
        self.lines == other.lines
    }

    /// Further rows of the same text were shown.
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

    /// Rows of the present text that differ from what was shown; an empty range is where shown rows
    /// went away. Takes time in proportion to the lines, and to the differences between them.
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

    /// Whether any of these rows was shown, or for none, whether both rows around were.
    fn has_shown(&self, rows: &Range<usize>) -> bool {
        let (start, end) = (Row(rows.start as u32), Row(rows.end as u32));
        match start == end {
            true => self
                .shown
                .iter()
                .any(|shown| shown.start < start && start < shown.end),
            false => self
                .shown
                .iter()
                .any(|shown| shown.start < end && start < shown.end),
        }
    }
}

impl Guard<'_> {
    pub(crate) fn changed_rows(self, file: &FileText) -> Vec<Range<Row>> {
        match self {
            Self::Off => Vec::new(),
            Self::Read(mark) => mark.changed_rows(file),
            Self::Changed(rows) => rows.to_vec(),
        }
    }
}

/// The rows that a change of a buffer touched, as rows of the text after it: for `Guard::Changed`.
pub fn rows_of_change(file: &FileText, change: &text::Change) -> Vec<Range<Row>> {
    let rows = change.splices.iter().map(|splice| {
        let start = file.row_at(splice.new.start);
        match splice.new.is_empty() && splice.old.is_empty() {
            true => start..start,
            // The row that holds the end is touched too.
            false => start..file.row_at(splice.new.end) + 1,
        }
    });
    rows.collect()
}

/// Which changed rows a hunk would touch that takes up `rows`.
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

fn hash(line: &str) -> u32 {
    let mut hash = fold::Hash::new();
    hash.add(line.as_bytes());
    (hash.0 ^ (hash.0 >> 32)) as u32
}

#[cfg(test)]
mod tests;
