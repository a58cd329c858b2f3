//! The rows in sight and a little around them: their colours and their shapes, kept from frame to frame.
//!
//! Invariant: entry `i` is about buffer row `first + i`; an edit drops the shapes of the rows it touched and
//! moves the others, so that what is kept always belongs to the text of now.
//! Invariant: an edited row keeps the colours it had, carried over the edit (`carry`), until its new ones come:
//! a key never waits for a question to the syntax tree.
//! Invariant: colours are relative to their row's start, and shapes to their row's cells, so that both
//! stay right when the text above changes.
//! Start at `RowCache`.

mod carry;

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use base::{Row, Span};
use smallvec::SmallVec;
use syntax::{HighlightKind, SyntaxSnapshot};
use text::{Change, Snapshot};

use self::carry::Cut;
use super::shape::ShapedRow;

/// Rows longer than this, in bytes, are coloured and shaped by the part in sight only.
pub(crate) const LONG_ROW: u32 = 4096;

/// Rows kept beyond those in sight, on either side.
const MARGIN: u32 = 60;

/// Rows kept at most: folds may bring rows far from each other into sight together.
const MOST_KEPT: u32 = 2_000;

/// A stretch of one colour in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHighlight {
    /// Bytes from the start of the row.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: HighlightKind,
}

/// The colours of one row, sorted and disjoint.
pub(crate) type RowHighlights = std::sync::Arc<[RowHighlight]>;

/// Which part of a row a shape is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Which of the display rows that a wrapped row takes.
    pub(crate) wrap: u32,
    /// The cells shaped; all of them for rows that are not long.
    pub(crate) cells: Option<(u32, u32)>,
}

#[derive(Default)]
struct Entry {
    /// Missing until they were asked for.
    highlights: Option<RowHighlights>,
    shapes: SmallVec<[(Part, Rc<ShapedRow>); 1]>,
}

/// What is kept of the rows in and around sight.
#[derive(Default)]
pub(crate) struct RowCache {
    first: u32,
    entries: VecDeque<Entry>,
    /// What shapes look like: style generation and size. Others are of no use.
    style: (u64, u32),
}

impl RowCache {
    /// The rows there may be something about.
    pub(crate) fn range(&self) -> Range<Row> {
        Row(self.first)..Row(self.first + self.entries.len() as u32)
    }

    /// Makes room for rows, and forgets those far from them.
    pub(crate) fn show(&mut self, rows: Range<Row>, style: (u64, u32), last: Row) {
        if self.style != style {
            self.style = style;
            self.forget_shapes();
        }
        let start = rows.start.0.saturating_sub(MARGIN);
        let end = rows.end.0.saturating_add(MARGIN).min(last.0 + 1).max(start);
        let end = end.min(start + MOST_KEPT);
        let range = self.range();
        if end <= range.start.0 || range.end.0 <= start || self.entries.is_empty() {
            self.first = start;
            self.entries.clear();
        }
        while self.first < start && self.entries.pop_front().is_some() {
            self.first += 1;
        }
        while self.first > start {
            self.entries.push_front(Entry::default());
            self.first -= 1;
        }
        let wanted = (end - self.first) as usize;
        self.entries.truncate(wanted);
        self.entries.resize_with(wanted, Entry::default);
    }

    /// The colours of a row, if they are known.
    pub(crate) fn highlights(&self, row: Row) -> Option<RowHighlights> {
        self.entry(row)?.highlights.clone()
    }

    /// Notes the colours of a row.
    pub(crate) fn set_highlights(&mut self, row: Row, highlights: RowHighlights) {
        if let Some(entry) = self.entry_mut(row) {
            entry.highlights = Some(highlights);
        }
    }

    /// Notes the colours of rows from `first` on. `true` when some differ from what is painted.
    pub(crate) fn take_highlights(&mut self, first: Row, found: Vec<RowHighlights>) -> bool {
        let mut differ = false;
        for (row, highlights) in (first.0..).map(Row).zip(found) {
            let Some(entry) = self.entry_mut(row) else {
                continue;
            };
            if entry.highlights.as_ref() != Some(&highlights) {
                differ |= !entry.shapes.is_empty();
                entry.shapes.clear();
                entry.highlights = Some(highlights);
            }
        }
        differ
    }

    /// A part's shape, if it was shaped before.
    pub(crate) fn shape(&self, row: Row, part: Part) -> Option<Rc<ShapedRow>> {
        let shapes = &self.entry(row)?.shapes;
        shapes
            .iter()
            .find(|(of, _)| *of == part)
            .map(|(_, shape)| shape.clone())
    }

    /// Keeps a part's shape.
    pub(crate) fn set_shape(&mut self, row: Row, part: Part, shape: Rc<ShapedRow>) {
        /// Parts of a long row that are kept while one moves through it.
        const MOST_PARTS: usize = 64;
        if let Some(entry) = self.entry_mut(row) {
            if entry.shapes.len() >= MOST_PARTS {
                entry.shapes.clear();
            }
            entry.shapes.push((part, shape));
        }
    }

