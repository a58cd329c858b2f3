//! Cache of highlights and shapes for the visible rows and their surroundings.
//!
//! Invariant: entry `i` belongs to buffer row `first + i`; an edit drops the shapes of the touched
//! rows and moves the others, so that the cache always matches the current text.
//! Invariant: an edited row keeps its highlights, carried over the edit (`carry`), until the new
//! ones arrive: a keystroke never waits for a query of the syntax tree.
//! Invariant: highlights are relative to the start of their row, and shapes to its cells, so that
//! both stay valid when the text above changes.
//! Start at `RowCache`.

mod carry;

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use base::Row;
use smallvec::SmallVec;
use syntax::HighlightKind;
use text::{Change, Snapshot};

use self::carry::EditCut;
use super::shape::ShapedRow;

/// Length in bytes that separates short rows from long ones. Short rows are highlighted and shaped
/// as a whole, long rows only in their visible part.
pub(crate) const LONG_ROW: u32 = 4096;

/// Rows cached beyond the visible ones, on either side.
const MARGIN: u32 = 60;

/// Maximum number of cached rows: folds may make rows far from each other visible together.
const MAX_CACHED_ROWS: u32 = 2_000;

/// A range of one highlight kind in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHighlight {
    /// Bytes from the start of the row.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: HighlightKind,
}

/// Highlights of one row, sorted and disjoint.
pub(crate) type RowHighlights = std::sync::Arc<[RowHighlight]>;

/// The segment of a buffer row that a cached shape covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowSegment {
    /// Index of the display row within a wrapped row.
    pub(crate) wrap: u32,
    /// Shaped cells; `None` for all cells of a row that is not long.
    pub(crate) cells: Option<(u32, u32)>,
}

#[derive(Default)]
struct RowEntry {
    /// `None` until they are computed.
    highlights: Option<RowHighlights>,
    shapes: SmallVec<[(RowSegment, Rc<ShapedRow>); 1]>,
}

/// Cached highlights and shapes of the rows in and around the window.
#[derive(Default)]
pub(crate) struct RowCache {
    first: u32,
    entries: VecDeque<RowEntry>,
    /// Style generation and size of the shapes. Shapes of another style are discarded.
    style: (u64, u32),
}

impl RowCache {
    /// Returns the range of cached rows.
    pub(crate) fn range(&self) -> Range<Row> {
        Row(self.first)..Row(self.first + self.entries.len() as u32)
    }

    /// Makes room in the cache for the visible `rows` and evicts rows far from these. If `style`
    /// has changed, discards all shapes. `last` is the last row of the text.
    pub(crate) fn show(&mut self, rows: Range<Row>, style: (u64, u32), last: Row) {
        if self.style != style {
            self.style = style;
            self.forget_shapes();
        }
        let start = rows.start.0.saturating_sub(MARGIN);
        let end = rows.end.0.saturating_add(MARGIN).min(last.0 + 1).max(start);
        let end = end.min(start + MAX_CACHED_ROWS);
        let range = self.range();
        if end <= range.start.0 || range.end.0 <= start || self.entries.is_empty() {
            self.first = start;
            self.entries.clear();
        }
        while self.first < start && self.entries.pop_front().is_some() {
            self.first += 1;
        }
        while self.first > start {
            self.entries.push_front(RowEntry::default());
            self.first -= 1;
        }
        let wanted = (end - self.first) as usize;
        self.entries.truncate(wanted);
        self.entries.resize_with(wanted, RowEntry::default);
    }

    /// Returns the cached highlights of a row. Returns `None` if the highlights are not computed
    /// yet.
    pub(crate) fn highlights(&self, row: Row) -> Option<RowHighlights> {
        self.entry(row)?.highlights.clone()
    }

    /// Sets the highlights of a row.
    pub(crate) fn set_highlights(&mut self, row: Row, highlights: RowHighlights) {
        if let Some(entry) = self.entry_mut(row) {
            entry.highlights = Some(highlights);
        }
    }

    /// Sets the highlights of rows from `first` on. Returns `true` if some differ from the painted
    /// ones.
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

    /// Returns the cached shape of a segment. Returns `None` if the segment has yet to be shaped.
    pub(crate) fn shape(&self, row: Row, part: RowSegment) -> Option<Rc<ShapedRow>> {
        let shapes = &self.entry(row)?.shapes;
        shapes
            .iter()
            .find(|(of, _)| *of == part)
            .map(|(_, shape)| shape.clone())
    }

    /// Caches the shape of a segment.
    pub(crate) fn set_shape(&mut self, row: Row, part: RowSegment, shape: Rc<ShapedRow>) {
        /// Segments of a long row that are cached while scrolling through it.
        const MAX_SEGMENTS: usize = 64;
        if let Some(entry) = self.entry_mut(row) {
            if entry.shapes.len() >= MAX_SEGMENTS {
                entry.shapes.clear();
            }
            entry.shapes.push((part, shape));
        }
    }

    /// Moves rows with a change; touched rows lose their shapes and keep their highlights for now.
    pub(crate) fn follow(&mut self, before: &Snapshot, after: &Snapshot, change: &Change) {
        for splice in change.splices.iter().rev() {
            let (start, end) = (
                before.point_at(splice.old.start),
                before.point_at(splice.old.end),
            );
            let new = after.point_at(splice.new.start).row..after.point_at(splice.new.end).row + 1;
            let count = new.end - new.start;
            let cut = EditCut {
                start: start.column.0,
                end: end.column.0,
                tail: match count {
                    1 => start.column.0 + splice.new.len() as u32,
                    // After the last line break of the inserted text.
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
            let (first, last) = carry::carry_over(&head, &tail, &cut, count == 1);
            self.set_highlights(start.row, first);
            if let Some(last) = last {
                self.set_highlights(start.row + (count - 1), last);
            }
        }
    }

    /// Replaces entries by `count` empty ones. Returns `false` if none of them is cached.
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
            .resize_with(from + count as usize, RowEntry::default);
        self.entries.extend(tail);
        true
    }

    /// Drops the shapes of one row and keeps its highlights.
    pub(crate) fn forget_shapes_of(&mut self, row: Row) {
        if let Some(entry) = self.entry_mut(row) {
            entry.shapes.clear();
        }
    }

    /// Drops all shapes and keeps the highlights.
    pub(crate) fn forget_shapes(&mut self) {
        self.entries
            .iter_mut()
            .for_each(|entry| entry.shapes.clear());
    }

    /// Clears the whole cache.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Returns the entry of a buffer row; `None` if the row is not cached.
    fn entry(&self, row: Row) -> Option<&RowEntry> {
        self.entries.get(row.0.checked_sub(self.first)? as usize)
    }

    /// Returns the entry of a buffer row; `None` if the row is not cached.
    fn entry_mut(&mut self, row: Row) -> Option<&mut RowEntry> {
        self.entries
            .get_mut(row.0.checked_sub(self.first)? as usize)
    }
}

#[cfg(test)]
mod tests;
