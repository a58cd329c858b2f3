//! Blocks: areas of any height between two rows, for diff hunks, notes, previews.

use base::{Bias, Row, Span};
use text::{PlacedMark, Snapshot, SpanMark};

use crate::position::DisplayRow;

pub(crate) use layer::BlockLayer;

mod layer;

/// Resolution of heights: parts per line height, so that sums are exact.
pub(crate) const PARTS: u64 = 1 << 16;

/// Id of a block in one map, assigned by the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u64);

/// Side of its row on which a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Before the first display row of the buffer row; hidden while that row is folded into an
    /// earlier one.
    Above,
    /// After the last display row of the buffer row; hidden while a later row is folded into it.
    Below,
}

/// A block (a widget between two rows) to insert into a display map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSpec {
    /// Buffer row of the block, which moves with that row's text.
    pub row: Row,
    /// Side of the row.
    pub placement: Placement,
    /// Height in line heights, rounded to 1/65536 of a line.
    pub height: f32,
    /// Order among blocks at one position: smaller first, then older.
    pub priority: i32,
}

/// A block with its position on the display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedBlock {
    /// Id of the block.
    pub id: BlockId,
    /// Side of the row.
    pub placement: Placement,
    /// The following display row; one past the last row for a block at the end.
    pub before: DisplayRow,
    /// Its top, in line heights from the top of the text.
    pub y: f64,
    /// Its height in line heights.
    pub height: f64,
}

/// Stored block; its position follows the text of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockMark {
    pub(crate) id: BlockId,
    pub(crate) placement: Placement,
    pub(crate) priority: i32,
    /// Height in parts of a line height.
    pub(crate) height: u64,
}

impl SpanMark for BlockMark {
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
    /// Creates the stored form of a block in `buffer`. A row past the last one is clamped to the
    /// last row.
    pub(crate) fn to_mark(spec: &BlockSpec, id: BlockId, buffer: &Snapshot) -> PlacedMark<Self> {
        let row = spec.row.min(buffer.last_row());
        let at = match spec.placement {
            Placement::Above => buffer.row_start(row),
            Placement::Below => buffer.row_end(row),
        };
        let mark = Self {
            id,
            placement: spec.placement,
            priority: spec.priority,
            height: height_in_parts(spec.height),
        };
        PlacedMark {
            span: Span::at(at),
            mark,
        }
    }
}

/// Converts line heights into parts, clamped between zero and a billion lines.
pub(crate) fn height_in_parts(height: f32) -> u64 {
    let height = if height.is_nan() { 0.0 } else { height };
    (f64::from(height.clamp(0.0, 1e9)) * PARTS as f64).round() as u64
}

/// Converts parts into line heights; exact up to 2^53 parts.
pub(crate) fn height_in_lines(parts: u64) -> f64 {
    parts as f64 / PARTS as f64
}
