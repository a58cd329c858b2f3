//! Pastes copied text at every caret.
//!
//! Invariant: all rows of a piece shift by the same number of cells, and never further left than
//! the indentation of the least indented row, so that the piece keeps its shape. Start at `paste`.

use base::{Bias, ByteOffset, Row, Span};
use syntax::{LanguageConfig, SyntaxScope};
use text::{EditKind, LineEnding, Selection, SelectionSet};

use super::{ClipboardPiece, CopiedText, guessed_indent};
use crate::comment::MAX_LANGUAGE_LOOKUPS;
use crate::context::{CaretPlan, CommandContext};
use crate::draft::EditDraft;
use crate::indent::{blanks_for, cells_of, leading_blanks};
use crate::motion::horizontal::{first_non_blank, is_blank};

/// Treatment of the indentation of pasted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasteIndent {
    /// Keep the copied indentation.
    Keep,
    /// Shift all rows so that the first one fits the caret. Rows keep their indentation at column
    /// zero, in strings, comments and plain text, and in languages without `auto_indent_on_paste`.
    Fit,
}

/// Pastes at every caret: one piece each if the counts match, otherwise all pieces everywhere.
/// Whole rows are inserted above the row of an empty selection, whose caret stays with its text.
pub fn paste(ctx: &CommandContext, copied: &CopiedText, indent: PasteIndent) -> CaretPlan {
    let pieces = pieces_for(ctx, copied);
    let mut draft = EditDraft::new();
    let mut after: Vec<PasteLanding> = Vec::with_capacity(ctx.selections.len());
    for (ix, selection) in ctx.selections.iter().enumerate() {
        let piece = &pieces[ix % pieces.len()];
        let mut rows = rows_of(&piece.text);
        let fits = indent == PasteIndent::Fit && rows.len() > 1;
        let fits = fits && wants_indent(ctx, selection.start());
        if piece.is_whole_row && selection.is_empty() {
            if fits {
                fit_whole_rows(ctx, &mut rows, selection.head);
            }
            let row = ctx.snapshot.point_at(selection.start()).row;
            let start = ctx.snapshot.row_start(row);
            draft.push(Span::at(start), join(&rows, ctx.line_ending));
            after.push(PasteLanding::InText(*selection));
        } else {
            if fits {
                fit(ctx, &mut rows, piece, selection.start());
            }
            let text = join(&rows, ctx.line_ending);
            let len = text.len();
            let landing = draft.push(selection.span(), text);
            after.push(PasteLanding::Behind(landing.0 + len));
        }
    }
    let after = after.iter().map(|after| match after {
        PasteLanding::InText(selection) => Selection::caret(draft.map(selection.head, Bias::Right)),
        PasteLanding::Behind(offset) => Selection::caret(ByteOffset(*offset)),
    });
    let selections = SelectionSet::new(after.collect(), ctx.selections.primary_ix());
    draft.into_plan(selections, EditKind::Other)
}

/// Position of a caret after pasting.
enum PasteLanding {
    /// Stays with its text.
    InText(Selection),
    /// After the pasted text.
    Behind(usize),
}

/// Returns one piece per caret if the counts match, else everything as one piece.
fn pieces_for(ctx: &CommandContext, copied: &CopiedText) -> Vec<ClipboardPiece> {
    let carets = ctx.selections.len();
    let text = copied.text();
    let rows: Vec<&str> = text.lines().collect();
    if copied.is_foreign && carets > 1 && rows.len() == carets {
        let piece = |row: &&str| ClipboardPiece {
            text: (*row).to_owned(),
            is_whole_row: false,
            indent_cells: 0,
        };
        return rows.iter().map(piece).collect();
    }
    if !copied.is_foreign && copied.pieces.len() == carets {
        return copied.pieces.clone();
    }
    let first = copied.pieces.first().map_or(0, |piece| piece.indent_cells);
    vec![ClipboardPiece {
        is_whole_row: copied.pieces.iter().all(|piece| piece.is_whole_row),
        indent_cells: if copied.is_foreign {
            guessed_indent(&text, ctx.options.tab_width)
        } else {
            first
        },
        text,
    }]
}

/// Returns whether pasted rows may be reindented at an offset.
fn wants_indent(ctx: &CommandContext, offset: ByteOffset) -> bool {
    let whole = ctx.language.map(|language| language.config());
    let is_wanted = [whole, config_at(ctx, offset)]
        .iter()
        .all(|config| config.is_some_and(|config| config.auto_indent_on_paste));
    let scope = |syntax: &syntax::SyntaxSnapshot| syntax.scope_at(ctx.snapshot, offset);
    is_wanted && ctx.indent_tree().map_or(SyntaxScope::Code, scope) == SyntaxScope::Code
}

/// Returns the configuration of the language at an offset. With very many selections, only that of
/// the whole text.
fn config_at(ctx: &CommandContext, offset: ByteOffset) -> Option<&'static LanguageConfig> {
    let is_few = ctx.selections.len() <= MAX_LANGUAGE_LOOKUPS;
    let inner = ctx
        .syntax
        .filter(|_| is_few)
        .map(|syntax| syntax.language_at(ctx.snapshot, offset));
    inner
        .or(ctx.language.copied())
        .map(|language| language.config())
}

