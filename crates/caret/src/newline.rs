//! Inserts new rows: with indentation, between brackets, within comments and lists.
//!
//! Start at `newline`.

use base::{ByteOffset, Row, Span};
use syntax::SyntaxScope;
use text::EditKind;

use crate::auto_close::scope;
use crate::brackets;
use crate::context::{CaretPlan, CommandContext};
use crate::draft::{SelectionEdit, replace_each};
use crate::indent::{leading_blanks, outdented_row, shifted};
use crate::motion::horizontal::first_non_blank;
use crate::rows::line_of;

/// Maximum length of a row that is continued, in bytes; longer rows are not comments.
const LONGEST_CONTINUED: u32 = 10_000;

/// Continuation of the previous row.
enum Continuation {
    /// The new row starts with a marker too.
    With(String),
    /// The row contains only its marker, which is removed instead of starting a row.
    Ends,
}

/// Indentation of a new row, and of the text after the caret if that gets its own row.
struct Indentation {
    blanks: String,
    closing: Option<String>,
}

/// Replaces every selection by a line ending and the indentation of the new row. Continues comments
/// and lists, and moves the closing bracket after a caret between brackets to a row of its own.
pub(crate) fn newline(ctx: &CommandContext) -> CaretPlan {
    let mut unfold = Vec::new();
    let plan = replace_each(ctx, EditKind::Other, |selection| {
        let swap = break_row(ctx, selection.span());
        // The break would separate a fold behind it from the row that shows it.
        unfold.extend(folds_from(ctx, swap.span));
        swap
    });
    CaretPlan { unfold, ..plan }
}

/// The folds that overlap a span or start at its end.
fn folds_from(ctx: &CommandContext, span: Span) -> Vec<Span> {
    let end = (span.end + 1).min(ctx.snapshot.len());
    let mut folds = ctx.display.folds_in(Span::new(span.start, end));
    folds.retain(|fold| fold.start <= span.end && span.start < fold.end);
    folds
}

/// Opens an indented row below the row of every caret and moves the caret there.
pub(crate) fn newline_below(ctx: &CommandContext) -> CaretPlan {
    replace_each(ctx, EditKind::Other, |selection| {
        let row = line_of(ctx, ctx.snapshot.point_at(selection.head).row).last;
        let end = ctx.snapshot.row_end(row);
        if first_non_blank(ctx.snapshot, row) < end {
            return break_row(ctx, Span::at(end));
        }
        let blanks = leading_blanks(ctx.snapshot, row);
        SelectionEdit::caret_behind(Span::at(end), ctx.line_ending.as_str().to_owned() + &blanks)
    })
}

/// Opens a row above the row of every caret, with the same indentation, and moves the caret there.
pub(crate) fn newline_above(ctx: &CommandContext) -> CaretPlan {
    replace_each(ctx, EditKind::Other, |selection| {
        let row = line_of(ctx, ctx.snapshot.point_at(selection.head).row).first;
        let blanks = leading_blanks(ctx.snapshot, row);
        SelectionEdit {
            span: Span::at(ctx.snapshot.row_start(row)),
            anchor: blanks.len(),
            head: blanks.len(),
            text: blanks + ctx.line_ending.as_str(),
        }
    })
}

fn break_row(ctx: &CommandContext, span: Span) -> SelectionEdit {
    let snapshot = ctx.snapshot;
    let row = snapshot.point_at(span.start).row;
    let row_start = snapshot.row_start(row);
    let ending = ctx.line_ending.as_str();
    if span.start <= first_non_blank(snapshot, row) {
        // The blanks before the caret move down with the text and leave an empty row.
        let blanks = snapshot.text(Span::new(row_start, span.start));
        return SelectionEdit::caret_behind(
            Span::new(row_start, span.end),
            format!("{ending}{blanks}"),
        );
    }
    if ctx.options.continue_comments {
        match continuation(ctx, row, span) {
            Some(Continuation::Ends) => {
                let start = first_non_blank(snapshot, row);
                return SelectionEdit::caret_behind(
                    Span::new(start, snapshot.row_end(row).max(span.end)),
                    "",
                );
            }
            Some(Continuation::With(prefix)) => return continued(ctx, row, span, &prefix),
            None => {}
        }
    }
    let behind = skip_blanks(ctx, span.end);
    let indentation = indentation(ctx, row, span.start, behind);
    if let Some((row_span, outdented)) = outdented_row(ctx, span.start) {
        let blanks = shifted(ctx, &indentation.blanks, -1, 0);
        let text = format!("{outdented}{ending}{blanks}");
        return SelectionEdit::caret_behind(Span::new(row_span.start, behind), text);
    }
    let mut text = format!("{ending}{}", indentation.blanks);
    let caret = text.len();
    if let Some(closing) = indentation.closing {
        text = text + ending + &closing;
    }
    SelectionEdit {
        span: Span::new(span.start, behind),
        text,
        anchor: caret,
        head: caret,
    }
}

