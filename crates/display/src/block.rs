//! Blocks: room of any height between two rows, for diff hunks, notes, previews.

use base::{Bias, Row, Span};
use text::Snapshot;

use crate::marks::{Mark, Placed};
use crate::position::DisplayRow;

pub(crate) use layer::BlockLayer;

mod layer;

/// The parts of a line height in which heights are counted, so that their sums are exact.
pub(crate) const PARTS: u64 = 1 << 16;

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

/// A block as it is kept: its place follows the text of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockMark {
    pub(crate) id: BlockId,
    pub(crate) placement: Placement,
    pub(crate) priority: i32,
    /// In parts of a line height.
    pub(crate) height: u64,
}

impl Mark for BlockMark {
    type Rank = (Placement, i32, BlockId);
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> Self::Rank {
        (self.placement, self.priority, self.id)
    }

    fn biases(&self) -> (Bias, Bias) {
        // A new row before the text pushes the block above it down; one behind it comes below
        // the block that follows the text.
        match self.placement {
            Placement::Above => (Bias::Right, Bias::Right),
            Placement::Below => (Bias::Left, Bias::Left),
        }
    }
}

impl BlockMark {
    /// The block as a mark in `buffer`.
    pub(crate) fn place(spec: &BlockSpec, id: BlockId, buffer: &Snapshot) -> Placed<Self> {
        let row = spec.row.min(buffer.last_row());
        let at = match spec.placement {
            Placement::Above => buffer.row_start(row),
            Placement::Below => buffer.row_end(row),
        };
        let mark = Self {
            id,
            placement: spec.placement,
            priority: spec.priority,
            height: parts(spec.height),
        };
        Placed {
            span: Span::at(at),
            mark,
        }
    }
}

/// A height in parts of a line height; nothing below zero, and no more than a billion lines.
pub(crate) fn parts(height: f32) -> u64 {
    let height = if height.is_nan() { 0.0 } else { height };
    (f64::from(height.clamp(0.0, 1e9)) * PARTS as f64).round() as u64
}

/// A number of parts as line heights; exact up to 2^53 parts.
pub(crate) fn lines(parts: u64) -> f64 {
    parts as f64 / PARTS as f64
}
