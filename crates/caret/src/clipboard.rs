//! Copy, cut and paste with several carets.
//!
//! A copy records its pieces: one per selection, with whether it was a whole row, and the
//! indentation of its first row. Pasting gives every caret its own piece if the counts match.
//! Start at `copy` and `paste`.

mod paste;

use base::{Row, Span};
use text::EditKind;

use crate::boxes::is_box;
use crate::context::{CaretPlan, CommandContext};
use crate::draft::{SelectionEdit, replace_each};
use crate::indent::{cells_of, leading_blanks};
use crate::rows::{RowRange, line_of};

pub use paste::{PasteIndent, paste};

/// First line of the metadata; the number is its version.
const HEADER: &str = "burin-pieces 1";

/// The text copied from one selection or caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipboardPiece {
    /// The text with its original line endings.
    pub text: String,
    /// Whether it was copied from an empty selection: the whole row with its line ending.
    pub is_whole_row: bool,
    /// Indentation of its first row in display cells; 0 if unknown.
    pub indent_cells: u32,
}

/// Copied text and its pieces. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedText {
    pieces: Vec<ClipboardPiece>,
    /// Whether another program copied it, so that its pieces are unknown.
    is_foreign: bool,
}

impl CopiedText {
    /// Wraps another program's text as one piece, whose rows are not whole.
    pub fn plain(text: &str) -> Self {
        let piece = ClipboardPiece {
            text: text.to_owned(),
            is_whole_row: false,
            indent_cells: 0,
        };
        CopiedText {
            pieces: vec![piece],
            is_foreign: true,
        }
    }

    /// Returns the pieces in text order.
    pub fn pieces(&self) -> &[ClipboardPiece] {
        &self.pieces
    }

    /// Returns the text for other programs: each piece starts a row.
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

    /// Returns the text to store beside the copied text on the clipboard, from which `from_parts`
    /// restores the pieces.
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

    /// Restores the pieces of a text from its metadata; one piece if they do not match.
    pub fn from_parts(text: &str, metadata: Option<&str>) -> Self {
        metadata
            .and_then(|metadata| read_pieces(text, metadata))
            .map(|pieces| CopiedText {
                pieces,
                is_foreign: false,
            })
            // Another program may have changed the text and left the metadata of ours.
            .filter(|copied| copied.text() == text)
            .unwrap_or_else(|| CopiedText::plain(text))
    }
}

/// Cuts `text` into the pieces that the metadata describes; a line feed may separate two pieces.
/// `None` if the metadata is not ours or does not fit the text, or if there are no pieces.
fn read_pieces(text: &str, metadata: &str) -> Option<Vec<ClipboardPiece>> {
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
        pieces.push(ClipboardPiece {
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
pub fn copy(ctx: &CommandContext) -> Option<CopiedText> {
    let pieces = if has_text(ctx) {
        selected_pieces(ctx)
    } else {
        rows_at_carets(ctx)
    };
    (!ctx.snapshot.is_empty() && !pieces.is_empty()).then_some(CopiedText {
        pieces,
        is_foreign: false,
    })
}

/// Returns whether any selection is not empty.
fn has_text(ctx: &CommandContext) -> bool {
    ctx.selections.iter().any(|selection| !selection.is_empty())
}

/// Returns one piece per non-empty selection; in a box, one per row.
fn selected_pieces(ctx: &CommandContext) -> Vec<ClipboardPiece> {
    let is_box = is_box(ctx);
    let selections = ctx.selections.iter();
    selections
        .filter(|selection| is_box || !selection.is_empty())
        .map(|selection| ClipboardPiece {
            text: ctx.snapshot.text(selection.span()).into_owned(),
            is_whole_row: false,
            indent_cells: indent_of(ctx, ctx.snapshot.point_at(selection.start()).row),
        })
        .collect()
}

fn rows_at_carets(ctx: &CommandContext) -> Vec<ClipboardPiece> {
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
        pieces.push(ClipboardPiece {
            text,
            is_whole_row: true,
            indent_cells: indent_of(ctx, line.first),
        });
    }
    pieces
}

/// Returns the width of the spaces and tabs at the start of a row, in cells.
fn indent_of(ctx: &CommandContext, row: Row) -> u32 {
    cells_of(&leading_blanks(ctx.snapshot, row), ctx.options.tab_width)
}

/// Copies text as `copy` does, and also returns a plan that deletes the copied text. Returns `None`
/// if there is nothing to copy.
pub fn cut(ctx: &CommandContext) -> Option<(CopiedText, CaretPlan)> {
    let copied = copy(ctx)?;
    let snapshot = ctx.snapshot;
    let has_text = has_text(ctx);
    let plan = replace_each(ctx, EditKind::Other, |selection| {
        if has_text {
            return SelectionEdit::caret_behind(selection.span(), "");
        }
        let line = line_of(ctx, snapshot.point_at(selection.head).row);
        let mut span = line.span(snapshot);
        if line.last == snapshot.last_row() && line.first.0 > 0 {
            // The last row has no line ending, so the preceding one is deleted with it.
            span = Span::new(snapshot.row_end(line.first - 1), span.end);
        }
        SelectionEdit::caret_behind(span, "")
    });
    Some((copied, plan))
}
