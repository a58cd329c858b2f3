//! Motions along a row, and to places that do not depend on the display.

use base::{ByteOffset, Row};
use text::Snapshot;

use crate::context::Context;

/// The first character of a row that is not blank; the row's end where all are.
pub(crate) fn first_non_blank(snapshot: &Snapshot, row: Row) -> ByteOffset {
    let start = snapshot.row_start(row);
    let blanks: usize = snapshot
        .chars_at(start)
        .take_while(|char| *char == ' ' || *char == '\t')
        .map(char::len_utf8)
        .sum();
    start + blanks
}

/// Whether a row holds nothing but blanks.
pub(crate) fn is_blank(snapshot: &Snapshot, row: Row) -> bool {
    let end = snapshot.row_end(row);
    let len = end - snapshot.row_start(row);
    let mut chars = snapshot.chars_at(snapshot.row_start(row));
    let mut at = 0;
    loop {
        match chars.next() {
            Some(char) if at < len && char.is_whitespace() => at += char.len_utf8(),
            _ => return at >= len,
        }
    }
}

/// To the first character that is not blank, or from there to the start of the row.
pub(super) fn row_start(ctx: &Context, head: ByteOffset) -> ByteOffset {
    let row = ctx.snapshot.point_at(head).row;
    let first = first_non_blank(ctx.snapshot, row);
    if head == first {
        ctx.snapshot.row_start(row)
    } else {
        first
    }
}

/// To the blank row before the paragraph the head is in, or to the start of the text.
pub(super) fn paragraph_up(ctx: &Context, head: ByteOffset) -> ByteOffset {
    let mut row = ctx.snapshot.point_at(head).row;
    let mut has_seen_text = !is_blank(ctx.snapshot, row);
    while row.0 > 0 {
        row -= 1;
        match is_blank(ctx.snapshot, row) {
            true if has_seen_text => return ctx.snapshot.row_start(row),
            is_blank => has_seen_text |= !is_blank,
        }
    }
    ByteOffset(0)
}

/// To the blank row behind the paragraph the head is in, or to the end of the text.
pub(super) fn paragraph_down(ctx: &Context, head: ByteOffset) -> ByteOffset {
    let last = ctx.snapshot.last_row();
    let mut row = ctx.snapshot.point_at(head).row;
    let mut has_seen_text = !is_blank(ctx.snapshot, row);
    while row < last {
        row += 1;
        match is_blank(ctx.snapshot, row) {
            true if has_seen_text => return ctx.snapshot.row_start(row),
            is_blank => has_seen_text |= !is_blank,
        }
    }
    ctx.snapshot.len()
}
