//! An immutable state of the display map, and its queries.

use std::fmt;
use std::ops::Range;

use base::{Bias, ByteOffset, Row, Span};
use text::{Snapshot, SpanSet};

use crate::block::{BlockLayer, PARTS, PlacedBlock, height_in_lines};
use crate::fold;
use crate::fold::FoldMark;
use crate::line::DisplayLine;
use crate::position::{DisplayOptions, DisplayPoint, DisplayRow};
use crate::shown_text::ShownText;
use crate::tab::{LongLines, Ruler, Strip, StripPosition};
use crate::wrap::WrapTree;

/// An immutable state of the display map, for converting between buffer offsets and display
/// positions. Cheap to clone. A snapshot stays valid while the map changes.
#[derive(Clone)]
pub struct DisplaySnapshot {
    pub(crate) options: DisplayOptions,
    pub(crate) folds: SpanSet<FoldMark>,
    pub(crate) shown: ShownText,
    pub(crate) long_lines: LongLines,
    pub(crate) wrap: WrapTree,
    pub(crate) blocks: BlockLayer,
}

impl DisplaySnapshot {
    /// Creates the state of a buffer without inlays, folds and blocks.
    pub(crate) fn new(buffer: Snapshot, options: DisplayOptions) -> Self {
        let shown = ShownText::new(buffer);
        Self {
            options,
            folds: SpanSet::new(),
            wrap: WrapTree::new(shown.line_count(), options.wrap.is_none()),
            shown,
            long_lines: LongLines::default(),
            blocks: BlockLayer::new(),
        }
    }

    /// Returns the snapshot of the buffer on which this state is built.
    pub fn buffer(&self) -> &Snapshot {
        &self.shown.buffer
    }

    /// Returns the tab width and wrap width in force.
    pub fn options(&self) -> DisplayOptions {
        self.options
    }

    /// Returns the number of display rows; at least one.
    pub fn row_count(&self) -> u32 {
        self.wrap.row_count()
    }

    /// Returns the last display row.
    pub fn last_row(&self) -> DisplayRow {
        DisplayRow(self.row_count().saturating_sub(1))
    }

    /// Maps a buffer offset to a display point. `bias` chooses the side of inlays there, and of a
    /// fold around it. A position between two rows of a wrapped line is the start of the second.
    pub fn to_display(&self, offset: ByteOffset, bias: Bias) -> DisplayPoint {
        let at = self.shown.to_shown(offset, bias);
        let line = self.shown.line_at(offset);
        let span = self.shown.line_span(line).shown;
        let at = at.clamp(span.start, span.end);
        let row = self.wrap.row_at(line, at - span.start);
        let strip = self.strip(row);
        DisplayPoint {
            row: DisplayRow(row),
            cell: self.ruler().cell_at(&strip, at),
        }
    }

    /// Maps a display point, clipped to the text, to a buffer offset. Inside a wide character,
    /// `bias` chooses the side; beyond the text of a wrapped row, `Left` stays before its last
    /// character, `Right` returns the start of the next row.
    pub fn to_buffer(&self, point: DisplayPoint, bias: Bias) -> ByteOffset {
        let strip = self.strip(point.row.0);
        if point.cell <= strip.indent {
            return self.shown.to_buffer(strip.shown.start);
        }
        let found = if point.cell == u32::MAX {
            let end = strip.shown.end;
            StripPosition {
                start: end,
                end,
                cell: u32::MAX,
            }
        } else {
            self.ruler().find(&strip, point.cell)
        };
        let at = if found.cell < point.cell && bias == Bias::Right {
            found.end
        } else {
            found.start
        };
        let offset = self.snap(self.shown.to_buffer(at), bias);
        if at == strip.shown.end && !strip.is_last && bias == Bias::Left {
            return self.last_offset(&strip);
        }
        offset
    }

    /// Returns the nearest point at which a caret can be: at a character of the buffer, within the
    /// row's text.
    pub fn clip(&self, point: DisplayPoint, bias: Bias) -> DisplayPoint {
        self.to_display(self.to_buffer(point, bias), bias)
    }

