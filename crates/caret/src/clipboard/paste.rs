//! Putting copied text at every caret.

use base::{Row, Span};
use text::{EditKind, LineEnding, Selection, SelectionSet};

use super::{Copied, Piece};
use crate::context::{Context, Plan};
use crate::draft::Draft;
use crate::indent::{blanks_for, cells_of, leading_blanks};
use crate::motion::horizontal::{first_non_blank, is_blank};

/// How pasted rows are indented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasteIndent {
    /// As they were copied.
    Keep,
    /// Shifted so that the first row fits where it lands.
    Fit,
}

/// Puts copied text at every caret: one piece each when the numbers agree, all of it everywhere else.
/// Whole rows go above the row of an empty selection, which stays where it is in its text.
pub fn paste(ctx: &Context, copied: &Copied, indent: PasteIndent) -> Plan {
    let pieces = pieces_for(copied, ctx.selections.len());
    let mut draft = Draft::new();
    let mut after: Vec<After> = Vec::with_capacity(ctx.selections.len());
    for (ix, selection) in ctx.selections.iter().enumerate() {
        let piece = &pieces[ix % pieces.len()];
        let row = ctx.snapshot.point_at(selection.start()).row;
        if piece.is_whole_row && selection.is_empty() {
            let text = fitted_rows(ctx, piece, row, indent);
            draft.push(Span::at(ctx.snapshot.row_start(row)), text);
            after.push(After::InText(*selection));
        } else {
            let text = fitted(ctx, piece, selection, indent);
            let landing = draft.push(selection.span(), text.clone());
            after.push(After::Behind(landing.0 + text.len()));
        }
    }
    let after = after.iter().map(|after| match after {
        After::InText(selection) => Selection::caret(draft.map(selection.head, base::Bias::Right)),
        After::Behind(offset) => Selection::caret(base::ByteOffset(*offset)),
    });
    let selections = SelectionSet::new(after.collect(), ctx.selections.primary_ix());
    draft.into_plan(selections, EditKind::Other)
}

/// Where a caret goes after its paste.
enum After {
    /// Along with the text it stood in.
    InText(Selection),
    /// Behind what was pasted.
    Behind(usize),
}

/// One piece per caret where the numbers agree, else everything as one piece.
fn pieces_for(copied: &Copied, carets: usize) -> Vec<Piece> {
    if copied.pieces.len() == carets {
        return copied.pieces.clone();
    }
    let text = copied.text();
    let rows: Vec<&str> = text.lines().collect();
    if copied.is_foreign && carets > 1 && rows.len() == carets {
        let piece = |row: &&str| Piece {
            text: (*row).to_owned(),
            is_whole_row: false,
            indent_cells: 0,
        };
        return rows.iter().map(piece).collect();
    }
    vec![Piece {
        text,
        is_whole_row: copied.pieces.iter().all(|piece| piece.is_whole_row),
        indent_cells: copied.pieces.first().map_or(0, |piece| piece.indent_cells),
    }]
}

/// A piece that goes into a row: its first row goes on there, the others follow its shift.
fn fitted(ctx: &Context, piece: &Piece, selection: &Selection, indent: PasteIndent) -> String {
    let start = selection.start();
    let row = ctx.snapshot.point_at(start).row;
    let width = ctx.options.tab_width;
    let is_row_start = start <= first_non_blank(ctx.snapshot, row);
    let wanted = match is_row_start {
        true => {
            let before = Span::new(ctx.snapshot.row_start(row), start);
            cells_of(&ctx.snapshot.text(before), width)
        }
        false => cells_of(&leading_blanks(ctx.snapshot, row), width),
    };
    let mut rows = rows_of(&piece.text);
    if indent == PasteIndent::Keep || rows.len() < 2 {
        return join(&rows, ctx.line_ending);
    }
    let own = blanks_of(&rows[0]);
    let own_cells = cells_of(&own, width);
    // Blanks that were copied along count for the first row as if they had stayed behind.
    let is_whole = own_cells > 0 && own_cells >= piece.indent_cells;
    let shift = i64::from(wanted)
        - i64::from(if is_whole {
            own_cells
        } else {
            piece.indent_cells
        });
    if is_row_start && is_whole {
        rows[0] = rows[0][own.len()..].to_owned();
    }
    for text in rows.iter_mut().skip(1) {
        *text = shifted(ctx, text, shift);
    }
    join(&rows, ctx.line_ending)
}

/// Whole rows that go above a row.
fn fitted_rows(ctx: &Context, piece: &Piece, row: Row, indent: PasteIndent) -> String {
    let mut rows = rows_of(&piece.text);
    if indent == PasteIndent::Fit {
        let wanted = wanted_cells(ctx, row);
        let shift = wanted.map_or(0, |wanted| {
            i64::from(wanted) - i64::from(piece.indent_cells)
        });
        for text in &mut rows {
            *text = shifted(ctx, text, shift);
        }
    }
    join(&rows, ctx.line_ending)
}

/// The indentation of the row that new rows land above; of the row before it where it is blank.
fn wanted_cells(ctx: &Context, row: Row) -> Option<u32> {
    let candidates = [Some(row), row.0.checked_sub(1).map(Row)];
    let row = candidates
        .into_iter()
        .flatten()
        .find(|row| !is_blank(ctx.snapshot, *row))?;
    let text = ctx.snapshot.row_text(row);
    let cells = cells_of(&leading_blanks(ctx.snapshot, row), ctx.options.tab_width);
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

fn blanks_of(row: &str) -> String {
    row[..row.len() - row.trim_start_matches([' ', '\t']).len()].to_owned()
}

fn join(rows: &[String], line_ending: LineEnding) -> String {
    rows.join(line_ending.as_str())
}

/// A row moved by some cells; blank rows stay.
fn shifted(ctx: &Context, row: &str, shift: i64) -> String {
    let blanks = blanks_of(row);
    if shift == 0 || blanks.len() == row.len() {
        return row.to_owned();
    }
    let cells = i64::from(cells_of(&blanks, ctx.options.tab_width)) + shift;
    let cells = u32::try_from(cells.max(0)).unwrap_or(0);
    blanks_for(cells, ctx.options) + &row[blanks.len()..]
}
