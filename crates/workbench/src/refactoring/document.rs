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

    /// Returns the edits; none if they refer to another text, or would remove all of it.
    pub(crate) fn for_text(self, text: &Snapshot) -> Vec<Edit> {
        if self.text.is_same_text(text) && !self.removes_all() {
            self.edits
        } else {
            Vec::new()
        }
    }

    fn removes_all(&self) -> bool {
        let removed: usize = self.edits.iter().map(|edit| edit.span.len()).sum();
        let inserts_nothing = self.edits.iter().all(|edit| edit.text.is_empty());
        !self.text.is_empty() && removed == self.text.len().0 && inserts_nothing
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
    if formatting.removes_all() {
        return Err(Error::FormattingRemovesAll(path));
    }
    let edits = formatting.edits;
    document.update(cx, |model, cx| model.edit(&edits, Author::Formatter, cx));
    Ok(())
}
