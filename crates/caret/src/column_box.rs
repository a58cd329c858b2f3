//! A box of display cells.

use display::DisplayPoint;

/// A rectangular selection between two corners of the display; either may lie beyond the end of its
/// row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnBox {
    /// The corner that stays.
    pub anchor: DisplayPoint,
    /// The corner that moves.
    pub head: DisplayPoint,
}
