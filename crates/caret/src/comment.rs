//! Commenting out and in again.
//!
//! Start at `toggle_line_comment`.

use std::ops::Range;

use base::{Bias, ByteOffset, Span};
use syntax::{Comments, Language, SyntaxScope};
use text::{EditKind, Selection, SelectionSet};

use crate::context::{CaretPlan, CommandContext};
use crate::draft::{EditDraft, reversed};
use crate::indent::cells_of;
use crate::motion::horizontal::first_non_blank;
use crate::row_heads::each_row;
use crate::rows::{RowRange, row_groups};

/// Bytes searched on either side for the ends of a block comment around a caret.
const LOOK_AROUND: usize = 16 * 1024;

/// Maximum number of selections whose embedded language is looked up.
pub(crate) const MAX_LANGUAGE_LOOKUPS: usize = 100;

/// Comments the selected rows, or uncomments them if all are comments. Uses block comments in
/// languages without line comments. Does nothing in a language without comments.
pub(crate) fn toggle_line_comment(ctx: &CommandContext) -> CaretPlan {
    let mut draft = EditDraft::new();
    for group in row_groups(ctx) {
        let Some(comments) = comments_at(ctx, first_non_blank(ctx.snapshot, group.first)) else {
            return CaretPlan::nothing(ctx);
        };
        match (comments.line, comments.block) {
            (Some(marker), _) => toggle_rows(ctx, &mut draft, group, marker),
            (None, Some(marks)) => toggle_block(ctx, &mut draft, trimmed(ctx, group), marks),
            (None, None) => {}
        }
    }
    // A selection from the start of a row takes the new marker in; carets go with their text.
    let selections = draft.map_selections(ctx.selections, Bias::Left, Bias::Right, Bias::Right);
    draft.into_plan(selections, EditKind::Other)
}

/// Returns the comment markers at an offset. Embedded code has its own, unless there are more
/// selections than `MAX_LANGUAGE_LOOKUPS`.
fn comments_at(ctx: &CommandContext, offset: ByteOffset) -> Option<Comments> {
    let is_few = ctx.selections.len() <= MAX_LANGUAGE_LOOKUPS;
    let inner = ctx
        .syntax
        .filter(|_| is_few)
        .map(|syntax| syntax.comments_at(ctx.snapshot, offset));
    inner.or(ctx.language.map(Language::comments))
}

/// The text of rows without the blanks around it.
fn trimmed(ctx: &CommandContext, group: RowRange) -> Span {
    let start = first_non_blank(ctx.snapshot, group.first);
    Span::new(start, ctx.snapshot.row_end(group.last).max(start))
}

fn toggle_rows(ctx: &CommandContext, draft: &mut EditDraft, group: RowRange, marker: &str) {
    let (snapshot, width) = (ctx.snapshot, ctx.options.tab_width);
    let (mut has_text, mut is_comment, mut least) = (false, true, u32::MAX);
    each_row(snapshot, group, |head| {
        if !head.is_blank() {
            has_text = true;
            is_comment &= head.behind.starts_with(marker);
            least = least.min(cells_of(head.blanks, width));
        }
    });
    each_row(snapshot, group, |head| {
        if has_text && head.is_blank() {
            return;
        }
        if has_text && is_comment {
            let start = head.start + head.blanks.len();
            let blank = usize::from(head.behind[marker.len()..].starts_with(' '));
            draft.push(Span::new(start, start + marker.len() + blank), "");
            return;
        }
        let lens = (0..=head.blanks.len())
            .take_while(|len| cells_of(&head.blanks[..*len], width) <= least);
        let at = head.start + lens.last().unwrap_or(0);
        draft.push(Span::at(at), format!("{marker} "));
    });
}

/// Wraps every selection in a block comment, or unwraps it. A caret unwraps the comment it is in,
/// or opens an empty one.
pub(crate) fn toggle_block_comment(ctx: &CommandContext) -> CaretPlan {
    let start = ctx.selections.primary().start();
    let Some(marks) = comments_at(ctx, start).and_then(|comments| comments.block) else {
        return toggle_line_comment(ctx);
    };
    let mut draft = EditDraft::new();
    let mut after = Vec::with_capacity(ctx.selections.len());
    let mut opened = Vec::new();
    for selection in ctx.selections.iter() {
        let span = if selection.is_empty() {
            comment_around(ctx, selection, marks).unwrap_or(selection.span())
        } else {
            selection.span()
        };
        if span.is_empty() {
            let landing = draft.push(span, format!("{}  {}", marks.0, marks.1));
            opened.push((after.len(), landing + marks.0.len() + 1));
        } else {
            toggle_block(ctx, &mut draft, span, marks);
        }
        after.push(*selection);
    }
    let mut after: Vec<Selection> = after
        .iter()
        .map(|selection| {
            let first = draft.map(selection.start(), Bias::Right);
            let last = draft.map(selection.end(), Bias::Left);
            let mapped = Selection::new(
                first,
                if selection.is_empty() {
                    first
                } else {
                    last.max(first)
                },
            );
            if selection.is_reversed() {
                reversed(mapped)
            } else {
                mapped
            }
        })
        .collect();
    for (ix, caret) in opened {
        after[ix] = Selection::caret(caret);
    }
    let selections = SelectionSet::new(after, ctx.selections.primary_ix());
    draft.into_plan(selections, EditKind::Other)
}

