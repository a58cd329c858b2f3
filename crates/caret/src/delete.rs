//! Deleting: graphemes with a sense for indentation and pairs, words, and anything a motion spans.
//!
//! Start at `delete`.

use base::{ByteOffset, Span};
use text::{EditKind, Selection};

use crate::context::{Context, Plan};
use crate::draft::{Swap, replace_each};
use crate::motion::{self, Motion};

/// Deletes what is selected, or from each caret to where the motion goes.
pub(crate) fn delete(ctx: &Context, motion: Motion) -> Plan {
    let is_absolute = matches!(motion, Motion::Offset(_) | Motion::Row(_));
    replace_each(ctx, EditKind::Deleting, |selection| {
        let is_other = is_absolute && selection != ctx.selections.primary();
        let span = match selection.is_empty() {
            false => selection.span(),
            true if is_other => selection.span(),
            true => reach(ctx, motion, selection),
        };
        Swap::caret_behind(span, "")
    })
}

/// What an empty selection deletes.
fn reach(ctx: &Context, motion: Motion, selection: &Selection) -> Span {
    let head = selection.head;
    let end = match motion {
        Motion::Left => return backspace(ctx, head),
        Motion::WordLeft => blanks_before(ctx, head),
        Motion::WordRight => blanks_behind(ctx, head),
        // At the end of its row the caret takes the line ending, so that holding the key goes on.
        Motion::RowEnd if head == row_end(ctx, head) => Some(ctx.snapshot.next_grapheme(head)),
        Motion::RowStart => Some(to_row_start(ctx, head)),
        Motion::MatchingBracket => Some(crate::brackets::other_edge(ctx, head)),
        _ => None,
    };
    let end = end.unwrap_or_else(|| motion::target(ctx, motion, head, selection.goal).0);
    Span::new(head, end)
}

fn row_end(ctx: &Context, head: ByteOffset) -> ByteOffset {
    ctx.snapshot.row_end(ctx.snapshot.point_at(head).row)
}

/// At the start of a row that is the line ending before, else the start of the row.
fn to_row_start(ctx: &Context, head: ByteOffset) -> ByteOffset {
    let start = ctx.snapshot.row_start(ctx.snapshot.point_at(head).row);
    if head == start {
        ctx.snapshot.previous_grapheme(head)
    } else {
        start
    }
}

/// One grapheme; within the spaces that indent a row all up to the tab stop before; between a pair
/// that closes itself both halves.
fn backspace(ctx: &Context, head: ByteOffset) -> Span {
    if let Some(pair) = empty_pair(ctx, head) {
        return pair;
    }
    let previous = ctx.snapshot.previous_grapheme(head);
    let row_start = ctx.snapshot.row_start(ctx.snapshot.point_at(head).row);
    let blanks = ctx
        .snapshot
        .chars_before(head)
        .take_while(|char| is_blank(*char));
    if head - blanks.count() > row_start {
        return Span::new(previous, head);
    }
    let width = ctx.options.tab_width.max(1);
    let mut cells = 0;
    let mut spaces = 0;
    for char in ctx.snapshot.text(Span::new(row_start, head)).chars() {
        match char {
            '\t' => (cells, spaces) = ((cells / width + 1) * width, 0),
            _ => (cells, spaces) = (cells + 1, spaces + 1),
        }
    }
    let to_stop = match cells % width {
        0 => width,
        past => past,
    };
    match spaces.min(to_stop) {
        0 => Span::new(previous, head),
        count => Span::new(head - count as usize, head),
    }
}

/// The opener before and the closer behind a caret, where they are a pair that closes itself.
fn empty_pair(ctx: &Context, head: ByteOffset) -> Option<Span> {
    if !ctx.options.auto_close {
        return None;
    }
    let before = ctx.snapshot.chars_before(head).next()?;
    let after = ctx.snapshot.chars_at(head).next()?;
    let mut buffers = ([0; 4], [0; 4]);
    let open: &str = before.encode_utf8(&mut buffers.0);
    let close: &str = after.encode_utf8(&mut buffers.1);
    let is_pair = crate::insert::pairs(ctx)
        .iter()
        .any(|pair| pair.open == open && pair.close == close);
    is_pair.then(|| Span::new(head - open.len(), head + close.len()))
}

/// Two or more blanks before a caret are deleted alone, without the word before them.
fn blanks_before(ctx: &Context, head: ByteOffset) -> Option<ByteOffset> {
    let blanks = ctx
        .snapshot
        .chars_before(head)
        .take_while(|char| is_blank(*char));
    let (count, len) = blanks.fold((0, 0), |(count, len), char| {
        (count + 1, len + char.len_utf8())
    });
    (count > 1).then(|| head - len)
}

fn blanks_behind(ctx: &Context, head: ByteOffset) -> Option<ByteOffset> {
    let blanks = ctx
        .snapshot
        .chars_at(head)
        .take_while(|char| is_blank(*char));
    let (count, len) = blanks.fold((0, 0), |(count, len), char| {
        (count + 1, len + char.len_utf8())
    });
    (count > 1).then(|| head + len)
}

fn is_blank(char: char) -> bool {
    char == ' ' || char == '\t'
}
