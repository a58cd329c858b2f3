//! Scroll position of a view: an anchor in the text and a distance from it.
//!
//! Invariant: the anchor is mapped through edits, so that edits above the window do not move its
//! content. No position counts pixels from the top of the file, so no file is too long.
//! Heights are in line heights. Start at `Scroll`.

use base::{Bias, ByteOffset};
use display::{DisplayPoint, DisplayRow, DisplaySnapshot};
use text::Change;

/// Scroll position of a view, anchored at an offset so that edits above do not move the text in the
/// window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scroll {
    /// Start of the row at the top, or of one before it.
    anchor: ByteOffset,
    /// Line heights from the top of that row to the top of the window.
    below: f64,
    /// Horizontal scroll position, in pixels.
    pub(crate) x: f64,
}

/// The height of the window, and the limit of scrolling down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Viewport {
    /// Height of the window, in line heights.
    pub(crate) rows: f64,
    /// Whether the last row may scroll to the top.
    pub(crate) beyond_last: bool,
}

impl Scroll {
    /// Returns the position at the top of the text.
    pub(crate) fn new() -> Self {
        Self {
            anchor: ByteOffset(0),
            below: 0.0,
            x: 0.0,
        }
    }

    /// Returns the offset of the row at the top, and the line heights from it to the top of the
    /// window, for storing between sessions.
    pub(crate) fn anchor_and_offset(&self) -> (ByteOffset, f64) {
        (self.anchor, self.below)
    }

    /// Creates a position from stored values.
    pub(crate) fn from_parts(anchor: ByteOffset, below: f64) -> Self {
        Self {
            anchor,
            below,
            x: 0.0,
        }
    }

    /// Returns the top of the window, in line heights from the top of the text.
    pub(crate) fn top(&self, display: &DisplaySnapshot) -> f64 {
        let row = display.to_display(self.anchor, Bias::Left).row;
        (display.y_of(row) + self.below).max(0.0)
    }

    /// Scrolls so that the window's top is `top` line heights from the top of the text, clipped to
    /// the text.
    pub(crate) fn set_top(&mut self, top: f64, display: &DisplaySnapshot, viewport: Viewport) {
        let top = top.min(Self::lowest_top(display, viewport)).max(0.0);
        let row = display.row_at_y(top);
        self.anchor = display.to_buffer(DisplayPoint { row, cell: 0 }, Bias::Left);
        self.below = top - display.y_of(row);
    }

    /// Returns the maximum of the window's top, in line heights from the top of the text.
    pub(crate) fn lowest_top(display: &DisplaySnapshot, viewport: Viewport) -> f64 {
        let height = display.total_height();
        if viewport.beyond_last {
            (height - 1.0).max(0.0)
        } else {
            (height - viewport.rows).max(0.0)
        }
    }

    /// Maps the anchor through a change, so that the same text stays at the top.
    pub(crate) fn follow(&mut self, change: &Change) {
        self.anchor = change.map(self.anchor, Bias::Left);
    }
}

/// Scroll behaviour for revealing a row: with a margin, or centred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrollMargin {
    /// Keeps a margin; centres the row if it is far away.
    Fit,
    /// Centres the row in the window.
    Center,
    /// Centres the row, but shows the start of the blocks above it even if the row is then below the window.
    CenterWithBlocks,
}

/// Returns the top of the window that reveals a row, in line heights. `top` is the present top, and
/// `margin` the distance to keep from the edges. The result may lie outside the text.
pub(crate) fn top_showing(
    row: DisplayRow,
    follow: ScrollMargin,
    top: f64,
    margin: f64,
    display: &DisplaySnapshot,
    viewport: Viewport,
) -> f64 {
    let y = display.y_of(row);
    let middle = y - (viewport.rows - 1.0) / 2.0;
    match follow {
        ScrollMargin::Center => middle,
        ScrollMargin::CenterWithBlocks => middle.min(top_of_blocks(row, display)),
        ScrollMargin::Fit => {
            let margin = margin.min(((viewport.rows - 1.0) / 2.0).floor()).max(0.0);
            let (first, last) = (y - margin, y + 1.0 + margin - viewport.rows);
            let is_far = first < top - viewport.rows || last > top + viewport.rows;
            if is_far {
                middle
            } else {
                // A window lower than one row shows its top.
                top.max(last).min(first)
            }
        }
    }
}

/// Returns the top of the blocks above a row, in line heights; the top of the row if it has none.
fn top_of_blocks(row: DisplayRow, display: &DisplaySnapshot) -> f64 {
    match row.0.checked_sub(1) {
        Some(before) => display.y_of(DisplayRow(before)) + 1.0,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests;