    /// Moves rows along with a change; what it touched loses its shape and keeps its colours for now.
    pub(crate) fn follow(&mut self, before: &Snapshot, after: &Snapshot, change: &Change) {
        for splice in change.splices.iter().rev() {
            let (start, end) = (
                before.point_at(splice.old.start),
                before.point_at(splice.old.end),
            );
            let new = after.point_at(splice.new.start).row..after.point_at(splice.new.end).row + 1;
            let count = new.end - new.start;
            let cut = Cut {
                start: start.column.0,
                end: end.column.0,
                tail: match count {
                    1 => start.column.0 + splice.new.len() as u32,
                    // Behind the last line break of what came in.
                    _ => after.point_at(splice.new.end).column.0,
                },
            };
            let head = self.highlights(start.row);
            let tail = self.highlights(end.row);
            if !self.replace(start.row.0..end.row.0 + 1, count) {
                continue;
            }
            let (Some(head), Some(tail)) = (head, tail) else {
                continue;
            };
            let (first, last) = carry::over(&head, &tail, &cut, count == 1);
            self.set_highlights(start.row, first);
            if let Some(last) = last {
                self.set_highlights(start.row + (count - 1), last);
            }
        }
    }

    /// Puts `count` empty entries in the place of some. `false` where nothing of them is kept.
    fn replace(&mut self, old: Range<u32>, count: u32) -> bool {
        let (first, end) = (self.first, self.first + self.entries.len() as u32);
        if old.start >= end {
            return false;
        }
        if old.end <= first {
            let grown = i64::from(count) - i64::from(old.end - old.start);
            self.first = u32::try_from(i64::from(first) + grown).unwrap_or(0);
            return false;
        }
        if old.start < first || count > MARGIN * 8 {
            self.clear();
            return false;
        }
        let (from, to) = (
            (old.start - first) as usize,
            (old.end.min(end) - first) as usize,
        );
        let tail = self.entries.split_off(to);
        self.entries.truncate(from);
        self.entries
            .resize_with(from + count as usize, Entry::default);
        self.entries.extend(tail);
        true
    }

    /// Forgets the shapes of one row; its colours stay.
    pub(crate) fn forget_shapes_of(&mut self, row: Row) {
        if let Some(entry) = self.entry_mut(row) {
            entry.shapes.clear();
        }
    }

    /// Forgets shapes; colours stay.
    pub(crate) fn forget_shapes(&mut self) {
        self.entries
            .iter_mut()
            .for_each(|entry| entry.shapes.clear());
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    fn entry(&self, row: Row) -> Option<&Entry> {
        self.entries.get(row.0.checked_sub(self.first)? as usize)
    }

    fn entry_mut(&mut self, row: Row) -> Option<&mut Entry> {
        self.entries
            .get_mut(row.0.checked_sub(self.first)? as usize)
    }
}

/// The colours of rows. Long rows have none here: they are asked by the part in sight.
pub(crate) fn highlights_of_rows(
    syntax: &SyntaxSnapshot,
    snapshot: &Snapshot,
    rows: Range<Row>,
) -> Vec<RowHighlights> {
    let is_long = |row: u32| snapshot.row_len(Row(row)).0 > LONG_ROW;
    let mut result = Vec::with_capacity((rows.end.0 - rows.start.0) as usize);
    let mut next = rows.start.0;
    while next < rows.end.0 {
        if is_long(next) {
            result.push(RowHighlights::default());
            next += 1;
            continue;
        }
        // One question for as many rows as can be asked together.
        let end = (next..rows.end.0)
            .find(|row| is_long(*row))
            .unwrap_or(rows.end.0);
        let span = Span::new(
            snapshot.row_start(Row(next)),
            snapshot.row_end(Row(end - 1)),
        );
        let found = syntax.highlights(snapshot, span);
        let mut first = 0;
        for row in next..end {
            let span = snapshot.row_span(Row(row));
            first += found[first..]
                .iter()
                .take_while(|highlight| highlight.span.end <= span.start)
                .count();
            result.push(within_row(&found[first..], span));
        }
        next = end;
    }
    result
}

/// The part of sorted highlights that lies in a row. A comment over several rows lies in each.
fn within_row(found: &[syntax::Highlight], row: Span) -> RowHighlights {
    found
        .iter()
        .take_while(|highlight| highlight.span.start < row.end)
        .filter(|highlight| highlight.span.end > row.start)
        .map(|highlight| RowHighlight {
            start: (highlight.span.start.max(row.start) - row.start) as u32,
            end: (highlight.span.end.min(row.end) - row.start) as u32,
            kind: highlight.kind,
        })
        .collect()
}

#[cfg(test)]
mod tests;
