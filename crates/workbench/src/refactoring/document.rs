//! Edits of one text by a formatter.

use editor::DocumentModel;
use gpui_kit::{App, Entity};
use lsp::DocumentEdits;
use text::{Author, Edit, LineEnding, Snapshot};

use super::plan::document_edits;
use crate::error::Error;

/// The edits of a formatter, reduced to the parts of the text that they change.
pub(crate) struct FormattingEdits {
    /// The text to which the edits refer.
    text: Snapshot,
    edits: Vec<Edit>,
}

impl FormattingEdits {
    /// Reduces the edits of a formatter and gives them the line ending of the text. Takes time in proportion to the
    /// replaced text, so call it in the background.
    pub(crate) fn of(answer: DocumentEdits, ending: LineEnding) -> Self {
        Self {
            edits: document_edits(answer.edits, &answer.text, ending),
            text: answer.text,
        }
    }
}

/// Applies the edits of a formatter as one undo step.
///
/// # Errors
/// The text has changed since the formatter read it, is read-only, or would lose all of its content.
pub(crate) fn apply_formatting(
    document: &Entity<DocumentModel>,
    formatting: FormattingEdits,
    cx: &mut App,
) -> Result<(), Error> {
    let (text, can_edit, path) = {
        let document = document.read(cx).document();
        let path = document.path().cloned();
        (document.snapshot(), document.can_edit(), path)
    };
    // A text without a file has no server.
    let Some(path) = path else {
        return Ok(());
    };
    if !formatting.text.is_same_text(&text) {
        return Err(Error::EditOutdated(path));
    }
    if !can_edit {
        return Err(Error::EditOfReadOnly(path));
    }
    let edits = formatting.edits;
    let removed: usize = edits.iter().map(|edit| edit.span.len()).sum();
    let is_all_removed = removed == text.len().0 && edits.iter().all(|edit| edit.text.is_empty());
    if is_all_removed && !text.is_empty() {
        return Err(Error::FormattingRemovesAll(path));
    }
    document.update(cx, |model, cx| model.edit(&edits, Author::Formatter, cx));
    Ok(())
}
