//! A state of the map that does not change any more.

use std::ops::Range;

use base::{Bias, ByteOffset, Point, Row, Span};
use text::Snapshot;

use crate::block::PlacedBlock;
use crate::line::{DisplayLine, Segment, SegmentKind};
use crate::position::{DisplayOptions, DisplayPoint, DisplayRow};

/// A state of the display map. Cheap to clone; stays valid while the map moves on.
#[derive(Clone)]
pub struct DisplaySnapshot {
    buffer: Snapshot,
    options: DisplayOptions,
}

impl DisplaySnapshot {
    pub(crate) fn new(buffer: Snapshot, options: DisplayOptions) -> Self {
        Self { buffer, options }
    }

    /// The text shown.
    pub fn buffer(&self) -> &Snapshot {
        &self.buffer
    }

    /// The options in force.
    pub fn options(&self) -> DisplayOptions {
        self.options
    }

    /// How many display rows there are; at least one.
    pub fn row_count(&self) -> u32 {
        self.buffer.row_count()
    }

    /// The last display row.
    pub fn last_row(&self) -> DisplayRow {
        DisplayRow(self.row_count() - 1)
    }

    /// Where an offset is shown. `bias` chooses the side of inlays there, and of a fold around it.
    /// A place between two rows of a wrapped line is the start of the second.
    pub fn to_display(&self, offset: ByteOffset, _bias: Bias) -> DisplayPoint {
        let point = self.buffer.point_at(offset);
        DisplayPoint::new(point.row.0, point.column.0)
    }

    /// The offset shown at a point, which is clipped into the text. Inside a wide character,
    /// `bias` chooses the side; behind the text of a row that goes on in the next one, `Left`
    /// stays before its last character, `Right` gives the start of the next row.
    pub fn to_buffer(&self, point: DisplayPoint, _bias: Bias) -> ByteOffset {
        let row = Row(point.row.0.min(self.last_row().0));
        let cell = point.cell.min(self.max_cell(DisplayRow(row.0)));
        self.buffer.offset_at(Point::new(row.0, cell))
    }

    /// The nearest point that a caret can stand on.
    pub fn clip(&self, point: DisplayPoint, bias: Bias) -> DisplayPoint {
        self.to_display(self.to_buffer(point, bias), bias)
    }

    /// Where the text of a row ends, in cells from the left edge.
    pub fn max_cell(&self, row: DisplayRow) -> u32 {
        self.buffer.row_len(Row(row.0.min(self.last_row().0))).0
    }

    /// The largest `max_cell` of the given rows.
    pub fn widest_cell_in(&self, rows: Range<DisplayRow>) -> u32 {
        let last = rows.end.0.min(self.row_count());
        (rows.start.0..last)
            .map(|row| self.max_cell(DisplayRow(row)))
            .max()
            .unwrap_or(0)
    }

    /// The buffer row that a display row shows, and whether it begins there.
    pub fn buffer_row(&self, row: DisplayRow) -> (Row, bool) {
        (Row(row.0.min(self.last_row().0)), true)
    }

    /// The display rows of a buffer row; those of the fold it is hidden in, if it is.
    pub fn rows_of(&self, row: Row) -> Range<DisplayRow> {
        DisplayRow(row.0)..DisplayRow(row.0 + 1)
    }

    /// The place one row up, as near to the cell `goal` as can be.
    pub fn row_above(&self, point: DisplayPoint, goal: u32) -> Option<DisplayPoint> {
        let row = point.row.0.checked_sub(1)?;
        Some(self.clip(DisplayPoint::new(row, goal), Bias::Left))
    }

    /// The place one row down, as near to the cell `goal` as can be.
    pub fn row_below(&self, point: DisplayPoint, goal: u32) -> Option<DisplayPoint> {
        let row = point.row.0 + 1;
        (row < self.row_count()).then(|| self.clip(DisplayPoint::new(row, goal), Bias::Left))
    }

    /// What a row shows, however long it is.
    pub fn line(&self, row: DisplayRow) -> DisplayLine {
        let buffer_row = Row(row.0.min(self.last_row().0));
        let text = self.buffer.row_text(buffer_row).into_owned();
        let span = self.buffer.row_span(buffer_row);
        let cells = text.len() as u32;
        let segments = vec![Segment {
            kind: SegmentKind::Text,
            span,
            text: 0..text.len(),
            cell: 0,
            cells,
        }];
        DisplayLine {
            row,
            buffer_row: Some(buffer_row),
            span,
            text,
            segments,
            indent_cells: 0,
            start_cell: 0,
            end_cell: cells,
            is_last_wrap: true,
        }
    }

    /// The part of a row around the given cells; what it costs does not depend on the row's length.
    pub fn line_window(&self, row: DisplayRow, _from_cell: u32, _to_cell: u32) -> DisplayLine {
        self.line(row)
    }

    /// The top of a row in line heights from the top of the text, blocks above it included.
    /// For one past the last row: the bottom of the text.
    pub fn y_of(&self, row: DisplayRow) -> f64 {
        f64::from(row.0)
    }

    /// The row at a height; for a height within a block, the row that follows the block.
    pub fn row_at_y(&self, y: f64) -> DisplayRow {
        DisplayRow((y.max(0.0) as u32).min(self.last_row().0))
    }

    /// The height of everything, in line heights.
    pub fn total_height(&self) -> f64 {
        f64::from(self.row_count())
    }

    /// The blocks that overlap the heights, from top to bottom.
    pub fn blocks_in(&self, _y: Range<f64>) -> Vec<PlacedBlock> {
        Vec::new()
    }

    /// The outermost fold that hides the byte at `offset`.
    pub fn fold_containing(&self, _offset: ByteOffset) -> Option<Span> {
        None
    }

    /// The folds that overlap a span, by start, outer ones first.
    pub fn folds_in(&self, _span: Span) -> Vec<Span> {
        Vec::new()
    }
}
