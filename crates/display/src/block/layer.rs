//! The block layer: visible blocks, their positions between rows, and the total height.
//!
//! Invariant: blocks are sorted by screen position; at one border of two rows, those below the
//! upper row precede those above the lower one.

use std::cmp::Ordering;
use std::ops::Range;

use sum_tree::{ContextLessSummary, Item, SeekTarget, SumTree};
use text::SpanSet;

use super::{BlockId, BlockMark, PARTS, PlacedBlock, Placement, height_in_lines};
use crate::position::DisplayRow;
use crate::shown_text::ShownText;
use crate::wrap::{DisplayRowEdit, WrapTree};

/// Positions of the visible blocks among the display rows, for converting between rows and heights.
/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct BlockLayer {
    blocks: SumTree<BlockItem>,
}

#[derive(Clone, Copy, Debug)]
struct BlockItem {
    /// Difference of its slot to the previous one.
    gap: u64,
    height: u64,
    id: BlockId,
    placement: Placement,
}

/// Twice the following row, plus one for blocks above that row.
fn slot(before: u32, placement: Placement) -> u64 {
    u64::from(before) * 2 + u64::from(placement == Placement::Above)
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockStack {
    slot: u64,
    height: u64,
}

impl BlockStack {
    /// Returns the bottom of the last block, in parts.
    fn bottom(&self) -> u64 {
        self.slot / 2 * PARTS + self.height
    }
}

impl ContextLessSummary for BlockStack {
    fn zero() -> Self {
        Self::default()
    }

    fn add_summary(&mut self, next: &Self) {
        self.slot += next.slot;
        self.height += next.height;
    }
}

impl Item for BlockItem {
    type Summary = BlockStack;

    fn summary(&self, (): ()) -> BlockStack {
        BlockStack {
            slot: self.gap,
            height: self.height,
        }
    }
}

struct AtSlot(u64);

impl SeekTarget<'_, BlockStack, BlockStack> for AtSlot {
    fn cmp(&self, place: &BlockStack, (): ()) -> Ordering {
        self.0.cmp(&place.slot)
    }
}

/// Seeks the first block that ends below a height.
struct AtHeight(u64);

impl SeekTarget<'_, BlockStack, BlockStack> for AtHeight {
    fn cmp(&self, place: &BlockStack, (): ()) -> Ordering {
        self.0.cmp(&place.bottom())
    }
}

impl BlockLayer {
    /// Creates a layer without blocks.
    pub(crate) fn new() -> Self {
        Self {
            blocks: SumTree::new(()),
        }
    }

    /// Returns the top of a display row, above the blocks that precede the row, in parts of a line
    /// height. For the row number after the last row, returns the total height.
    pub(crate) fn y_of(&self, row: u32) -> u64 {
        let target = AtSlot(slot(row, Placement::Above));
        let (start, _, _) = self
            .blocks
            .find::<BlockStack, _>((), &target, sum_tree::Bias::Right);
        u64::from(row) * PARTS + start.height
    }

    /// Returns the display row at a height in parts of a line height. For a height within a block,
    /// returns the row after the block. The result may exceed the last row.
    pub(crate) fn row_at(&self, y: u64) -> u64 {
        let (start, end, block) =
            self.blocks
                .find::<BlockStack, _>((), &AtHeight(y), sum_tree::Bias::Right);
        match block {
            Some(_) if y >= end.slot / 2 * PARTS + start.height => end.slot / 2,
            _ => (y - start.height) / PARTS,
        }
    }

    /// Returns the blocks that overlap a range of heights, in parts of a line height, from top to
    /// bottom.
    pub(crate) fn blocks_in(&self, y: Range<u64>) -> Vec<PlacedBlock> {
        let mut cursor = self.blocks.cursor::<BlockStack>(());
        cursor.seek(&AtHeight(y.start), sum_tree::Bias::Right);
        let mut found = Vec::new();
        while let Some(block) = cursor.item() {
            let end = cursor.end();
            let top = end.bottom() - block.height;
            if top >= y.end {
                break;
            }
            found.push(PlacedBlock {
                id: block.id,
                placement: block.placement,
                before: DisplayRow(u32::try_from(end.slot / 2).unwrap_or(u32::MAX)),
                y: height_in_lines(top),
                height: height_in_lines(block.height),
            });
            cursor.next();
        }
        found
    }

