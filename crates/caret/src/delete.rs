//! Deleting: graphemes with a sense for indentation and pairs, words, and anything a motion spans.
//!
//! Start at `delete`.

use base::{ByteOffset, Span};
use syntax::AutoClose;
use text::{EditKind, Selection};

use crate::auto_close::pairs;
use crate::boxes;
use crate::context::{CaretPlan, CommandContext};
use crate::draft::{SelectionEdit, replace_each};
use crate::insert::{ends_with, starts_with};
use crate::motion::{self, Motion};
use crate::quotes;

/// Deletes the text of every selection. For an empty selection, deletes the text from the caret to
/// the target of the motion.
pub(crate) fn delete(ctx: &CommandContext, motion: Motion) -> CaretPlan {
    let is_absolute = matches!(motion, Motion::Offset(_) | Motion::Row(_));
    let is_box = boxes::is_box(ctx);
    let is_wide_box = is_box && ctx.selections.iter().any(|selection| !selection.is_empty());
    let mut unfold = Vec::new();
    let plan = replace_each(ctx, EditKind::Deleting, |selection| {
        let is_other = is_absolute && selection != ctx.selections.primary();
        if !selection.is_empty() || is_other || is_wide_box {
            return SelectionEdit::caret_behind(selection.span(), "");
        }
        let mut span = reach(ctx, motion, selection);
        if is_box {
            span = within_row(ctx, selection.head, span);
        }
        if let Some(fold) = fold_in_reach(ctx, selection.head, span) {
            unfold.push(fold);
            return SelectionEdit::caret_at(selection.head);
        }
        SelectionEdit::caret_behind(span, "")
    });
    let plan = CaretPlan { unfold, ..plan };
    if is_box {
        boxes::remember_box(ctx, plan)
    } else {
        plan
    }
}

/// Limits a span to the row of `head`, so that a box never deletes line endings.
fn within_row(ctx: &CommandContext, head: ByteOffset, span: Span) -> Span {
    let row = ctx.snapshot.row_span(ctx.snapshot.point_at(head).row);
    Span::new(
        span.start.clamp(row.start, row.end),
        span.end.clamp(row.start, row.end),
    )
}

/// The fold that a deletion from `head` ends in, or deletes without reaching visible text behind it. Such a
/// deletion unfolds instead, because its text is hidden.
fn fold_in_reach(ctx: &CommandContext, head: ByteOffset, span: Span) -> Option<Span> {
    let end = if span.start == head {
        span.end
    } else {
        span.start
    };
    let holds = |fold: &Span, at| fold.start <= at && at <= fold.end;
    let folds = ctx.display.folds_in(span);
    folds.into_iter().find(|fold| holds(fold, end))
}

/// Returns the span that an empty selection deletes.
fn reach(ctx: &CommandContext, motion: Motion, selection: &Selection) -> Span {
    let head = selection.head;
    if matches!(
        motion,
        Motion::Left | Motion::WordLeft | Motion::SubwordLeft
    ) && let Some(pair) = empty_pair(ctx, head)
    {
        return pair;
    }
    let end = match motion {
        Motion::Left => return backspace(ctx, head),
        Motion::WordLeft => blanks_before(ctx, head),
        Motion::WordRight => blanks_behind(ctx, head),
        // At the end of the row, deletes the line ending, so that repeating the key continues.
        Motion::RowEnd if head == row_end(ctx, head) => Some(ctx.snapshot.next_grapheme(head)),
        Motion::RowStart => Some(to_row_start(ctx, head)),
        Motion::MatchingBracket => Some(crate::brackets::other_edge(ctx, head)),
        _ => None,
    };
    let end = end.unwrap_or_else(|| motion::target(ctx, motion, head, selection.goal).0);
    match motion {
        Motion::WordLeft | Motion::SubwordLeft | Motion::RowStart => {
            Span::new(end, closers_behind(ctx, head, end))
        }
        _ => Span::new(head, end),
    }
}

fn row_end(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    ctx.snapshot.row_end(ctx.snapshot.point_at(head).row)
}

