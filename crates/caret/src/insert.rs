//! Typed text: closes, skips and surrounds with brackets and quotes.
//!
//! Start at `insert`.

use base::{Bias, ByteOffset, Span};
use syntax::{AutoClose, SyntaxScope};
use text::{EditKind, Selection, SelectionSet};

use crate::auto_close::{pairs, scope};
use crate::context::{CaretPlan, CommandContext};
use crate::draft::{EditDraft, SelectionEdit, replace_each, reversed};
use crate::motion::horizontal::first_non_blank;
use crate::words::{CharClass, WordScanner};
use crate::{brackets, indent, newline, quotes};

/// Replaces every selection with the text, without closing brackets automatically. Line feeds
/// become the document's line ending.
pub(crate) fn insert_literal(ctx: &CommandContext, text: &str) -> CaretPlan {
    let normalized;
    let text = if text.contains('\n') {
        normalized = text
            .replace("\r\n", "\n")
            .replace('\n', ctx.line_ending.as_str());
        &normalized
    } else {
        text
    };
    replace_each(ctx, EditKind::Typing, |selection| {
        SelectionEdit::caret_behind(selection.span(), text)
    })
}

/// Types text at every caret. A line feed starts a new row with indentation. A single character may
/// also insert a closing bracket, step over one, or surround the selections with brackets. Any
/// other text is inserted literally.
pub(crate) fn insert(ctx: &CommandContext, text: &str) -> CaretPlan {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('\n'), None) => newline::newline(ctx),
        (Some(typed), None) => type_char(ctx, typed, text),
        _ => insert_literal(ctx, text),
    }
}

fn type_char(ctx: &CommandContext, typed: char, text: &str) -> CaretPlan {
    if ctx.options.auto_surround
        && let Some(pair) = pairs(ctx).iter().find(|pair| pair.open == text)
        && ctx
            .selections
            .iter()
            .any(|selection| surrounds(ctx, pair, selection))
    {
        return surround(ctx, pair);
    }
    replace_each(ctx, EditKind::Typing, |selection| {
        let plain = SelectionEdit::caret_behind(selection.span(), text);
        if !selection.is_empty() {
            return plain;
        }
        let head = selection.head;
        if ctx.options.auto_close && steps_over_closer(ctx, head, typed, text) {
            return SelectionEdit::caret_at(head + text.len());
        }
        if ctx.options.auto_close
            && let Some(close) = closing(ctx, head, text)
        {
            return SelectionEdit {
                span: Span::at(head),
                text: format!("{text}{close}"),
                anchor: text.len(),
                head: text.len(),
            };
        }
        outdented_closer(ctx, head, typed)
            .or_else(|| outdented_word(ctx, head, typed))
            .unwrap_or(plain)
    })
}

/// Returns whether typing the opener surrounds a selection. A quote replaces a selected quote.
fn surrounds(ctx: &CommandContext, pair: &AutoClose, selection: &Selection) -> bool {
    let is_quote = |text: &str| matches!(text, "'" | "\"" | "`");
    let has_one_byte = selection.span().len() == 1;
    let is_replaced =
        has_one_byte && is_quote(pair.open) && is_quote(&ctx.snapshot.text(selection.span()));
    !selection.is_empty() && !is_replaced
}

/// Surrounds every selection with a pair; the selected text stays selected.
fn surround(ctx: &CommandContext, pair: &AutoClose) -> CaretPlan {
    let mut draft = EditDraft::new();
    let mut after = Vec::with_capacity(ctx.selections.len());
    for selection in ctx.selections.iter() {
        if !surrounds(ctx, pair, selection) {
            let typed = draft.push(selection.span(), pair.open) + pair.open.len();
            after.push(Selection::caret(typed));
            continue;
        }
        let opened = draft.push(Span::at(selection.start()), pair.open) + pair.open.len();
        draft.push(Span::at(selection.end()), pair.close);
        let inner = Selection::new(opened, opened + selection.span().len());
        after.push(if selection.is_reversed() {
            reversed(inner)
        } else {
            inner
        });
    }
    let selections = SelectionSet::new(after, ctx.selections.primary_ix());
    draft.into_plan(selections, EditKind::Other)
}

/// Returns whether typing a closer only steps over the existing one.
fn steps_over_closer(ctx: &CommandContext, head: ByteOffset, typed: char, text: &str) -> bool {
    if !starts_with(ctx, head, text) {
        return false;
    }
    pairs(ctx).iter().any(|pair| {
        pair.close == text
            && if pair.open == pair.close {
                ends_quotation(ctx, head, typed)
            } else {
                !lacks_closer(ctx, head, pair)
            }
    })
}

/// Returns whether the quote after a caret closes the string open before it.
fn ends_quotation(ctx: &CommandContext, head: ByteOffset, quote: char) -> bool {
    let is_open = quotes::open_before(ctx, head) == Some(quote);
    (is_open || quotes::ends_string(ctx, head, quote)) && !is_escaped(ctx, head)
}

