//! The rows of the source that the blocks come from, in both directions, and the blocks that an edit changed.

use std::ops::Range;

use super::{MarkdownBlock, MarkdownDocument};

impl MarkdownDocument {
    /// Returns the block of a row of the source, and the part of it that is above the row, from 0 to 1. Rows between two
    /// blocks belong to the upper one.
    pub fn position_of_row(&self, row: f64) -> (usize, f32) {
        let after = self
            .blocks
            .partition_point(|block| f64::from(block.rows.start) <= row);
        let Some(ix) = after.checked_sub(1) else {
            return (0, 0.0);
        };
        let rows = self.extent(ix);
        let part = (row - rows.start) / (rows.end - rows.start).max(1.0);
        let part = part.clamp(0.0, 1.0) as f32;
        (ix, part)
    }

    /// Returns the row of the source at a part of a block, from 0 to 1.
    pub fn row_of_position(&self, ix: usize, part: f32) -> f64 {
        if self.blocks.is_empty() {
            return 0.0;
        }
        let rows = self.extent(ix.min(self.blocks.len() - 1));
        rows.start + (rows.end - rows.start) * f64::from(part.clamp(0.0, 1.0))
    }

    /// Returns the rows from the start of a block to the next one that starts below it.
    fn extent(&self, ix: usize) -> Range<f64> {
        let start = self.blocks[ix].rows.start;
        let next = self.blocks[ix + 1..].iter().map(|block| block.rows.start);
        let next = next.take(MAX_IN_A_ROW).find(|next| *next > start);
        let end = next.unwrap_or(self.blocks[ix].rows.end.max(start + 1));
        f64::from(start)..f64::from(end)
    }

    /// Returns the blocks that differ from those of `before`: their place there, and their number here.
    pub fn changed_blocks(&self, before: &Self) -> (Range<usize>, usize) {
        let (old, new) = (&before.blocks, &self.blocks);
        let is_same = |pair: &(&MarkdownBlock, &MarkdownBlock)| pair.0.looks_like(pair.1);
        let start = old.iter().zip(new).take_while(is_same).count();
        let rest = (&old[start..], &new[start..]);
        let end = rest.0.iter().rev().zip(rest.1.iter().rev());
        let end = end.take_while(is_same).count();
        (start..old.len() - end, new.len() - end - start)
    }
}

/// Number of blocks that may begin in one row, such as the items of `- - - x`, before the search for the next row ends.
const MAX_IN_A_ROW: usize = 256;

impl MarkdownBlock {
    /// Returns whether both are drawn alike, wherever they are in the source.
    fn looks_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.quotes == other.quotes
            && self.indent == other.indent
            && self.marker == other.marker
    }
}
