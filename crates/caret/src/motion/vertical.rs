//! Motions over display rows, with their goal column.

use base::{Bias, ByteOffset};
use display::{DisplayPoint, DisplayRow};

use super::Motion;
use crate::context::CommandContext;

/// Returns the target of a motion over display rows, and the goal cell for the next one. Up from
/// the first row goes to the start of the text, down from the last row to its end.
pub(super) fn by_rows(
    ctx: &CommandContext,
    motion: Motion,
    head: ByteOffset,
    goal: Option<u32>,
) -> (ByteOffset, u32) {
    // A caret is painted before inlays at its offset.
    let point = ctx.display.to_display(head, Bias::Left);
    let goal = goal.unwrap_or(point.cell);
    let page = ctx.options.page_rows.max(2);
    let offset = match motion {
        Motion::Up => ctx
            .display
            .row_above(point, goal)
            .map(|above| to_offset(ctx, above)),
        Motion::Down => ctx
            .display
            .row_below(point, goal)
            .map(|below| to_offset(ctx, below)),
        Motion::PageUp => jump_up(ctx, point, goal, page - 1),
        Motion::HalfPageUp => jump_up(ctx, point, goal, page / 2),
        Motion::PageDown => jump_down(ctx, point, goal, page - 1),
        _ => jump_down(ctx, point, goal, page / 2),
    };
    let is_up = matches!(motion, Motion::Up | Motion::PageUp | Motion::HalfPageUp);
    let edge = if is_up {
        ByteOffset(0)
    } else {
        ctx.snapshot.len()
    };
    (offset.unwrap_or(edge), goal)
}

/// Returns the offset at cell `goal`, `rows` display rows above `point` or in the first one. `None`
/// if `point` is in the first row.
fn jump_up(ctx: &CommandContext, point: DisplayPoint, goal: u32, rows: u32) -> Option<ByteOffset> {
    if point.row.0 == 0 {
        return None;
    }
    let row = point.row - rows;
    Some(at_cell(ctx, row, goal))
}

/// Returns the offset at cell `goal`, `rows` display rows below `point` or in the last one. `None`
/// if `point` is in the last row.
fn jump_down(
    ctx: &CommandContext,
    point: DisplayPoint,
    goal: u32,
    rows: u32,
) -> Option<ByteOffset> {
    let last = ctx.display.last_row();
    if point.row >= last {
        return None;
    }
    let row = (point.row + rows).min(last);
    Some(at_cell(ctx, row, goal))
}

/// Returns the offset in a display row nearest to a cell. For a cell beyond the end of the row,
/// returns the end of the row.
pub(crate) fn at_cell(ctx: &CommandContext, row: DisplayRow, cell: u32) -> ByteOffset {
    let cell = cell.min(ctx.display.max_cell(row));
    to_offset(ctx, DisplayPoint { row, cell })
}

fn to_offset(ctx: &CommandContext, point: DisplayPoint) -> ByteOffset {
    ctx.display.to_buffer(point, Bias::Left)
}

/// The start of the display row of `head`; if `head` is there, the start of its row.
pub(super) fn display_row_start(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    let row = ctx.display.to_display(head, Bias::Left).row;
    let start = to_offset(ctx, DisplayPoint { row, cell: 0 });
    let (buffer_row, is_first) = ctx.display.buffer_row(row);
    if !is_first && start < head {
        return start;
    }
    let line_row = ctx.display.joined_rows(buffer_row).start;
    let first = super::horizontal::first_non_blank(ctx.snapshot, line_row);
    let is_shown_here = ctx.display.to_display(first, Bias::Left).row == row;
    if head != first && (is_shown_here || !is_first) && !is_hidden(ctx, first) {
        first
    } else {
        ctx.snapshot.row_start(line_row)
    }
}

/// The end of the display row of `head`; if `head` is there, the end of its line including folds.
pub(super) fn display_row_end(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    let row = ctx.display.to_display(head, Bias::Left).row;
    let end_of = |row| {
        to_offset(
            ctx,
            DisplayPoint {
                row,
                cell: u32::MAX,
            },
        )
    };
    let end = end_of(row);
    if end != head {
        return end;
    }
    let (buffer_row, _) = ctx.display.buffer_row(row);
    end_of(ctx.display.rows_of(buffer_row).end - 1)
}

/// Returns whether a fold hides the byte at `offset`.
fn is_hidden(ctx: &CommandContext, offset: ByteOffset) -> bool {
    ctx.display.fold_containing(offset).is_some()
}
