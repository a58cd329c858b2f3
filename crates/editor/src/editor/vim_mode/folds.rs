//! Folds as the machine asks for them.
//!
//! Vim's folds nest by levels; here a fold is open or closed, and its inner folds keep their state.

use std::ops::Range;

use base::{Row, Span};
use gpui_kit::Context;
use syntax::{Fold, SyntaxSnapshot};
use text::Snapshot;
use vim::FoldCommand;

use super::Editor;
use crate::editor::folding;

/// Returns the rows of all blocks that can be folded, in order of their starts. Takes time in
/// proportion to the text.
pub(super) fn known(syntax: &SyntaxSnapshot, text: &Snapshot) -> Vec<Range<u32>> {
    let rows = Row(0)..Row(text.row_count());
    let row = |offset| text.point_at(offset).row.0;
    let range = |fold: Fold| row(fold.start)..row(fold.end) + 1;
    syntax.folds(text, rows).into_iter().map(range).collect()
}

/// Carries out a command for folds. Returns a message if it has no meaning here.
pub(super) fn carry_out(
    editor: &mut Editor,
    command: FoldCommand,
    cx: &mut Context<Editor>,
) -> Option<&'static str> {
    match command {
        FoldCommand::Toggle(row) | FoldCommand::ToggleDeep(row) => {
            if is_folded(editor, row) {
                unfold(editor, row..row + 1, cx);
            } else {
                folding::fold_around(editor, Row(row), cx);
            }
        }
        FoldCommand::Open(rows) | FoldCommand::OpenDeep(rows) => unfold(editor, rows, cx),
        FoldCommand::Close(rows) | FoldCommand::CloseDeep(rows) => {
            folding::fold_around(editor, Row(rows.start), cx);
        }
        FoldCommand::OpenAll => editor.change_map(cx, |map| map.unfold_all()),
        FoldCommand::CloseAll => folding::fold_everything(editor, cx),
        FoldCommand::Reveal(row) | FoldCommand::Delete(row) => unfold(editor, row..row + 1, cx),
        FoldCommand::Create(rows) => create(editor, rows, cx),
        FoldCommand::More | FoldCommand::Less => return Some("folds have no levels here"),
    }
    None
}

fn is_folded(editor: &Editor, row: u32) -> bool {
    let row = Row(row).min(editor.snapshot.last_row());
    let rows = editor.display.joined_rows(row);
    rows.end.0 > rows.start.0 + 1
}

/// The text of rows as shown: with those that folds join with them.
fn shown_span(editor: &Editor, rows: &Range<u32>) -> Span {
    let last = editor.snapshot.last_row();
    let first = editor.display.joined_rows(Row(rows.start).min(last)).start;
    let end = editor
        .display
        .joined_rows(Row(rows.end.saturating_sub(1)).min(last))
        .end;
    Span::new(
        editor.snapshot.row_start(first),
        editor.snapshot.row_end(end - 1),
    )
}

fn unfold(editor: &mut Editor, rows: Range<u32>, cx: &mut Context<Editor>) {
    let span = shown_span(editor, &rows);
    editor.change_map(cx, |map| map.unfold(span));
}

/// Folds rows of any text: from the end of the first to the end of the last.
fn create(editor: &mut Editor, rows: Range<u32>, cx: &mut Context<Editor>) {
    let last = editor.snapshot.last_row();
    let first = Row(rows.start).min(last);
    let end = Row(rows.end.saturating_sub(1)).min(last);
    if end > first {
        let span = Span::new(editor.snapshot.row_end(first), editor.snapshot.row_end(end));
        editor.change_map(cx, |map| map.fold(&[span]));
    }
}