    /// Returns the end of a row's text, in cells from the left edge. The first time, a long
    /// unwrapped line is measured completely.
    pub fn max_cell(&self, row: DisplayRow) -> u32 {
        let strip = self.strip(row.0);
        self.ruler().cell_at(&strip, strip.shown.end)
    }

    /// Returns the largest `max_cell` of the rows, or 0 for an empty range. For long lines, uses an
    /// estimate, which improves as they are viewed.
    pub fn widest_cell_in(&self, rows: Range<DisplayRow>) -> u32 {
        let end = rows.end.0.min(self.row_count());
        let cells = (rows.start.0..end).map(|row| self.ruler().end_cell_estimate(&self.strip(row)));
        cells.max().unwrap_or(0)
    }

    /// Returns the buffer row of the first text in a display row, and whether the display row is
    /// the first of its line.
    pub fn buffer_row(&self, row: DisplayRow) -> (Row, bool) {
        let wrapped = self.wrap.row(row.0);
        if wrapped.columns.is_none_or(|columns| columns.start == 0) {
            // Most rows begin a line, which counting line feeds finds without computing an offset.
            return (Row(self.shown.first_row(wrapped.line)), true);
        }
        let strip = self.strip(row.0);
        let offset = self.shown.to_buffer(strip.shown.start);
        (self.buffer().point_at(offset).row, strip.is_first())
    }

    /// Returns the display rows of a buffer row. If folds join this row with others, returns the
    /// rows of the whole line.
    pub fn rows_of(&self, row: Row) -> Range<DisplayRow> {
        let line = self.shown.line_at(self.buffer().row_start(row));
        DisplayRow(self.wrap.first_row(line))..DisplayRow(self.wrap.first_row(line + 1))
    }

    /// Returns the point one row up, as near to the cell `goal` as possible. Returns `None` in the
    /// first row.
    pub fn row_above(&self, point: DisplayPoint, goal: u32) -> Option<DisplayPoint> {
        let row = point.row.min(self.last_row() + 1).0.checked_sub(1)?;
        Some(self.clip(DisplayPoint::new(row, goal), Bias::Left))
    }

    /// Returns the point one row down, as near to the cell `goal` as possible. Rows without buffer
    /// text, created by a long inlay, are skipped. Returns `None` in the last row.
    pub fn row_below(&self, point: DisplayPoint, goal: u32) -> Option<DisplayPoint> {
        let mut row = point.row.0;
        while row < self.last_row().0 {
            row += 1;
            let below = self.clip(DisplayPoint::new(row, goal), Bias::Left);
            if below.row > point.row {
                return Some(below);
            }
        }
        None
    }

    /// Returns the content of a row, however long it is; for long rows see `line_window`.
    pub fn line(&self, row: DisplayRow) -> DisplayLine {
        self.line_window(row, 0, u32::MAX)
    }

    /// Returns the part of a row that covers the given cells; the cost does not depend on the
    /// length of the row once it is measured that far.
    pub fn line_window(&self, row: DisplayRow, from_cell: u32, to_cell: u32) -> DisplayLine {
        let strip = self.strip(row.0);
        DisplayLine::read(
            &self.ruler(),
            &strip,
            row.min(self.last_row()),
            from_cell..to_cell,
        )
    }

    /// Returns the top of a row, above the blocks that precede the row, in line heights from the
    /// top of the text. For the row number after the last row, returns the bottom of the text.
    pub fn y_of(&self, row: DisplayRow) -> f64 {
        height_in_lines(self.blocks.y_of(row.0.min(self.row_count())))
    }

    /// Returns the row at a height in line heights. For a height within a block, returns the row
    /// after the block. Beyond the text, returns the last row.
    pub fn row_at_y(&self, y: f64) -> DisplayRow {
        let row = self.blocks.row_at(to_parts(y));
        DisplayRow(u32::try_from(row).unwrap_or(u32::MAX)).min(self.last_row())
    }