    /// Applies row edits, sorted and disjoint: repositions the blocks of the affected lines and
    /// shifts the others.
    pub(crate) fn sync(
        &mut self,
        edits: &[DisplayRowEdit],
        marks: &SpanSet<BlockMark>,
        shown: &ShownText,
        wrap: &WrapTree,
    ) {
        if marks.is_empty() && self.blocks.is_empty() {
            return;
        }
        let old = std::mem::replace(&mut self.blocks, SumTree::new(()));
        let mut cursor = old.cursor::<BlockStack>(());
        cursor.next();
        let mut builder = BlockTreeBuilder {
            blocks: SumTree::new(()),
            slot: 0,
        };
        let mut shift = 0_i64;
        for edit in edits {
            // Blocks of these lines lie above their first row or before their end.
            let first = slot(edit.old_rows.start, Placement::Above);
            let last = slot(edit.old_rows.end, Placement::Below);
            builder.copy_before(&mut cursor, first, shift);
            while let Some(_block) = cursor.item()
                && cursor.end().slot <= last
            {
                cursor.next();
            }
            for (slot, mark) in placed_in(&edit.lines, marks, shown, wrap) {
                builder.push(slot, mark.height, mark.id, mark.placement);
            }
            shift = 2 * (i64::from(edit.new_rows.end) - i64::from(edit.old_rows.end));
        }
        builder.copy_before(&mut cursor, u64::MAX, shift);
        self.blocks = builder.blocks;
    }
}

/// The visible blocks of some lines and their slots, in order.
fn placed_in(
    line_range: &Range<u32>,
    marks: &SpanSet<BlockMark>,
    shown: &ShownText,
    wrap: &WrapTree,
) -> Vec<(u64, BlockMark)> {
    if line_range.is_empty() {
        return Vec::new();
    }
    let start = shown.line_span(line_range.start).bytes.start;
    // The line ending belongs to the line, because an edit may have moved a mark into it.
    let last_row = shown.line_span(line_range.end - 1).rows.end - 1;
    let end = shown.buffer.row_span_with_ending(base::Row(last_row)).end;
    let is_last = line_range.end == shown.line_count();
    let mut placed: Vec<(u64, BlockMark)> = marks
        .from(start.0)
        .take_while(|placed| placed.span.start < end || is_last)
        .filter_map(|placed| {
            let at = placed.span.start;
            let row = shown.buffer.point_at(at).row.0;
            let line = shown.line_at(at);
            let rows = shown.line_span(line).rows;
            let before = match placed.mark.placement {
                Placement::Above if row == rows.start => wrap.first_row(line),
                Placement::Below if row + 1 == rows.end => wrap.first_row(line + 1),
                _ => return None,
            };
            Some((slot(before, placed.mark.placement), placed.mark))
        })
        .collect();
    placed.sort_by_key(|(slot, mark)| (*slot, mark.priority, mark.id));
    placed
}

struct BlockTreeBuilder {
    blocks: SumTree<BlockItem>,
    /// The slot of the last block.
    slot: u64,
}

impl BlockTreeBuilder {
    fn push(&mut self, slot: u64, height: u64, id: BlockId, placement: Placement) {
        let block = BlockItem {
            gap: slot.saturating_sub(self.slot),
            height,
            id,
            placement,
        };
        self.slot += block.gap;
        self.blocks.push(block, ());
    }

    /// Copies the blocks before a slot. Only the first block's distance changes.
    fn copy_before(
        &mut self,
        cursor: &mut sum_tree::Cursor<'_, '_, BlockItem, BlockStack>,
        limit: u64,
        shift: i64,
    ) {
        let Some(first) = cursor.item() else {
            return;
        };
        let first_slot = cursor.end().slot;
        if first_slot >= limit {
            return;
        }
        let moved = first_slot.saturating_add_signed(shift);
        self.push(moved, first.height, first.id, first.placement);
        cursor.next();
        let run = cursor.slice(&AtSlot(limit), sum_tree::Bias::Left);
        self.slot += run.summary().slot;
        self.blocks.append(run, ());
    }
}
