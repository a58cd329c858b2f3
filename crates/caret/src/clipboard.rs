//! Copy, cut and paste for several carets at once.
//!
//! What is copied remembers its pieces: one entry per selection, whether it was a whole row, and how
//! far its first row was indented. Pasting gives every caret its own piece when the numbers agree.
//! Start at `copy` and `paste`.

mod paste;

use base::{Row, Span};
use text::EditKind;

use crate::boxes::is_box;
use crate::context::{Context, Plan};
use crate::draft::{Swap, replace_each};
use crate::indent::{cells_of, leading_blanks};
use crate::rows::{RowRange, line_of};

pub use paste::{PasteIndent, paste};

/// How the metadata of a copy starts; the number is its version.
const HEADER: &str = "burin-pieces 1";

/// One piece of copied text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text, with the line endings it had.
    pub text: String,
    /// Whether it was taken from an empty selection: the whole row with its line ending.
    pub is_whole_row: bool,
    /// Display cells of indentation of the row it starts in; 0 where that is not known.
    pub indent_cells: u32,
}

/// Copied text and the pieces it is made of. Never without a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pieces: Vec<Piece>,
    /// Whether it came from another program, so that nothing is known of its pieces.
    is_foreign: bool,
}

impl Copied {
    /// Text from another program: one piece.
    pub fn plain(text: &str) -> Self {
        let piece = Piece {
            text: text.to_owned(),
            is_whole_row: false,
            indent_cells: 0,
        };
        Copied {
            pieces: vec![piece],
            is_foreign: true,
        }
    }

    /// The pieces, in the order of the text.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The text other programs get: each piece starts a row.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&piece.text);
        }
        text
    }

    /// What to store beside the text so that the pieces can be found again.
    pub fn metadata(&self) -> String {
        let mut metadata = HEADER.to_owned();
        for piece in &self.pieces {
            let is_whole_row = u8::from(piece.is_whole_row);
            metadata.push_str(&format!(
                ";{} {is_whole_row} {}",
                piece.text.len(),
                piece.indent_cells
            ));
        }
        metadata
    }

    /// The pieces of a text with the metadata stored beside it; one piece when they do not fit.
    pub fn from_parts(text: &str, metadata: Option<&str>) -> Self {
        metadata
            .and_then(|metadata| read_pieces(text, metadata))
            .map(|pieces| Copied {
                pieces,
                is_foreign: false,
            })
            // Another program may have changed the text and left the metadata of ours.
            .filter(|copied| copied.text() == text)
            .unwrap_or_else(|| Copied::plain(text))
    }
}

fn read_pieces(text: &str, metadata: &str) -> Option<Vec<Piece>> {
    let mut fields = metadata.split(';');
    if fields.next() != Some(HEADER) {
        return None;
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    for field in fields {
        let mut numbers = field.split(' ').map(str::parse::<usize>);
        let len = numbers.next()?.ok()?;
        let is_whole_row = numbers.next()?.ok()? == 1;
        let indent_cells = u32::try_from(numbers.next()?.ok()?).ok()?;
        if at > 0 && !text.get(..at)?.ends_with('\n') {
            at += 1;
        }
        let end = at.checked_add(len)?;
        let text = text.get(at..end)?.to_owned();
        at = end;
        pieces.push(Piece {
            text,
            is_whole_row,
            indent_cells,
        });
    }
    (!pieces.is_empty()).then_some(pieces)
}

/// Guesses the indentation, in cells, of the row that text was copied from. Text that starts behind its
/// blanks and ends in a closing bracket has the bracket's indentation.
fn guessed_indent(text: &str, tab_width: u32) -> u32 {
    let cells = |row: &str| {
        let len = row.len() - row.trim_start_matches([' ', '\t']).len();
        cells_of(&row[..len], tab_width)
    };
    let first = text.lines().next().map_or(0, cells);
    let last = text.lines().rfind(|row| !row.trim().is_empty());
    match last {
        Some(last) if first == 0 && last.trim_start().starts_with(['}', ')', ']']) => cells(last),
        _ => first,
    }
}

/// Copies the selected text. If every selection is empty, copies each row with a caret once, including
/// its folded text. `None` when there is nothing to copy.
pub fn copy(ctx: &Context) -> Option<Copied> {
    let pieces = match has_text(ctx) {
        true => selected_pieces(ctx),
        false => rows_at_carets(ctx),
    };
    (!ctx.snapshot.is_empty() && !pieces.is_empty()).then_some(Copied {
        pieces,
        is_foreign: false,
    })
}

/// Whether any selection is not empty.
fn has_text(ctx: &Context) -> bool {
    ctx.selections.iter().any(|selection| !selection.is_empty())
}

/// One piece for each selection that is not empty; in a box, one for each of its rows.
fn selected_pieces(ctx: &Context) -> Vec<Piece> {
    let is_box = is_box(ctx);
    let selections = ctx.selections.iter();
    selections
        .filter(|selection| is_box || !selection.is_empty())
        .map(|selection| Piece {
            text: ctx.snapshot.text(selection.span()).into_owned(),
            is_whole_row: false,
            indent_cells: indent_of(ctx, ctx.snapshot.point_at(selection.start()).row),
        })
        .collect()
}

fn rows_at_carets(ctx: &Context) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut last: Option<RowRange> = None;
    for selection in ctx.selections.iter() {
        let line = line_of(ctx, ctx.snapshot.point_at(selection.head).row);
        if last.replace(line) == Some(line) {
            continue;
        }
        let mut text = ctx.snapshot.text(line.span(ctx.snapshot)).into_owned();
        if !text.ends_with('\n') {
            text.push_str(ctx.line_ending.as_str());
        }
        pieces.push(Piece {
            text,
            is_whole_row: true,
            indent_cells: indent_of(ctx, line.first),
        });
    }
    pieces
}

fn indent_of(ctx: &Context, row: Row) -> u32 {
    cells_of(&leading_blanks(ctx.snapshot, row), ctx.options.tab_width)
}

/// Like `copy`, with the plan that deletes it.
pub fn cut(ctx: &Context) -> Option<(Copied, Plan)> {
    let copied = copy(ctx)?;
    let snapshot = ctx.snapshot;
    let has_text = has_text(ctx);
    let plan = replace_each(ctx, EditKind::Other, |selection| {
        if has_text {
            return Swap::caret_behind(selection.span(), "");
        }
        let line = line_of(ctx, snapshot.point_at(selection.head).row);
        let mut span = line.span(snapshot);
        if line.last == snapshot.last_row() && line.first.0 > 0 {
            // The last row has no line ending of its own to take along.
            span = Span::new(snapshot.row_end(line.first - 1), span.end);
        }
        Swap::caret_behind(span, "")
    });
    Some((copied, plan))
}
