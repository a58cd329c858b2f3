//! Geometry of the view: rows, cells and the gutter, and the mapping from pixels back to positions.
//!
//! Invariant: `x_of` and `cell_at` are inverse up to half a cell, `y_of` and `row_at` up to a row.

use std::ops::Range;

use base::Row;
use display::{DisplayPoint, DisplaySnapshot};
use gpui_kit::{Bounds, Pixels, Point, point, px, size};

/// The area of a view under the pointer: text, gutter, fold arrows or a scrollbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitArea {
    /// The text or the space beside it.
    Text,
    /// Line numbers and change bars.
    Gutter,
    /// The column of fold arrows.
    Folds,
    /// The scrollbar on the right.
    Vertical,
    /// The scrollbar at the bottom.
    Horizontal,
}

/// Positions and sizes of the parts of a view in one layout, for converting between pixels and
/// text.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// Bounds of the whole view.
    pub(crate) bounds: Bounds<Pixels>,
    /// Line numbers, change bars and fold arrows.
    pub(crate) gutter: Bounds<Pixels>,
    /// Horizontal range of the authors of lines in the gutter; empty if they are not shown.
    pub(crate) authors: Range<Pixels>,
    /// Horizontal range of the marks in the gutter; empty if the text has none.
    pub(crate) marks: Range<Pixels>,
    /// Horizontal range of the fold arrows in the gutter.
    pub(crate) folds: Range<Pixels>,
    /// Area of the text.
    pub(crate) text: Bounds<Pixels>,
    /// The scrollbar on the right.
    pub(crate) vertical: Bounds<Pixels>,
    /// Width of a cell, in pixels.
    pub(crate) advance: f32,
    pub(crate) line_height: Pixels,
    /// Top of the window, in line heights from the top of the text.
    pub(crate) top: f64,
    /// Horizontal scroll position, in pixels.
    pub(crate) scroll_x: f64,
    /// Maximum of `scroll_x`, in pixels.
    pub(crate) most_x: f64,
    /// Height of the window, in line heights.
    pub(crate) visible_rows: f64,
    /// Total height of the text, in line heights.
    pub(crate) total_rows: f64,
    /// Range of visible buffer rows.
    pub(crate) buffer_rows: Range<Row>,
    /// Number of rows covered by sticky headers.
    pub(crate) sticky_rows: usize,
}

impl Geometry {
    /// Returns the x coordinate in window pixels where a cell begins, horizontal scrolling
    /// included.
    pub(crate) fn x_of(&self, cell: u32) -> Pixels {
        // As in `y_of`: only the difference is small enough for f32.
        self.text.left() + px((f64::from(cell) * f64::from(self.advance) - self.scroll_x) as f32)
    }

    /// Returns the y coordinate in window pixels of a height, given in line heights from the top of
    /// the text.
    pub(crate) fn y_of(&self, y: f64) -> Pixels {
        // The difference is small whatever the length of the text, so that f32 is precise enough.
        self.bounds.top() + px(((y - self.top) * f64::from(f32::from(self.line_height))) as f32)
    }

    /// Returns the height at a y coordinate in window pixels, in line heights from the top of the
    /// text. Above the text, the result is negative.
    pub(crate) fn height_at(&self, y: Pixels) -> f64 {
        self.top
            + f64::from(f32::from(y - self.bounds.top())) / f64::from(f32::from(self.line_height))
    }

    /// Returns the cell border nearest to an x coordinate in window pixels. To the left of the
    /// text, returns 0.
    pub(crate) fn cell_at(&self, x: Pixels) -> u32 {
        let cell =
            (f64::from(f32::from(x - self.text.left())) + self.scroll_x) / f64::from(self.advance);
        cell.round().max(0.0) as u32
    }

    /// Returns the display point nearest to a pixel; it may lie beyond the end of its row.
    pub(crate) fn point_at(
        &self,
        position: Point<Pixels>,
        display: &DisplaySnapshot,
    ) -> DisplayPoint {
        let height = self.height_at(position.y);
        let row = if height < 0.0 {
            display.row_at_y(0.0)
        } else {
            display.row_at_y(height)
        };
        DisplayPoint {
            row,
            cell: self.cell_at(position.x),
        }
    }

    /// Returns the area that contains a position in window pixels.
    pub(crate) fn area_at(&self, position: Point<Pixels>) -> HitArea {
        if self.vertical.contains(&position) {
            HitArea::Vertical
        } else if self.most_x > 0.0
            && position.y >= self.horizontal().top()
            && position.x >= self.text.left()
        {
            HitArea::Horizontal
        } else if position.x >= self.text.left() {
            HitArea::Text
        } else if position.x >= self.folds.start && position.x < self.folds.end {
            HitArea::Folds
        } else {
            HitArea::Gutter
        }
    }

    /// Returns the bounds of the horizontal scrollbar in window pixels, even while the scrollbar is
    /// hidden.
    pub(crate) fn horizontal(&self) -> Bounds<Pixels> {
        let thickness = px(10.0);
        Bounds::new(
            point(self.text.left(), self.bounds.bottom() - thickness),
            size(self.text.size.width, thickness),
        )
    }

    /// Returns the bounds in window pixels of a block at `y` with this height, both in line
    /// heights.
    pub(crate) fn block_bounds(&self, y: f64, height: f64) -> Bounds<Pixels> {
        let top = self.y_of(y);
        let width = self.vertical.left() - self.bounds.left();
        Bounds::new(
            point(self.bounds.left(), top),
            size(width, self.y_of(y + height) - top),
        )
    }

    /// Returns the bounds in window pixels of a row at a height in line heights, from the text's
    /// left edge to the right edge.
    pub(crate) fn row_bounds(&self, y: f64) -> Bounds<Pixels> {
        Bounds::new(
            point(self.text.left(), self.y_of(y)),
            size(self.text.size.width, self.line_height),
        )
    }

    /// Returns the pixels that the handle of the vertical scrollbar covers, and the line heights
    /// that dragging the handle by one pixel scrolls. Returns `None` if everything is visible.
    pub(crate) fn vertical_handle(&self, beyond_last: bool) -> Option<(Range<Pixels>, f64)> {
        let most = if beyond_last {
            (self.total_rows - 1.0).max(0.0)
        } else {
            (self.total_rows - self.visible_rows).max(0.0)
        };
        if most <= 0.0 {
            return None;
        }
        let track = f64::from(f32::from(self.vertical.size.height));
        let handle = (track * self.visible_rows / (most + self.visible_rows))
            .clamp(24.0_f64.min(track), track);
        let free = (track - handle).max(1.0);
        let start = self.vertical.top() + px((free * (self.top / most).clamp(0.0, 1.0)) as f32);
        Some((start..start + px(handle as f32), most / free))
    }

    /// Returns the pixels that the handle of the horizontal scrollbar covers, and the pixels of
    /// text that dragging the handle by one pixel scrolls. Returns `None` if everything is visible.
    pub(crate) fn horizontal_handle(&self) -> Option<(Range<Pixels>, f64)> {
        if self.most_x <= 0.0 {
            return None;
        }
        let track = f64::from(f32::from(self.text.size.width));
        let handle = (track * track / (track + self.most_x)).clamp(24.0_f64.min(track), track);
        let free = (track - handle).max(1.0);
        let start =
            self.text.left() + px((free * (self.scroll_x / self.most_x).clamp(0.0, 1.0)) as f32);
        Some((start..start + px(handle as f32), self.most_x / free))
    }
}
