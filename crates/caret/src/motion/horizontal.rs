//! Motions within a row, and motions independent of the display.

use base::{ByteOffset, Row, Span};
use text::Snapshot;

use crate::context::CommandContext;

/// Returns the offset of the first character in a row other than a space or tab. For a row without
/// such a character, returns the end of the row.
pub(crate) fn first_non_blank(snapshot: &Snapshot, row: Row) -> ByteOffset {
    let start = snapshot.row_start(row);
    let blanks: usize = snapshot
        .chars_at(start)
        .take_while(|char| *char == ' ' || *char == '\t')
        .map(char::len_utf8)
        .sum();
    start + blanks
}

/// Returns whether a row is empty or contains only white space.
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

/// Returns the first non-blank character, or from there the start of the row.
pub(super) fn row_start(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    let row = ctx.snapshot.point_at(head).row;
    let first = first_non_blank(ctx.snapshot, row);
    if head == first {
        ctx.snapshot.row_start(row)
    } else {
        first
    }
}

/// Returns the blank row before the paragraph of the head, or the start of the text.
pub(super) fn paragraph_up(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    let snapshot = ctx.snapshot;
    let row = snapshot.point_at(head).row;
    let mut has_seen_text = !is_blank(snapshot, row);
    let mut end = snapshot.row_start(row);
    let mut is_row_blank = true;
    // The first line feed ends the row above, of which nothing has been examined yet.
    let mut is_first = true;
    while end.0 > 0 {
        let (piece, start) = snapshot.chunk_at(end - 1);
        for (ix, byte) in piece.as_bytes()[..end - start].iter().enumerate().rev() {
            match byte {
                b'\n' => {
                    if !is_first && is_row_blank && has_seen_text {
                        return start + ix + 1;
                    }
                    has_seen_text |= !is_first && !is_row_blank;
                    (is_first, is_row_blank) = (false, true);
                }
                _ => is_row_blank &= byte.is_ascii_whitespace(),
            }
        }
        end = start;
    }
    ByteOffset(0)
}

/// Returns the blank row after the paragraph of the head, or the end of the text.
pub(super) fn paragraph_down(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    let snapshot = ctx.snapshot;
    let row = snapshot.point_at(head).row;
    let mut has_seen_text = !is_blank(snapshot, row);
    let mut row_start = snapshot.row_start(row + 1);
    let mut is_row_blank = true;
    let mut at = row_start;
    for piece in snapshot.chunks(Span::new(row_start, snapshot.len())) {
        for byte in piece.bytes() {
            at += 1;
            match byte {
                b'\n' if is_row_blank && has_seen_text => return row_start,
                b'\n' => {
                    has_seen_text |= !is_row_blank;
                    (row_start, is_row_blank) = (at, true);
                }
                _ => is_row_blank &= byte.is_ascii_whitespace(),
            }
        }
    }
    if is_row_blank && has_seen_text {
        row_start
    } else {
        snapshot.len()
    }
}