/// Returns whether a closer is missing: more brackets are open before a caret than close after it,
/// both in its row and in the surrounding text.
fn lacks_closer(ctx: &CommandContext, head: ByteOffset, pair: &AutoClose) -> bool {
    let mut halves = (pair.open.chars(), pair.close.chars());
    let (Some(open), Some(close)) = (halves.0.next(), halves.1.next()) else {
        return false;
    };
    let snapshot = ctx.snapshot;
    let row = snapshot.row_span(snapshot.point_at(head).row);
    let near = Span::new(
        snapshot.clip(head - brackets::LOOK_AROUND, Bias::Left),
        snapshot.clip(
            (head + brackets::LOOK_AROUND).min(snapshot.len()),
            Bias::Left,
        ),
    );
    let lacks = |around: Span| {
        let before = snapshot.text(Span::new(around.start.max(near.start), head));
        let behind = snapshot.text(Span::new(head, around.end.min(near.end)));
        let opened = brackets::unpaired(before.chars().rev(), close, open);
        opened > brackets::unpaired(behind.chars(), open, close)
    };
    lacks(row) && lacks(near)
}

/// Returns the text to insert after a typed opener.
fn closing(ctx: &CommandContext, head: ByteOffset, text: &str) -> Option<&'static str> {
    let candidates = pairs(ctx).iter().filter(|pair| pair.open.ends_with(text));
    let pair = candidates
        .filter(|pair| ends_with(ctx, head, &pair.open[..pair.open.len() - text.len()]))
        .max_by_key(|pair| pair.open.len())?;
    let next = ctx.snapshot.chars_at(head).next();
    let has_room = next.is_none_or(|next| next.is_whitespace() || ";:.,=}])>".contains(next))
        // Between the halves of another pair, such as `(|)` or `"|"` within a call.
        || pairs(ctx).iter().any(|other| other.open != other.close && starts_with(ctx, head, other.close));
    if !has_room {
        return None;
    }
    if pair.open == pair.close && !begins_quotation(ctx, head, pair, text) {
        return None;
    }
    if pair.in_strings && pair.in_comments {
        return Some(pair.close);
    }
    match scope(ctx, head) {
        SyntaxScope::String if !pair.in_strings => None,
        SyntaxScope::Comment if !pair.in_comments => None,
        _ => Some(pair.close),
    }
}

/// Whether typing `text` at a caret completes the opening quote of a pair.
fn begins_quotation(ctx: &CommandContext, head: ByteOffset, pair: &AutoClose, text: &str) -> bool {
    let start = head - (pair.open.len() - text.len());
    let previous = ctx.snapshot.chars_before(start).next();
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    // Several quotes may follow the prefix of a string: `f"""`.
    let follows_word = start == head && previous.is_some_and(is_word);
    let is_in_string = start < head && is_in_string(ctx, start, previous.filter(|c| is_word(*c)));
    !follows_word
        && !is_in_string
        && !is_escaped(ctx, start)
        && !ends_with(ctx, start, text)
        && quotes::open_before(ctx, start).is_none()
}

/// Whether quotes at an offset, behind an optional string prefix, are already in a string or in a code block
/// of Markdown.
fn is_in_string(ctx: &CommandContext, offset: ByteOffset, prefix: Option<char>) -> bool {
    let start = offset - prefix.map_or(0, char::len_utf8);
    let holds_other = |syntax: &syntax::SyntaxSnapshot| {
        let inner = syntax.language_at(ctx.snapshot, start);
        quotes::is_prose(ctx) && !inner.name().starts_with("Markdown")
    };
    scope(ctx, start) == SyntaxScope::String || ctx.syntax.is_some_and(holds_other)
}

/// Whether a character typed at an offset is escaped by a backslash.
fn is_escaped(ctx: &CommandContext, head: ByteOffset) -> bool {
    let backslashes = ctx
        .snapshot
        .chars_before(head)
        .take_while(|char| *char == '\\');
    backslashes.count() % 2 == 1
}

/// Returns the edit that gives a closing bracket, typed first on its row, the indentation of the row
/// of its opening bracket.
fn outdented_closer(ctx: &CommandContext, head: ByteOffset, typed: char) -> Option<SelectionEdit> {
    if !ctx.options.smart_indent {
        return None;
    }
    let open = brackets::opener_of(ctx, typed)?;
    let row = ctx.snapshot.point_at(head).row;
    let start = ctx.snapshot.row_start(row);
    if head == start || first_non_blank(ctx.snapshot, row) < head {
        return None;
    }
    let opener = brackets::unclosed_before(ctx, head, open, typed)?;
    let opener_row = ctx.snapshot.point_at(opener).row;
    if opener_row == row {
        return None;
    }
    let mut text = indent::leading_blanks(ctx.snapshot, opener_row);
    text.push(typed);
    Some(SelectionEdit::caret_behind(Span::new(start, head), text))
}

/// Outdents a row after typing a character that completes a word such as `else` alone on the row.
fn outdented_word(ctx: &CommandContext, head: ByteOffset, typed: char) -> Option<SelectionEdit> {
    if WordScanner::of(ctx).class(typed) == CharClass::Word {
        return None;
    }
    let (span, outdented) = indent::outdented_row(ctx, head)?;
    Some(SelectionEdit::caret_behind(
        span,
        format!("{outdented}{typed}"),
    ))
}

/// Returns whether the text from `offset` on starts with `text`.
pub(crate) fn starts_with(ctx: &CommandContext, offset: ByteOffset, text: &str) -> bool {
    let mut chars = ctx.snapshot.chars_at(offset);
    text.chars().all(|char| chars.next() == Some(char))
}

/// Returns whether the text before `offset` ends with `text`.
pub(crate) fn ends_with(ctx: &CommandContext, offset: ByteOffset, text: &str) -> bool {
    let mut chars = ctx.snapshot.chars_before(offset);
    text.chars().rev().all(|char| chars.next() == Some(char))
}
