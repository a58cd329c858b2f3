//! Commenting out and in again.
//!
//! Start at `toggle_line_comment`.

use base::{Bias, ByteOffset, Span};
use syntax::{LanguageConfig, Scope};
use text::{EditKind, Selection, SelectionSet};

use crate::context::{Context, Plan};
use crate::draft::{Draft, reversed};
use crate::indent::cells_of;
use crate::motion::horizontal::first_non_blank;
use crate::row_heads::each_row;
use crate::rows::{RowRange, row_groups};

/// Bytes looked through on either side for the ends of a block comment around a caret.
const LOOK_AROUND: usize = 16 * 1024;

/// Selections whose own language is looked up.
const MOST_LOOKED_UP: usize = 100;

/// Comments the selected rows out, or in again where all of them are comments.
pub(crate) fn toggle_line_comment(ctx: &Context) -> Plan {
    let mut draft = Draft::new();
    for group in row_groups(ctx) {
        let Some(config) = config_at(ctx, first_non_blank(ctx.snapshot, group.first)) else {
            return Plan::nothing(ctx);
        };
        match (config.line_comment, config.block_comment) {
            (Some(marker), _) => toggle_rows(ctx, &mut draft, group, marker),
            (None, Some(marks)) => toggle_block(ctx, &mut draft, trimmed(ctx, group), marks),
            (None, None) => {}
        }
    }
    // A selection from the start of a row takes the new marker in; carets go with their text.
    let selections = draft.map_selections(ctx.selections, Bias::Left, Bias::Right, Bias::Right);
    draft.into_plan(selections, EditKind::Other)
}

/// How the text at an offset is edited: code within other code has comments of its own. With very
/// many selections only the language of the whole counts.
pub(crate) fn config_at(ctx: &Context, offset: ByteOffset) -> Option<&'static LanguageConfig> {
    let is_few = ctx.selections.len() <= MOST_LOOKED_UP;
    let inner = ctx
        .syntax
        .filter(|_| is_few)
        .map(|syntax| syntax.language_at(ctx.snapshot, offset));
    inner
        .or(ctx.language.copied())
        .map(|language| language.config())
}

/// The text of rows without the blanks around it.
fn trimmed(ctx: &Context, group: RowRange) -> Span {
    let start = first_non_blank(ctx.snapshot, group.first);
    Span::new(start, ctx.snapshot.row_end(group.last).max(start))
}

fn toggle_rows(ctx: &Context, draft: &mut Draft, group: RowRange, marker: &str) {
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
pub(crate) fn toggle_block_comment(ctx: &Context) -> Plan {
    let start = ctx.selections.primary().start();
    let Some(marks) = config_at(ctx, start).and_then(|config| config.block_comment) else {
        return toggle_line_comment(ctx);
    };
    let mut draft = Draft::new();
    let mut after = Vec::with_capacity(ctx.selections.len());
    let mut opened = Vec::new();
    for selection in ctx.selections.iter() {
        let span = match selection.is_empty() {
            true => comment_around(ctx, selection, marks).unwrap_or(selection.span()),
            false => selection.span(),
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

/// Unwraps a span that is, or lies right within, a block comment; wraps it otherwise.
fn toggle_block(ctx: &Context, draft: &mut Draft, span: Span, (open, close): (&str, &str)) {
    let snapshot = ctx.snapshot;
    let text = snapshot.text(span);
    let inner = text
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix(close));
    if let Some(inner) = inner {
        let first = open.len() + usize::from(inner.starts_with(' '));
        let has_two = inner.len() > 1 && inner.ends_with(' ');
        let last = close.len() + usize::from(has_two);
        draft.push(Span::new(span.start, span.start + first), "");
        draft.push(Span::new(span.end - last, span.end), "");
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
    draft.push(Span::at(span.start), format!("{open} "));
    draft.push(Span::at(span.end), format!(" {close}"));
}

/// The block comment a caret is in, marks included.
fn comment_around(
    ctx: &Context,
    selection: &Selection,
    (open, close): (&str, &str),
) -> Option<Span> {
    let head = selection.head;
    if ctx.syntax.is_some() && crate::insert::scope(ctx, head) != Scope::Comment {
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
