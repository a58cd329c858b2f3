//! Where a view is scrolled to: a place in the text and a distance from it.
//!
//! Invariant: the place follows edits, so that text above the window may come and go without what is in
//! the window moving. Nothing here counts pixels from the top of the file, so no file is too long.
//! Heights are in line heights. Start at `Scroll`.

use base::{Bias, ByteOffset};
use display::{DisplayPoint, DisplayRow, DisplaySnapshot};
use text::Change;

/// A scroll position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scroll {
    /// The start of the row at the top, or one before it.
    anchor: ByteOffset,
    /// Line heights from the top of that row to the top of the window.
    below: f64,
    /// Pixels that the text is shifted to the left.
    pub(crate) x: f64,
}

/// What the window can show of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Viewport {
    /// Its height in line heights.
    pub(crate) rows: f64,
    /// Whether the last row may stand at the top.
    pub(crate) beyond_last: bool,
}

impl Scroll {
    /// At the top.
    pub(crate) fn new() -> Self {
        Self {
            anchor: ByteOffset(0),
            below: 0.0,
            x: 0.0,
        }
    }

    /// The place at the top and the distance from it, to be kept between sessions.
    pub(crate) fn parts(&self) -> (ByteOffset, f64) {
        (self.anchor, self.below)
    }

    /// The position made of such parts.
    pub(crate) fn from_parts(anchor: ByteOffset, below: f64) -> Self {
        Self {
            anchor,
            below,
            x: 0.0,
        }
    }

    /// The top of the window, in line heights from the top of the text.
    pub(crate) fn top(&self, display: &DisplaySnapshot) -> f64 {
        let row = display.to_display(self.anchor, Bias::Left).row;
        (display.y_of(row) + self.below).max(0.0)
    }

    /// Scrolls to a top, as far as the text goes.
    pub(crate) fn set_top(&mut self, top: f64, display: &DisplaySnapshot, viewport: Viewport) {
        let top = top.min(Self::lowest_top(display, viewport)).max(0.0);
        let row = display.row_at_y(top);
        self.anchor = display.to_buffer(DisplayPoint { row, cell: 0 }, Bias::Left);
        self.below = top - display.y_of(row);
    }

    /// The lowest that the top of the window may go.
    pub(crate) fn lowest_top(display: &DisplaySnapshot, viewport: Viewport) -> f64 {
        let height = display.total_height();
        match viewport.beyond_last {
            true => (height - 1.0).max(0.0),
            false => (height - viewport.rows).max(0.0),
        }
    }

    /// Keeps the place over a change.
    pub(crate) fn follow(&mut self, change: &Change) {
        self.anchor = change.map(self.anchor, Bias::Left);
    }
}

/// How near to the edges a row may come before the window follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// It keeps the margin; far away it comes to the middle.
    Fit,
    /// It comes to the middle.
    Center,
}

/// The top that brings a row into the window.
pub(crate) fn top_showing(
    row: DisplayRow,
    follow: Follow,
    top: f64,
    margin: f64,
    display: &DisplaySnapshot,
    viewport: Viewport,
) -> f64 {
    let y = display.y_of(row);
    let middle = y - (viewport.rows - 1.0) / 2.0;
    match follow {
        Follow::Center => middle,
        Follow::Fit => {
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

#[cfg(test)]
mod tests;
