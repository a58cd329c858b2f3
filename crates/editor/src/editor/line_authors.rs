//! The authors of lines in a view: in a margin, and behind the line with the caret once it rests.
//!
//! The owner of the view provides them: see `DocumentModel::add_line_authors`.
//! Start at `show_line_authors`.

use std::time::Duration;

use base::{Revision, Row};
use gpui_kit::Context;
use ui::RestTimer;

use super::{Editor, EditorEvent};

/// Time for which the caret rests before the author of its line is shown.
const REST: Duration = Duration::from_millis(350);

/// The places in which a view shows the authors of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineAuthorDisplay {
    /// Beside all lines, in the gutter.
    pub margin: bool,
    /// Behind the line with the caret.
    pub inline: bool,
}

/// The authors that a view shows.
pub(crate) struct ShownLineAuthors {
    display: LineAuthorDisplay,
    /// The row in which the caret rests, and the text for which it does.
    rested: Option<(Row, Revision)>,
    rest: RestTimer<Editor>,
}

impl ShownLineAuthors {
    /// Creates the state of a view that shows no authors.
    pub(super) fn new() -> Self {
        Self {
            display: LineAuthorDisplay::default(),
            rested: None,
            rest: RestTimer::new(REST, |it| &mut it.line_authors.rest, caret_rested),
        }
    }
}

/// Sets the places in which a view shows the authors of lines. Its owner is asked for them by
/// `EditorEvent::LineAuthorsWanted`, when the caret rests.
pub fn show_line_authors(
    editor: &mut Editor,
    display: LineAuthorDisplay,
    cx: &mut Context<Editor>,
) {
    if editor.line_authors.display != display {
        editor.line_authors.display = display;
        carets_moved(editor, cx);
        cx.notify();
    }
}

/// Waits until the caret rests.
pub(super) fn carets_moved(editor: &mut Editor, cx: &mut Context<Editor>) {
    let is_shown = editor.line_authors.display != LineAuthorDisplay::default();
    if is_shown && editor.excerpts.is_none() {
        editor.line_authors.rest.put_off(cx);
    }
}

fn caret_rested(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.sync(cx);
    editor.line_authors.rested = Some((caret_row(editor), editor.snapshot.revision()));
    cx.emit(EditorEvent::LineAuthorsWanted);
    if editor.line_authors.display.inline {
        cx.notify();
    }
}

fn caret_row(editor: &Editor) -> Row {
    let head = editor.selections.primary().head;
    editor.snapshot.point_at(head).row
}

/// Returns the row behind which an author is shown: that of the caret, if it rests there.
pub(crate) fn inline_row(editor: &Editor) -> Option<Row> {
    if !editor.line_authors.display.inline || editor.selections.len() > 1 {
        return None;
    }
    let row = caret_row(editor);
    let rested = editor.line_authors.rested;
    (rested == Some((row, editor.snapshot.revision()))).then_some(row)
}

/// Returns whether the margin is shown, if there are authors.
pub(crate) fn has_margin(editor: &Editor) -> bool {
    editor.line_authors.display.margin
}
