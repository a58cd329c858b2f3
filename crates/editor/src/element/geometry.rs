//! Where things lie in the window: rows, cells, the gutter, and the way back from a pixel to a place.
//!
//! Invariant: `x_of` and `cell_at` are inverse up to half a cell, `y_of` and `row_at` up to a row.

use std::ops::Range;

use base::Row;
use display::{DisplayPoint, DisplaySnapshot};
use gpui_kit::{Bounds, Pixels, Point, point, px, size};

/// What lies under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// Letters, or the ground beside them.
    Text,
    /// Numbers and bars.
    Gutter,
    /// The arrows that fold.
    Folds,
    /// The scrollbar on the right.
    Vertical,
    /// The scrollbar at the bottom.
    Horizontal,
}

/// One way in which the text was laid out.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// All of it.
    pub(crate) bounds: Bounds<Pixels>,
    /// Numbers, bars and arrows.
    pub(crate) gutter: Bounds<Pixels>,
    /// Where the arrows stand in the gutter.
    pub(crate) folds: Range<Pixels>,
    /// Letters.
    pub(crate) text: Bounds<Pixels>,
    /// The scrollbar on the right.
    pub(crate) vertical: Bounds<Pixels>,
    /// Width of a cell.
    pub(crate) advance: f32,
    pub(crate) line_height: Pixels,
    /// The top of the window, in line heights from the top of the text.
    pub(crate) top: f64,
    /// Pixels the text is shifted to the left.
    pub(crate) scroll_x: f64,
    /// The furthest that `scroll_x` may go.
    pub(crate) most_x: f64,
    /// Height of the window in line heights.
    pub(crate) visible_rows: f64,
    /// Height of everything in line heights.
    pub(crate) total_rows: f64,
    /// The buffer rows in sight.
    pub(crate) buffer_rows: Range<Row>,
    /// How many rows the headers at the top cover.
    pub(crate) sticky_rows: usize,
}

impl Geometry {
    /// The pixel where a cell begins.
    pub(crate) fn x_of(&self, cell: u32) -> Pixels {
        // As in `y_of`: only what is left after the subtraction may become f32.
        self.text.left() + px((f64::from(cell) * f64::from(self.advance) - self.scroll_x) as f32)
    }

    /// The pixel where a height begins, given in line heights from the top of the text.
    pub(crate) fn y_of(&self, y: f64) -> Pixels {
        // The difference is small whatever the length of the text, so that nothing is lost in f32.
        self.bounds.top() + px(((y - self.top) * f64::from(f32::from(self.line_height))) as f32)
    }

    /// The height at a pixel, in line heights from the top of the text.
    pub(crate) fn height_at(&self, y: Pixels) -> f64 {
        self.top
            + f64::from(f32::from(y - self.bounds.top())) / f64::from(f32::from(self.line_height))
    }

    /// The cell border nearest to a pixel.
    pub(crate) fn cell_at(&self, x: Pixels) -> u32 {
        let cell =
            (f64::from(f32::from(x - self.text.left())) + self.scroll_x) / f64::from(self.advance);
        cell.round().max(0.0) as u32
    }

    /// The place nearest to a pixel; may lie behind the end of its row.
    pub(crate) fn point_at(
        &self,
        position: Point<Pixels>,
        display: &DisplaySnapshot,
    ) -> DisplayPoint {
        let height = self.height_at(position.y);
        let row = match height < 0.0 {
            true => display.row_at_y(0.0),
            false => display.row_at_y(height),
        };
        DisplayPoint {
            row,
            cell: self.cell_at(position.x),
        }
    }

    /// What lies under a pixel.
    pub(crate) fn area_at(&self, position: Point<Pixels>) -> Area {
        if self.vertical.contains(&position) {
            Area::Vertical
        } else if self.most_x > 0.0
            && position.y >= self.horizontal().top()
            && position.x >= self.text.left()
        {
            Area::Horizontal
        } else if position.x >= self.text.left() {
            Area::Text
        } else if position.x >= self.folds.start && position.x < self.folds.end {
            Area::Folds
        } else {
            Area::Gutter
        }
    }

    /// The scrollbar at the bottom.
    pub(crate) fn horizontal(&self) -> Bounds<Pixels> {
        let thickness = px(10.0);
        Bounds::new(
            point(self.text.left(), self.bounds.bottom() - thickness),
            size(self.text.size.width, thickness),
        )
    }

    /// The room of a block.
    pub(crate) fn block_bounds(&self, y: f64, height: f64) -> Bounds<Pixels> {
        let top = self.y_of(y);
        let width = self.vertical.left() - self.bounds.left();
        Bounds::new(
            point(self.bounds.left(), top),
            size(width, self.y_of(y + height) - top),
        )
    }

    /// The room of a row at a height, from its first letter to the right edge.
    pub(crate) fn row_bounds(&self, y: f64) -> Bounds<Pixels> {
        Bounds::new(
            point(self.text.left(), self.y_of(y)),
            size(self.text.size.width, self.line_height),
        )
    }

    /// Where the handle of the vertical scrollbar lies, and how many line heights a pixel of it is.
    pub(crate) fn vertical_handle(&self, beyond_last: bool) -> Option<(Range<Pixels>, f64)> {
        let most = match beyond_last {
            true => (self.total_rows - 1.0).max(0.0),
            false => (self.total_rows - self.visible_rows).max(0.0),
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

    /// Where the handle of the horizontal scrollbar lies, and how many pixels of text one of it is.
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
