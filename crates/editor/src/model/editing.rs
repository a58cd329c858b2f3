//! Edits, undo and redo of the shared text.

use gpui_kit::Context;
use project::Document;
use text::{Author, Edit, EditKind, EditOrigin, SelectionSet, Timestamp, UndoOutcome};

use super::DocumentModel;

/// The selections before and after an edit, for undo and redo.
pub(crate) struct EditSelections<'a> {
    pub(crate) before: &'a SelectionSet,
    pub(crate) after: &'a SelectionSet,
}

impl DocumentModel {
    /// Applies disjoint edits of the current revision as one step of `author`. Does nothing if the
    /// document is read-only.
    pub fn edit(&mut self, edits: &[Edit], author: Author, cx: &mut Context<Self>) {
        self.edit_as(edits, author, EditKind::Other, cx);
    }

    /// Applies edits as `edit` does. `kind` decides whether these edits join the last undo step.
    pub(crate) fn edit_as(
        &mut self,
        edits: &[Edit],
        author: Author,
        kind: EditKind,
        cx: &mut Context<Self>,
    ) {
        let at = self.now();
        self.mutate(cx, |document| {
            if document.can_edit() {
                document
                    .buffer_mut()
                    .edit(edits, &EditOrigin::new(author, kind, at));
            }
        });
    }

    /// Applies an edit of the user and stores the selections before and after the edit, which undo
    /// and redo restore.
    pub(crate) fn edit_with_selections(
        &mut self,
        edits: &[Edit],
        kind: EditKind,
        around: &EditSelections<'_>,
        cx: &mut Context<Self>,
    ) {
        let origin = EditOrigin::new(Author::User, kind, self.now());
        self.mutate(cx, |document| {
            let buffer = document.buffer_mut();
            buffer.note_selections_before(around.before);
            match edits {
                [edit] => {
                    buffer.replace(edit.span, &edit.text, &origin);
                }
                edits => {
                    buffer.edit(edits, &origin);
                }
            }
            buffer.note_selections_after(around.after);
        });
    }

    /// Lets `change` edit the text any number of times as one change: tree and views follow once,
    /// when it ends. `change` receives the time for the origin of its edits.
    pub(crate) fn edit_in_batch<R>(
        &mut self,
        cx: &mut Context<Self>,
        change: impl FnOnce(&mut Document, Timestamp, &mut Context<Self>) -> R,
    ) -> R {
        let before = self.document.snapshot();
        let at = self.now();
        self.document.buffer_mut().begin_batch();
        let result = change(&mut self.document, at, cx);
        let buffer = self.document.buffer_mut();
        buffer.end_batch(before.revision());
        self.after(&before, cx);
        result
    }

    /// Applies edits of a formatter as one step. Undo and redo restore `selections` and those after the
    /// edits, which are returned. Do not call it for a read-only document.
    pub(crate) fn format(
        &mut self,
        edits: &[Edit],
        selections: &SelectionSet,
        cx: &mut Context<Self>,
    ) -> SelectionSet {
        let origin = EditOrigin::new(Author::Formatter, EditKind::Other, self.now());
        self.mutate(cx, |document| {
            let buffer = document.buffer_mut();
            buffer.note_selections_before(selections);
            let change = buffer.edit(edits, &origin);
            let after = selections.map(&change);
            buffer.note_selections_after(&after);
            after
        })
    }

    /// Undoes one step of the text. Returns the change and the selections to restore. Returns
    /// `None` if there is nothing to undo or the document is read-only.
    pub fn undo(&mut self, cx: &mut Context<Self>) -> Option<UndoOutcome> {
        self.mutate(cx, |document| {
            document.can_edit().then(|| document.buffer_mut().undo())?
        })
    }

    /// Redoes one step of the text. Returns the change and the selections to restore. Returns
    /// `None` if there is nothing to redo or the document is read-only.
    pub fn redo(&mut self, cx: &mut Context<Self>) -> Option<UndoOutcome> {
        self.mutate(cx, |document| {
            document.can_edit().then(|| document.buffer_mut().redo())?
        })
    }

    /// Sets the line ending for typed lines and converts all lines to it, as one undoable edit.
    /// Does nothing if the document is read-only.
    pub fn convert_line_endings(&mut self, ending: text::LineEnding, cx: &mut Context<Self>) {
        let snapshot = self.snapshot();
        let edits: Vec<Edit> = (0..snapshot.last_row().0)
            .filter_map(|row| {
                let row = base::Row(row);
                let (end, next) = (snapshot.row_end(row), snapshot.row_start(row + 1));
                let is_right = next - end == ending.as_str().len();
                (!is_right).then(|| Edit::new(base::Span::new(end, next), ending.as_str()))
            })
            .collect();
        let at = self.now();
        self.mutate(cx, |document| {
            if document.can_edit() {
                document.buffer_mut().set_line_ending(ending);
                if !edits.is_empty() {
                    document.buffer_mut().edit(&edits, &EditOrigin::user(at));
                }
            }
        });
    }
}
