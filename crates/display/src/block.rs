//! Blocks: room of any height between two rows, for diff hunks, notes, previews.

use base::Row;

use crate::position::DisplayRow;

/// Names a block; given out by the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u64);

/// On which side of its row a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Before the first display row of the buffer row; hidden while that row is folded into an
    /// earlier one.
    Above,
    /// After the last display row of the buffer row; hidden while a later row is folded into it.
    Below,
}

/// A block to insert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSpec {
    /// The buffer row it belongs to; it moves with that row's text.
    pub row: Row,
    /// On which side of the row.
    pub placement: Placement,
    /// Its height in line heights, kept to 1/65536 of a line.
    pub height: f32,
    /// Among blocks at one place the smaller comes first, then the older.
    pub priority: i32,
}

/// A block and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedBlock {
    /// Its name.
    pub id: BlockId,
    /// On which side of the row it lies.
    pub placement: Placement,
    /// The display row that follows it; one past the last row for a block at the very end.
    pub before: DisplayRow,
    /// Its top, in line heights from the top of the text.
    pub y: f64,
    /// Its height in line heights.
    pub height: f64,
}