/// Unwraps a span that is a block comment or the inside of one; wraps it otherwise. Comments do not
/// nest: the text between comments in the span is wrapped, and a span of comments alone is unwrapped.
fn toggle_block(ctx: &CommandContext, draft: &mut EditDraft, span: Span, marks: (&str, &str)) {
    let (open, close) = marks;
    let snapshot = ctx.snapshot;
    let text = snapshot.text(span);
    let (inside, outside) = comment_ranges(&text, marks);
    let is_all = !inside.is_empty() && outside.is_empty();
    let place = |range: &Range<usize>| Span::new(span.start + range.start, span.start + range.end);
    if is_all {
        for comment in &inside {
            unwrap(draft, place(comment), &text[comment.clone()], marks);
        }
        return;
    }
    if !inside.is_empty() {
        for part in &outside {
            wrap(draft, place(part), marks);
        }
        return;
    }
    // A comment of another kind would end the new one.
    let ending = close.trim_end_matches('}');
    if text.contains(ending) {
        return;
    }
    let before = snapshot.text(Span::new(
        snapshot.clip(span.start - open.len() - 1, Bias::Left),
        span.start,
    ));
    let behind_end = snapshot.clip(
        (span.end + close.len() + 1).min(snapshot.len()),
        Bias::Right,
    );
    let behind = snapshot.text(Span::new(span.end, behind_end));
    let open_len = [format!("{open} "), open.to_owned()]
        .iter()
        .find(|mark| before.ends_with(mark.as_str()))
        .map(String::len);
    let close_len = [format!(" {close}"), close.to_owned()]
        .iter()
        .find(|mark| behind.starts_with(mark.as_str()))
        .map(String::len);
    if let (Some(open_len), Some(close_len)) = (open_len, close_len) {
        draft.push(Span::new(span.start - open_len, span.start), "");
        draft.push(Span::new(span.end, span.end + close_len), "");
        return;
    }
    wrap(draft, span, marks);
}

fn wrap(draft: &mut EditDraft, span: Span, (open, close): (&str, &str)) {
    draft.push(Span::at(span.start), format!("{open} "));
    draft.push(Span::at(span.end), format!(" {close}"));
}

/// Removes the markers of a comment, and one blank inside each.
fn unwrap(draft: &mut EditDraft, span: Span, comment: &str, (open, close): (&str, &str)) {
    let inner = &comment[open.len()..comment.len() - close.len()];
    let first = open.len() + usize::from(inner.starts_with(' '));
    let has_two = inner.len() > 1 && inner.ends_with(' ');
    let last = close.len() + usize::from(has_two);
    draft.push(Span::new(span.start, span.start + first), "");
    draft.push(Span::new(span.end - last, span.end), "");
}

/// Returns the comments of a text, markers included, and the text between them, trimmed.
fn comment_ranges(
    text: &str,
    (open, close): (&str, &str),
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let mut keep = |range: Range<usize>| {
        let part = &text[range.clone()];
        let start = range.start + part.len() - part.trim_start().len();
        if !part.trim().is_empty() {
            outside.push(start..start + part.trim().len());
        }
    };
    let mut at = 0;
    while let Some(start) = text[at..].find(open).map(|start| at + start) {
        let behind = start + open.len();
        let Some(end) = text[behind..].find(close) else {
            break;
        };
        let end = behind + end + close.len();
        keep(at..start);
        inside.push(start..end);
        at = end;
    }
    keep(at..text.len());
    (inside, outside)
}

/// The block comment a caret is in, marks included.
fn comment_around(
    ctx: &CommandContext,
    selection: &Selection,
    (open, close): (&str, &str),
) -> Option<Span> {
    let head = selection.head;
    if ctx.syntax.is_some() && crate::auto_close::scope(ctx, head) != SyntaxScope::Comment {
        return None;
    }
    let snapshot = ctx.snapshot;
    let from = snapshot.clip(head - LOOK_AROUND, Bias::Left);
    let before = snapshot.text(Span::new(from, head));
    let opened = before.rfind(open)?;
    if before[opened + open.len()..].contains(close) {
        return None;
    }
    let until = snapshot.clip((head + LOOK_AROUND).min(snapshot.len()), Bias::Left);
    let behind = snapshot.text(Span::new(head, until));
    let closed = behind.find(close)?;
    if behind[..closed].contains(open) {
        return None;
    }
    Some(Span::new(from + opened, head + closed + close.len()))
}