/// A new row that starts with a marker; the end of a block comment behind the caret gets its own.
fn continued(ctx: &CommandContext, row: Row, span: Span, prefix: &str) -> SelectionEdit {
    let ending = ctx.line_ending.as_str();
    let behind = skip_blanks(ctx, span.end);
    let mut text = format!("{ending}{prefix}");
    let caret = text.len();
    let rest = ctx
        .snapshot
        .text(Span::new(behind, ctx.snapshot.row_end(row).max(behind)));
    if prefix.ends_with("* ") && rest.trim_end() == "*/" {
        text = text + ending + &prefix[..prefix.len() - 2];
    }
    SelectionEdit {
        span: Span::new(span.start, behind),
        text,
        anchor: caret,
        head: caret,
    }
}

fn skip_blanks(ctx: &CommandContext, offset: ByteOffset) -> ByteOffset {
    let blanks = ctx
        .snapshot
        .chars_at(offset)
        .take_while(|char| *char == ' ' || *char == '\t');
    offset + blanks.count()
}

/// Returns the indentation of the row that starts at `at`.
fn indentation(ctx: &CommandContext, row: Row, at: ByteOffset, behind: ByteOffset) -> Indentation {
    let snapshot = ctx.snapshot;
    let own = leading_blanks(snapshot, row);
    if !ctx.options.smart_indent {
        return Indentation {
            blanks: own,
            closing: None,
        };
    }
    let mut before = snapshot
        .chars_before(at)
        .skip_while(|char| *char == ' ' || *char == '\t');
    let opened = before.next();
    let kind = brackets::kinds(ctx)
        .iter()
        .find(|kind| Some(kind.0) == opened);
    let is_between = kind.is_some_and(|kind| snapshot.chars_at(behind).next() == Some(kind.1));
    let hint = ctx
        .indent_tree()
        .map(|syntax| syntax.indent_for_new_line(snapshot, at));
    match hint {
        Some(hint) => {
            let base = leading_blanks(snapshot, hint.base);
            let closing =
                (hint.is_split || is_between).then(|| shifted(ctx, &base, 0, hint.columns));
            // Brackets that the tree does not know yet are worth a level as well.
            let levels = if closing.is_some() {
                hint.levels.max(1)
            } else {
                hint.levels
            };
            Indentation {
                blanks: shifted(ctx, &base, levels, hint.columns),
                closing,
            }
        }
        None if kind.is_some() => Indentation {
            blanks: shifted(ctx, &own, 1, 0),
            closing: is_between.then_some(own),
        },
        None => Indentation {
            blanks: own,
            closing: None,
        },
    }
}

/// Returns the continuation of a row with a marker.
fn continuation(ctx: &CommandContext, row: Row, span: Span) -> Option<Continuation> {
    let language = ctx.language?;
    let snapshot = ctx.snapshot;
    if snapshot.row_len(row).0 > LONGEST_CONTINUED {
        return None;
    }
    let start = first_non_blank(snapshot, row);
    let blanks = leading_blanks(snapshot, row);
    let before = snapshot.text(Span::new(start, span.start));
    let behind = snapshot.text(Span::new(span.end, snapshot.row_end(row).max(span.end)));
    let list = (language.name() == "Markdown")
        .then(|| list_marker(&before))
        .flatten();
    if let Some((marker, next)) = list {
        let is_only_marker = before.len() == marker && behind.trim().is_empty();
        return Some(if is_only_marker {
            Continuation::Ends
        } else {
            Continuation::With(blanks + &next)
        });
    }
    let config = language.config();
    if let Some(marker) = config
        .continued
        .iter()
        .find(|marker| before.starts_with(**marker))
    {
        let rest = &before[marker.len()..];
        if rest.trim().is_empty() && behind.trim().is_empty() {
            return Some(Continuation::Ends);
        }
        let gap = if marker.ends_with(' ') { "" } else { " " };
        return Some(Continuation::With(format!("{blanks}{marker}{gap}")));
    }
    let is_starred = config.block_comment == Some(("/*", "*/")) && !before.contains("*/");
    if !is_starred || ctx.syntax.is_some() && scope(ctx, span.start) != SyntaxScope::Comment {
        return None;
    }
    if before.starts_with("/**") {
        return Some(Continuation::With(format!("{blanks} * ")));
    }
    let is_star_row = &*before == "*" || before.starts_with("* ");
    // Without a tree a row such as `* b` may as well be arithmetic.
    (is_star_row && ctx.syntax.is_some()).then(|| Continuation::With(format!("{blanks}* ")))
}

/// The length of the list marker that a row starts with, and the marker of the next item.
fn list_marker(text: &str) -> Option<(usize, String)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (len, next) = match digits {
        0 => {
            let bullet = ["- ", "* ", "+ "]
                .into_iter()
                .find(|bullet| text.starts_with(bullet))?;
            (2, bullet.to_owned())
        }
        _ => {
            let closer = [". ", ") "]
                .into_iter()
                .find(|closer| text[digits..].starts_with(closer))?;
            let number: u64 = text[..digits].parse().ok()?;
            (digits + 2, format!("{}{closer}", number.saturating_add(1)))
        }
    };
    let is_task = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .any(|task| text[len..].starts_with(task));
    if is_task {
        Some((len + 4, next + "[ ] "))
    } else {
        Some((len, next))
    }
}