/// Fits a piece inserted within a row: the first row continues that row, the others follow its shift.
fn fit(ctx: &CommandContext, rows: &mut [String], piece: &ClipboardPiece, start: ByteOffset) {
    let width = ctx.options.tab_width;
    let row = ctx.snapshot.point_at(start).row;
    let own = blanks_of(&rows[0]).to_owned();
    let own_cells = cells_of(&own, width);
    // Otherwise the copy started behind the blanks of its first row; those count as copied. A tab may have
    // had another width where it was copied.
    let is_whole = own_cells >= piece.indent_cells || own.contains('\t');
    let first = if is_whole {
        own_cells
    } else {
        piece.indent_cells
    };
    let least_of_rest = least_cells(ctx, &rows[1..]);
    if start > first_non_blank(ctx.snapshot, row) {
        let wanted = cells_of(&leading_blanks(ctx.snapshot, row), width);
        let shift = bounded(wanted, first, least_of_rest);
        shift_rows(ctx, &mut rows[1..], shift);
        return;
    }
    let before = Span::new(ctx.snapshot.row_start(row), start);
    let before = ctx.snapshot.text(before);
    let column = cells_of(&before, width);
    let is_blank_first = own.len() == rows[0].len();
    if column == 0 && (is_whole || is_blank_first) {
        // Column zero asks for no indentation, and the rows have their own.
        return;
    }
    let least = least_of_rest.map_or(first, |least| least.min(first));
    let shift = bounded(column, first, Some(least));
    shift_rows(ctx, &mut rows[1..], shift);
    if !is_blank_first {
        let cells = u32::try_from(i64::from(first) + shift).unwrap_or(0);
        let blanks = blanks_for(cells, ctx.options);
        let missing = match blanks.strip_prefix(&*before) {
            Some(missing) => missing.to_owned(),
            None => " ".repeat(cells.saturating_sub(column) as usize),
        };
        rows[0] = missing + &rows[0][own.len()..];
    }
}

/// Fits whole rows inserted above the row of a caret.
fn fit_whole_rows(ctx: &CommandContext, rows: &mut [String], head: ByteOffset) {
    let row = ctx.snapshot.point_at(head).row;
    let is_row_start = ctx.snapshot.row_start(row) == head;
    let first = rows.iter().find(|row| !row.trim().is_empty());
    let first = first.map_or(0, |row| cells_of(blanks_of(row), ctx.options.tab_width));
    let Some(wanted) = wanted_cells(ctx, row) else {
        return;
    };
    let shift = bounded(wanted, first, least_cells(ctx, rows));
    // A caret at column zero does not ask for less indentation.
    shift_rows(ctx, rows, if is_row_start { shift.max(0) } else { shift });
}

/// The shift from `from` to `wanted` cells, limited to `least` cells to the left.
fn bounded(wanted: u32, from: u32, least: Option<u32>) -> i64 {
    (i64::from(wanted) - i64::from(from)).max(-i64::from(least.unwrap_or(0)))
}

/// The indentation, in cells, of whole rows inserted above a row. `None` if the row is empty.
fn wanted_cells(ctx: &CommandContext, row: Row) -> Option<u32> {
    let cells = cells_of(&leading_blanks(ctx.snapshot, row), ctx.options.tab_width);
    if is_blank(ctx.snapshot, row) {
        return (cells > 0).then_some(cells);
    }
    let text = ctx.snapshot.row_text(row);
    // Above a closing bracket is the inside of the brackets.
    let closes = crate::brackets::kinds(ctx)
        .iter()
        .any(|kind| text.trim_start().starts_with(kind.1));
    Some(cells + if closes { ctx.options.tab_width } else { 0 })
}

fn rows_of(text: &str) -> Vec<String> {
    text.split('\n')
        .map(|row| row.strip_suffix('\r').unwrap_or(row).to_owned())
        .collect()
}

fn blanks_of(row: &str) -> &str {
    &row[..row.len() - row.trim_start_matches([' ', '\t']).len()]
}

/// The indentation, in cells, of the least indented row that is not blank.
fn least_cells(ctx: &CommandContext, rows: &[String]) -> Option<u32> {
    rows.iter()
        .filter(|row| !row.trim().is_empty())
        .map(|row| cells_of(blanks_of(row), ctx.options.tab_width))
        .min()
}

fn join(rows: &[String], line_ending: LineEnding) -> String {
    rows.join(line_ending.as_str())
}

/// Shifts rows by a number of cells. Blank rows do not change.
fn shift_rows(ctx: &CommandContext, rows: &mut [String], shift: i64) {
    if shift == 0 {
        return;
    }
    for row in rows.iter_mut().filter(|row| !row.trim().is_empty()) {
        let blanks = blanks_of(row);
        let cells = i64::from(cells_of(blanks, ctx.options.tab_width)) + shift;
        let cells = u32::try_from(cells).unwrap_or(0);
        *row = blanks_for(cells, ctx.options) + &row[blanks.len()..];
    }
}
