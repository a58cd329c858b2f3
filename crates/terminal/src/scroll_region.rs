//! The rows that a program scrolls, and the lines to which marks move with their text.
//!
//! The core does not tell its scroll region; it is set here by the same calls. Lines that scroll into the scrollback keep
//! their numbers: only scrolls within a part of the screen, and insertions, renumber lines.

use std::ops::Range;

use crate::position::{CellPosition, LineNumber};

/// The rows that scroll together: the whole screen unless the program chose a part of it (DECSTBM).
#[derive(Clone, Debug, Default)]
pub(crate) struct ScrollRegion(Option<Range<usize>>);

/// The direction in which text moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrollDirection {
    Up,
    Down,
}

/// A scroll of some lines, before it happens.
#[derive(Clone, Debug)]
pub(crate) struct RegionScroll {
    /// The lines of the rows that scroll.
    pub(crate) lines: Range<LineNumber>,
    /// Number of rows by which they scroll.
    pub(crate) count: u64,
    pub(crate) direction: ScrollDirection,
    /// Whether the rows that leave at the top enter the scrollback, so that the fixed rows below are renumbered instead.
    pub(crate) is_into_history: bool,
}

impl ScrollRegion {
    /// Sets the region to the rows from `top` to `bottom`, counted from 1, as the core does on a screen of `screen` rows.
    pub(crate) fn set(&mut self, top: usize, bottom: Option<usize>, screen: usize) {
        let bottom = bottom.unwrap_or(screen);
        // The core ignores such a region.
        if top < bottom {
            let rows = top.saturating_sub(1).min(screen)..bottom.min(screen);
            self.0 = (rows != (0..screen)).then_some(rows);
        }
    }

    /// Returns whether some rows are fixed.
    #[inline]
    pub(crate) fn is_partial(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the rows on a screen of `screen` rows.
    pub(crate) fn rows(&self, screen: usize) -> Range<usize> {
        self.0.clone().unwrap_or(0..screen)
    }
}

impl RegionScroll {
    /// Returns the first line that is renumbered.
    pub(crate) fn first(&self) -> LineNumber {
        if self.is_into_history {
            self.lines.end
        } else {
            self.lines.start
        }
    }

    /// Returns the line to which the text of a line moves; `None` if the text is removed.
    pub(crate) fn moved(&self, line: LineNumber) -> Option<LineNumber> {
        let Range { start, end } = self.lines;
        if self.is_into_history {
            let is_fixed = line >= end;
            return Some(line.below(if is_fixed { self.count } else { 0 }));
        }
        if line < start || line >= end {
            return Some(line);
        }
        match self.direction {
            ScrollDirection::Up => {
                (line >= start.below(self.count)).then(|| line.above(self.count))
            }
            ScrollDirection::Down => Some(line.below(self.count)).filter(|moved| *moved < end),
        }
    }

    /// Moves a position. One whose text is removed moves to the edge at which the text left.
    pub(crate) fn move_position(&self, position: &mut CellPosition) {
        *position = match (self.moved(position.line), self.direction) {
            (Some(line), _) => CellPosition::new(line, position.column),
            (None, ScrollDirection::Up) => CellPosition::new(self.lines.start, 0),
            (None, ScrollDirection::Down) => CellPosition::new(self.lines.end.above(1), 0),
        };
    }
}
