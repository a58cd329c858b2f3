//! Edits of one text by a server, such as those of a formatter.

use editor::DocumentModel;
use gpui_kit::{App, Entity};
use lsp::DocumentEdits;
use text::Author;

use super::plan::document_edits;
use crate::error::Error;

/// Applies the edits of a formatter as one undo step.
///
/// # Errors
/// The text has changed since the server read it, is read-only, or would lose all of its content.
pub(crate) fn apply_formatting(
    document: &Entity<DocumentModel>,
    answer: DocumentEdits,
    cx: &mut App,
) -> Result<(), Error> {
    let (text, can_edit, ending, path) = {
        let document = document.read(cx).document();
        let ending = document.buffer().line_ending();
        let path = document.path().cloned();
        (document.snapshot(), document.can_edit(), ending, path)
    };
    // A text without a file has no server.
    let Some(path) = path else {
        return Ok(());
    };
    if !answer.text.is_same_text(&text) {
        return Err(Error::EditOutdated(path));
    }
    if !can_edit {
        return Err(Error::EditOfReadOnly(path));
    }
    let edits = document_edits(answer.edits, &text, ending);
    let removed: usize = edits.iter().map(|edit| edit.span.len()).sum();
    let is_all_removed = removed == text.len().0 && edits.iter().all(|edit| edit.text.is_empty());
    if is_all_removed && !text.is_empty() {
        return Err(Error::FormattingRemovesAll(path));
    }
    document.update(cx, |model, cx| model.edit(&edits, Author::Formatter, cx));
    Ok(())
}