    /// Returns the height of all rows and blocks, in line heights.
    pub fn total_height(&self) -> f64 {
        self.y_of(DisplayRow(self.row_count()))
    }

    /// Returns the blocks that overlap a range of heights in line heights, from top to bottom.
    pub fn blocks_in(&self, y: Range<f64>) -> Vec<PlacedBlock> {
        self.blocks.blocks_in(to_parts(y.start)..to_parts(y.end))
    }

    /// Returns the union of the folds that hide the byte at `offset`. Returns `None` if the byte is
    /// not hidden.
    pub fn fold_containing(&self, offset: ByteOffset) -> Option<Span> {
        fold::containing(&self.folds, offset)
    }

    /// Returns the folds that overlap a span, by start, outer ones first.
    pub fn folds_in(&self, span: Span) -> Vec<Span> {
        let mut folds = self.folds.touching(span);
        folds.retain(|fold| fold.span.overlaps(span));
        fold::spans(folds)
    }

    /// Returns whether a buffer row is hidden, because a fold joins it to a row before it.
    pub fn is_hidden(&self, row: Row) -> bool {
        let line = self.shown.line_at(self.buffer().row_start(row));
        self.shown.line_span(line).rows.start != row.0
    }

    /// Returns the buffer rows that folds join with a row into one line. Without folds, returns
    /// this row alone.
    pub fn joined_rows(&self, row: Row) -> Range<Row> {
        let line = self.shown.line_at(self.buffer().row_start(row));
        let rows = self.shown.line_span(line).rows;
        Row(rows.start)..Row(rows.end)
    }

    /// Returns the ruler that measures the strips of this state.
    pub(crate) fn ruler(&self) -> Ruler<'_> {
        Ruler {
            shown: &self.shown,
            tab_width: self.options.tab_width.max(1),
            long_lines: &self.long_lines,
        }
    }

    /// Returns the strip of a display row: its line, its byte range in the shown text and its
    /// indent. For a row past the end, the strip of the last row.
    pub(crate) fn strip(&self, row: u32) -> Strip {
        let row = self.wrap.row(row);
        let line = self.shown.line_span(row.line).shown;
        let shown = match &row.columns {
            None => line.clone(),
            Some(columns) => line.start + columns.start..line.start + columns.end,
        };
        Strip {
            line: row.line,
            shown,
            line_start: line.start,
            indent: row.indent,
            is_last: row.is_last,
        }
    }

    /// Moves an offset out of the middle of a grapheme.
    fn snap(&self, offset: ByteOffset, bias: Bias) -> ByteOffset {
        let buffer = self.buffer();
        let is_ascii = |ch: Option<char>| ch.is_none_or(|ch| ch.is_ascii());
        if offset.0 == 0 || is_ascii(buffer.chars_at(offset).next()) {
            return offset;
        }
        let start = buffer.previous_grapheme(offset);
        let end = buffer.next_grapheme(start);
        match bias {
            _ if end == offset => offset,
            Bias::Left => start,
            Bias::Right => end,
        }
    }

    /// Returns the last offset in a strip before its end.
    fn last_offset(&self, strip: &Strip) -> ByteOffset {
        let last_byte = strip.shown.end.saturating_sub(1).max(strip.shown.start);
        let offset = self.shown.to_buffer(last_byte);
        if self.shown.to_shown(offset, Bias::Right) != last_byte {
            // The strip ends with an inlay or a fold, so the offset before it is returned.
            return offset;
        }
        let start = self.shown.to_buffer(strip.shown.start);
        self.buffer().previous_grapheme(offset + 1).max(start)
    }
}

impl fmt::Debug for DisplaySnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisplaySnapshot")
            .field("buffer", self.buffer())
            .field("options", &self.options)
            .field("rows", &self.row_count())
            .finish()
    }
}

/// A height in line heights as parts, rounded down.
fn to_parts(y: f64) -> u64 {
    (y.max(0.0) * PARTS as f64) as u64
}
