//! Edits, undo and redo of the shared text.

use gpui_kit::Context;
use text::{Author, Edit, EditKind, Origin, Restored, SelectionSet};

use super::DocumentModel;

/// The selections around an edit, kept for undo and redo.
pub(crate) struct Around<'a> {
    pub(crate) before: &'a SelectionSet,
    pub(crate) after: &'a SelectionSet,
}

impl DocumentModel {
    /// Applies edits, which are disjoint and mean the current revision, as one step of `author`.
    /// Does nothing to a document that cannot be edited.
    pub fn edit(&mut self, edits: &[Edit], author: Author, cx: &mut Context<Self>) {
        self.edit_as(edits, author, EditKind::Other, cx);
    }

    /// The same; the kind decides which edits share a step.
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
                    .edit(edits, &Origin::new(author, kind, at));
            }
        });
    }

    /// The person's edit, with the selections that undo and redo give back.
    pub(crate) fn edit_with_selections(
        &mut self,
        edits: &[Edit],
        kind: EditKind,
        around: &Around<'_>,
        cx: &mut Context<Self>,
    ) {
        let origin = Origin::new(Author::User, kind, self.now());
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

    /// Goes back one step; says which selections belong to the text then.
    pub fn undo(&mut self, cx: &mut Context<Self>) -> Option<Restored> {
        self.mutate(cx, |document| {
            document.can_edit().then(|| document.buffer_mut().undo())?
        })
    }

    /// Goes forward one step.
    pub fn redo(&mut self, cx: &mut Context<Self>) -> Option<Restored> {
        self.mutate(cx, |document| {
            document.can_edit().then(|| document.buffer_mut().redo())?
        })
    }

    /// Chooses what ends every line, and turns the lines that end otherwise.
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
                    document.buffer_mut().edit(&edits, &Origin::user(at));
                }
            }
        });
    }
}
