//! Screen positions: display rows, cells, and the options that determine both.
//!
//! A cell is one column of a monospaced grid. Start at `DisplayPoint`.

use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A row of text on the screen, counted from 0, after folding and wrapping. Blocks have a height
/// but no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DisplayRow(pub u32);

/// A position between two cells of a display row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DisplayPoint {
    /// Display row of the point.
    pub row: DisplayRow,
    /// Cells from the left edge; the hanging indent of a wrapped row counts.
    pub cell: u32,
}

/// Options that determine the positions of text: tab width and wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayOptions {
    /// Cells between two tab stops; 0 is treated as 1.
    pub tab_width: u32,
    /// Maximum cells per row before it wraps; `None` never wraps.
    pub wrap: Option<u32>,
}

impl DisplayPoint {
    /// Creates the point before `cell` in `row`.
    pub fn new(row: u32, cell: u32) -> Self {
        Self {
            row: DisplayRow(row),
            cell,
        }
    }
}

impl Default for DisplayOptions {
    fn default() -> Self {
        Self {
            tab_width: 4,
            wrap: None,
        }
    }
}

impl Add<u32> for DisplayRow {
    type Output = Self;
    fn add(self, count: u32) -> Self {
        Self(self.0.saturating_add(count))
    }
}

impl AddAssign<u32> for DisplayRow {
    fn add_assign(&mut self, count: u32) {
        *self = *self + count;
    }
}

impl Sub<u32> for DisplayRow {
    type Output = Self;
    fn sub(self, count: u32) -> Self {
        Self(self.0.saturating_sub(count))
    }
}

impl SubAssign<u32> for DisplayRow {
    fn sub_assign(&mut self, count: u32) {
        *self = *self - count;
    }
}

impl Sub for DisplayRow {
    type Output = u32;
    fn sub(self, other: Self) -> u32 {
        self.0.saturating_sub(other.0)
    }
}
