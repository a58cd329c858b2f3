//! The options of opening a file: the kind of tab, the focus, the location to go to.

use base::Point;
use editor::{Editor, Reveal, vim_status};
use gpui_kit::{App, Entity};
use lsp::ServerRange;
use project::Binary;

use crate::layout::TabOpenMode;
use crate::target::LineColumn;

/// Options for opening a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenOptions {
    /// Whether the tab is a preview.
    pub(crate) opening: TabOpenMode,
    /// Whether the opened view takes the focus.
    pub(crate) focus: Focus,
    /// Location to go to.
    pub(crate) place: Option<GoToPosition>,
    /// Behaviour for a binary file.
    pub(crate) binary: Binary,
    /// Behaviour if the file does not exist.
    pub(crate) missing: MissingFile,
}

/// Behaviour for a path without a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingFile {
    /// Show an error instead.
    Refuse,
    /// Show an empty text that creates the file when it is saved.
    Create,
}

/// Whether the opened view takes the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// Focus the opened view.
    Take,
    /// Keep the current focus.
    Leave,
}

/// A location in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GoToPosition {
    /// Line and column, counted from 1.
    Place(LineColumn),
    /// A span of bytes to select.
    Span(base::Span),
    /// The start of a range as a server counts it; the start of its row if the text is too short.
    StartOf(ServerRange),
    /// A row and a range of its bytes to select.
    InRow {
        /// Row of the selection.
        row: base::Row,
        /// First byte in the row.
        start: u32,
        /// End of the range in the row, exclusive.
        end: u32,
    },
}

impl OpenOptions {
    /// Opens a permanent tab and focuses it. Refuses binary and missing files.
    pub(crate) fn lasting() -> Self {
        Self {
            opening: TabOpenMode::Lasting,
            focus: Focus::Take,
            place: None,
            binary: Binary::Refuse,
            missing: MissingFile::Refuse,
        }
    }

    /// Opens a preview without changing the focus, or a permanent tab if the settings turn previews
    /// off.
    pub(crate) fn preview(cx: &App) -> Self {
        use ui::ActiveSettings as _;
        let opening = if cx.settings().window.preview_tabs {
            TabOpenMode::Preview
        } else {
            TabOpenMode::Lasting
        };
        Self {
            opening,
            focus: Focus::Leave,
            ..Self::lasting()
        }
    }

    /// Sets the location to go to.
    pub(crate) fn at(self, place: Option<GoToPosition>) -> Self {
        Self { place, ..self }
    }
}

/// Moves the caret of a view to a location and scrolls it to the middle.
pub(crate) fn go_to(editor: &Entity<Editor>, position: GoToPosition, cx: &mut App) {
    editor.update(cx, |editor, cx| {
        let snapshot = editor.model().read(cx).snapshot();
        let span = match position {
            GoToPosition::Span(span) => span,
            GoToPosition::Place(place) => base::Span::at(offset_of(&snapshot, place)),
            GoToPosition::StartOf(range) => {
                let start = range.span(&snapshot).map(|span| span.start);
                let row = range.row().min(snapshot.last_row());
                base::Span::at(start.unwrap_or_else(|| snapshot.row_start(row)))
            }
            GoToPosition::InRow { row, start, end } => {
                let at = |column| {
                    snapshot.offset_at(Point {
                        row,
                        column: base::Column(column),
                    })
                };
                base::Span::new(at(start), at(end))
            }
        };
        // With the keys of Vim, a selection would begin visual mode.
        let span = match vim_status(editor) {
            Some(_) => base::Span::at(span.start),
            None => span,
        };
        editor.select(vec![span], Reveal::Center, cx);
    });
}

/// Converts a line and column, counted from 1, into a byte offset.
fn offset_of(snapshot: &text::Snapshot, place: LineColumn) -> base::ByteOffset {
    let row = base::Row(place.line.saturating_sub(1)).min(snapshot.last_row());
    let start = snapshot.row_start(row);
    let chars = snapshot
        .chars_at(start)
        .take_while(|c| *c != '\n' && *c != '\r');
    let before = usize::try_from(place.column.saturating_sub(1)).unwrap_or(0);
    let bytes: usize = chars.take(before).map(char::len_utf8).sum();
    start + bytes
}
