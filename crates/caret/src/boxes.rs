//! Selecting a box of display cells, also where rows are shorter than it.
//!
//! Start at `ColumnBox`.

use display::DisplayPoint;

/// A box between two corners of the display; either may lie behind the end of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnBox {
    /// The corner that stays.
    pub anchor: DisplayPoint,
    /// The corner that moves.
    pub head: DisplayPoint,
}
