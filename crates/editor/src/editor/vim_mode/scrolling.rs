//! Scrolls the view as the machine asks.

use base::{Bias, Row};
use gpui_kit::Context;
use vim::{ScrollCommand, Viewport};

use super::Editor;
use crate::scroll::ScrollMargin;

/// Returns the rows of the text in view.
pub(super) fn viewport(editor: &Editor) -> Viewport {
    let display = &editor.display;
    let top = editor.scroll.top(display);
    let bottom = (top + editor.viewport().rows - 0.99).max(top);
    let first = display.buffer_row(display.row_at_y(top + 0.01)).0;
    let last = display.buffer_row(display.row_at_y(bottom)).0;
    Viewport {
        top: first.0,
        height: last.0.saturating_sub(first.0) + 1,
    }
}

/// Longest text that is searched with each key of a pattern, in bytes.
const MAX_PREVIEW_BYTES: usize = 2 << 20;

/// Shows the match of the search that is being typed; goes back to the caret when there is none.
pub(super) fn preview_search(editor: &mut Editor, cx: &mut Context<Editor>) {
    let rows = viewport(editor);
    let Some(view) = &mut editor.vim else {
        return;
    };
    let is_short = editor.snapshot.len().0 <= MAX_PREVIEW_BYTES;
    let globals = view.globals.borrow();
    let found = is_short.then(|| view.machine.incremental_match(&editor.snapshot, &globals));
    drop(globals);
    let before = std::mem::replace(&mut view.preview, found.flatten());
    match view.preview {
        Some(span) => {
            let row = editor.snapshot.point_at(span.start).row.0;
            if row < rows.top || row >= rows.top + rows.height {
                scroll(editor, ScrollCommand::RowToMiddle(row), cx);
            }
        }
        None if before.is_some() => editor.follow = Some(ScrollMargin::Fit),
        None => {}
    }
}

/// Scrolls, and leaves the caret where it is.
pub(super) fn scroll(editor: &mut Editor, command: ScrollCommand, cx: &mut Context<Editor>) {
    let y_of = |editor: &Editor, row: u32| {
        let row = Row(row).min(editor.snapshot.last_row());
        editor.display.y_of(editor.display.rows_of(row).start)
    };
    let rows = editor.viewport().rows.floor();
    match command {
        ScrollCommand::RowToTop(row) => {
            let top = y_of(editor, row) - headers_above(editor, row);
            editor.set_scroll_top(top, cx);
        }
        ScrollCommand::RowToMiddle(row) => {
            let top = y_of(editor, row) - ((rows - 1.0) / 2.0).floor();
            editor.set_scroll_top(top, cx);
        }
        ScrollCommand::RowToBottom(row) => {
            let top = y_of(editor, row) + 1.0 - rows;
            editor.set_scroll_top(top, cx);
        }
        ScrollCommand::Cells(cells) => scroll_cells(editor, f64::from(cells), cx),
        ScrollCommand::CaretToLeft => {
            let by = caret_cell(editor) - left_cell(editor);
            scroll_cells(editor, by, cx);
        }
        ScrollCommand::CaretToRight => {
            let by = caret_cell(editor) + 1.0 - left_cell(editor) - cells_in_view(editor);
            scroll_cells(editor, by, cx);
        }
    }
}

/// The rows that sticky headers take from a row at the top, if the caret is there.
fn headers_above(editor: &Editor, row: u32) -> f64 {
    let caret = editor
        .snapshot
        .point_at(editor.selections.primary().head)
        .row;
    let headers = editor
        .geometry
        .as_ref()
        .map_or(0, |geometry| geometry.sticky_rows);
    if caret.0 == row { headers as f64 } else { 0.0 }
}

fn advance(editor: &Editor) -> f64 {
    editor
        .geometry
        .as_ref()
        .map_or(1.0, |geometry| f64::from(geometry.advance))
}

fn left_cell(editor: &Editor) -> f64 {
    (editor.scroll.x / advance(editor)).floor()
}

fn cells_in_view(editor: &Editor) -> f64 {
    let width = editor
        .geometry
        .as_ref()
        .map_or(0.0, |geometry| f32::from(geometry.text.size.width));
    (f64::from(width) / advance(editor)).floor()
}

fn caret_cell(editor: &Editor) -> f64 {
    let head = editor.selections.primary().head;
    f64::from(editor.display.to_display(head, Bias::Left).cell)
}

fn scroll_cells(editor: &mut Editor, cells: f64, cx: &mut Context<Editor>) {
    let pixels = cells * advance(editor);
    editor.scroll_sideways(pixels, cx);
}
