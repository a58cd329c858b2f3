//! The tab layer: maps bytes of a shown line to cells and back.
//!
//! Tab stops count from the left edge of the display row. A short row is walked; a long unwrapped
//! line is measured once, every few kilobytes, and cached, and an edit measures only the touched
//! part again. Start at `Ruler`.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cells::Meter;
use crate::limits::{LONG_LINE_BYTES, LONG_LINES};
use crate::shown_text::{LineEdit, ShownText};
use stretches::Stretches;

mod stretches;

/// The piece of the shown text in one display row, with the indent of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strip {
    /// Line that contains the row.
    pub(crate) line: u32,
    /// Byte range in the shown text.
    pub(crate) shown: Range<usize>,
    /// Start of the line in the shown text.
    pub(crate) line_start: usize,
    /// Empty cells before the row.
    pub(crate) indent: u32,
    /// Whether the line ends with this row.
    pub(crate) is_last: bool,
}

/// A character of a strip, found by its cell, or the end of the strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StripPosition {
    /// Byte range in the shown text; empty at the end of the strip.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The cell where it begins.
    pub(crate) cell: u32,
}

/// A cache of the widths along long lines, shared by the snapshots of one state.
#[derive(Clone, Default)]
pub(crate) struct LongLines {
    lines: Arc<Mutex<Vec<LongLine>>>,
}

#[derive(Clone)]
struct LongLine {
    line: u32,
    stretches: Stretches,
}

/// Measures strips in cells: tabs, wide characters and long lines.
#[derive(Clone, Copy)]
pub(crate) struct Ruler<'a> {
    pub(crate) shown: &'a ShownText,
    pub(crate) tab_width: u32,
    pub(crate) long_lines: &'a LongLines,
}

impl Strip {
    /// Returns whether it is the first row of its line.
    pub(crate) fn is_first(&self) -> bool {
        self.shown.start == self.line_start
    }

    /// Whether it is a long line that does not wrap. Other rows are short.
    fn is_long(&self) -> bool {
        self.shown.len() > LONG_LINE_BYTES && self.is_first() && self.is_last
    }
}

impl Ruler<'_> {
    /// Returns the cell at which the byte `at` of the shown text begins, counted from the left
    /// edge. Offsets outside the strip are clamped to the strip.
    pub(crate) fn cell_at(&self, strip: &Strip, at: usize) -> u32 {
        let at = at.clamp(strip.shown.start, strip.shown.end);
        let (from, cell) = if strip.is_long() {
            self.stretches_of(strip, |stretches| {
                let column = at - strip.line_start;
                stretches.extend_to_byte(self, strip, column);
                stretches.before_byte(column, self.tab_width)
            })
        } else {
            (0, strip.indent)
        };
        let mut meter = Meter::new(cell, self.tab_width);
        for chunk in self.shown.chunks(strip.shown.start + from..at) {
            meter.advance_text(chunk.text);
        }
        meter.cell
    }

    /// Returns the character of a strip that covers a cell, skipping characters without width. For
    /// a cell beyond the strip, returns the end of the strip.
    pub(crate) fn find(&self, strip: &Strip, cell: u32) -> StripPosition {
        let (mut at, start_cell) = self.anchor_before(strip, cell);
        let mut meter = Meter::new(start_cell, self.tab_width);
        for chunk in self.shown.chunks(at..strip.shown.end) {
            for ch in chunk.text.chars() {
                let before = meter.cell;
                meter.advance(ch);
                if meter.cell > cell {
                    return StripPosition {
                        start: at,
                        end: at + ch.len_utf8(),
                        cell: before,
                    };
                }
                at += ch.len_utf8();
            }
        }
        StripPosition {
            start: at,
            end: at,
            cell: meter.cell,
        }
    }

    /// Returns an offset at or shortly before a cell of the strip, from which measuring to this
    /// cell is cheap, and the cell of the offset.
    pub(crate) fn anchor_before(&self, strip: &Strip, cell: u32) -> (usize, u32) {
        if !strip.is_long() || cell <= strip.indent {
            return (strip.shown.start, strip.indent);
        }
        let (column, cell) = self.stretches_of(strip, |stretches| {
            stretches.extend_to_cell(self, strip, cell);
            stretches.before_cell(cell, self.tab_width)
        });
        (strip.line_start + column, cell)
    }

    /// Returns the cell of the strip's end. For the part of a long strip that is not measured yet,
    /// assumes one cell per byte.
    pub(crate) fn end_cell_estimate(&self, strip: &Strip) -> u32 {
        if !strip.is_long() {
            return self.cell_at(strip, strip.shown.end);
        }
        let (column, cell) =
            self.stretches_of(strip, |stretches| stretches.measured(self.tab_width));
        let rest = strip.shown.len().saturating_sub(column);
        cell.saturating_add(u32::try_from(rest).unwrap_or(u32::MAX))
    }

    fn stretches_of<R>(&self, strip: &Strip, read: impl FnOnce(&mut Stretches) -> R) -> R {
        let mut lines = self.long_lines.lock();
        let known = lines.iter().position(|long| long.line == strip.line);
        let mut long = match known {
            Some(ix) => lines.remove(ix),
            None => LongLine {
                line: strip.line,
                stretches: Stretches::new(self.tab_width),
            },
        };
        let result = read(&mut long.stretches);
        // Least recently used lines come first and are evicted first.
        if lines.len() >= LONG_LINES {
            lines.remove(0);
        }
        lines.push(long);
        result
    }
}

impl LongLines {
    /// Returns the measurements that are still valid after edits of lines. `shown` is the text
    /// after the edits.
    pub(crate) fn after(&self, edits: &[LineEdit], shown: &ShownText, tab_width: u32) -> Self {
        let lines = self.lock();
        if lines.is_empty() {
            return Self::default();
        }
        let kept = lines
            .iter()
            .filter_map(|long| long.after(edits, shown, tab_width));
        Self {
            lines: Arc::new(Mutex::new(kept.collect())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<LongLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LongLine {
    /// Returns the measurements of the line after edits of lines, with its new number. `None` if
    /// the line was deleted, split, joined or replaced with others, or if the edit does not fit its
    /// lengths.
    fn after(&self, edits: &[LineEdit], shown: &ShownText, tab_width: u32) -> Option<Self> {
        let ix = edits.partition_point(|edit| edit.old.end <= self.line);
        let before = ix.checked_sub(1).map(|before| &edits[before]);
        let shifted = before.map_or(self.line, |edit| self.line - edit.old.end + edit.new.end);
        let edit = edits.get(ix).filter(|edit| edit.old.start <= self.line);
        let Some(edit) = edit else {
            return Some(Self {
                line: shifted,
                stretches: self.stretches.clone(),
            });
        };
        if edit.old.len() != 1 || edit.new.len() != 1 {
            return None;
        }
        let line = edit.new.start;
        let span = shown.line_span(line).shown;
        let stretches = self.stretches.after(edit, shown, span, tab_width)?;
        Some(Self { line, stretches })
    }
}