/// Returns the start of the row; at the start of a row, the previous line ending.
fn to_row_start(ctx: &CommandContext, head: ByteOffset) -> ByteOffset {
    let start = ctx.snapshot.row_start(ctx.snapshot.point_at(head).row);
    if head == start {
        ctx.snapshot.previous_grapheme(head)
    } else {
        start
    }
}

/// Returns one grapheme, or within the indentation all spaces back to the previous tab stop.
fn backspace(ctx: &CommandContext, head: ByteOffset) -> Span {
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

/// Returns the span of the opener before and the closer after a caret, if they are an auto-close pair. It
/// includes only the last character of a longer opener.
fn empty_pair(ctx: &CommandContext, head: ByteOffset) -> Option<Span> {
    if !ctx.options.auto_close {
        return None;
    }
    let before = ctx.snapshot.chars_before(head).next()?;
    if let Some(close) = closer_of(ctx, head, head) {
        return Some(Span::new(head - before.len_utf8(), close));
    }
    let is_around = |pair: &&AutoClose| {
        pair.open.len() > 1
            && pair.open != pair.close
            && ends_with(ctx, head, pair.open)
            && starts_with(ctx, head, pair.close)
    };
    let pair = pairs(ctx).iter().find(is_around)?;
    let start = head - before.len_utf8();
    Some(Span::new(start, head + pair.close.len()))
}

/// The end of the closer at `behind`, if it pairs with the opener right before `before`.
fn closer_of(ctx: &CommandContext, before: ByteOffset, behind: ByteOffset) -> Option<ByteOffset> {
    let open = ctx.snapshot.chars_before(before).next()?;
    let close = ctx.snapshot.chars_at(behind).next()?;
    let is_pair = pairs(ctx)
        .iter()
        .any(|pair| pair.open.chars().eq([open]) && pair.close.chars().eq([close]));
    let is_pair = is_pair && (open != close || are_halves(ctx, before, behind, open));
    is_pair.then(|| behind + close.len_utf8())
}

/// Whether the quotes on both sides are an empty string, rather than the end of one string and the start
/// of another.
fn are_halves(ctx: &CommandContext, before: ByteOffset, behind: ByteOffset, quote: char) -> bool {
    let is_quote = |char: &char| *char == quote;
    let opening = ctx.snapshot.chars_before(before).take_while(is_quote);
    let closing = ctx.snapshot.chars_at(behind).take_while(is_quote);
    let (opening, closing) = (opening.count(), closing.count());
    opening == closing && (opening > 1 || quotes::open_before(ctx, before) == Some(quote))
}

/// The end of the closers behind a caret whose openers lie between `start` and the caret, with only blanks
/// between the innermost pair.
fn closers_behind(ctx: &CommandContext, head: ByteOffset, start: ByteOffset) -> ByteOffset {
    let blanks = ctx.snapshot.chars_before(head);
    let blanks = blanks.take_while(|char| is_blank(*char)).count();
    let (mut before, mut behind) = (head - blanks, head);
    while ctx.options.auto_close
        && before > start
        && let Some(end) = closer_of(ctx, before, behind)
    {
        before = ctx.snapshot.previous_grapheme(before);
        behind = end;
    }
    behind
}

/// Returns the start of two or more blanks before a caret; deleting a word deletes them alone.
fn blanks_before(ctx: &CommandContext, head: ByteOffset) -> Option<ByteOffset> {
    let blanks = ctx
        .snapshot
        .chars_before(head)
        .take_while(|char| is_blank(*char));
    let (count, len) = blanks.fold((0, 0), |(count, len), char| {
        (count + 1, len + char.len_utf8())
    });
    (count > 1).then(|| head - len)
}

/// Returns the end of the spaces and tabs after `head`, if there are two or more; otherwise `None`.
fn blanks_behind(ctx: &CommandContext, head: ByteOffset) -> Option<ByteOffset> {
    let blanks = ctx
        .snapshot
        .chars_at(head)
        .take_while(|char| is_blank(*char));
    let (count, len) = blanks.fold((0, 0), |(count, len), char| {
        (count + 1, len + char.len_utf8())
    });
    (count > 1).then(|| head + len)
}

/// Returns whether a character is a space or a tab.
fn is_blank(char: char) -> bool {
    char == ' ' || char == '\t'
}
