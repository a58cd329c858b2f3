//! Open texts that Tab watches: the state of each before its last change, and the cause of that
//! change.

use std::collections::HashMap;

use autocomplete::ChangeCause;
use base::{AbsPath, Revision};
use editor::DocumentModel;
use gpui_kit::{App, Entity, EntityId, Subscription, WeakEntity};
use text::{Author, History, NodeId, Snapshot};

/// An open text under watch.
pub(super) struct WatchedText {
    pub(super) model: WeakEntity<DocumentModel>,
    before: Snapshot,
    undo: UndoPosition,
    /// The file whose text is recorded.
    pub(super) path: Option<AbsPath>,
    _followed: Subscription,
}

/// Position in a text's undo tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UndoPosition {
    current: NodeId,
    steps: usize,
}

/// The text before a change and the cause of the change.
pub(super) struct TextChange {
    pub(super) before: Snapshot,
    pub(super) cause: ChangeCause,
}

/// Watched texts by entity.
pub(super) type WatchedTexts = HashMap<EntityId, WatchedText>;

impl UndoPosition {
    fn of(history: &History) -> Self {
        Self {
            current: history.current(),
            steps: history.len(),
        }
    }
}

impl WatchedText {
    /// Starts watching a text from its current state. The subscription `followed` ends when the
    /// returned value is dropped.
    pub(super) fn new(model: &Entity<DocumentModel>, followed: Subscription, cx: &App) -> Self {
        let read = model.read(cx);
        Self {
            model: model.downgrade(),
            before: read.snapshot(),
            undo: UndoPosition::of(read.document().buffer().history()),
            path: read.path().cloned(),
            _followed: followed,
        }
    }

    /// Records that the text changed to the state in `model`. `taken` is the revision created by
    /// the last accepted suggestion.
    pub(super) fn changed(
        &mut self,
        model: &DocumentModel,
        author: Author,
        taken: Option<Revision>,
    ) -> TextChange {
        let after = model.snapshot();
        let history = model.document().buffer().history();
        let undo = UndoPosition::of(history);
        let cause = if taken == Some(after.revision()) {
            ChangeCause::Accepted
        } else if is_undo(self.undo, undo, history) {
            ChangeCause::Undone
        } else if author == Author::User {
            ChangeCause::Typed
        } else {
            ChangeCause::Other
        };
        self.undo = undo;
        TextChange {
            before: std::mem::replace(&mut self.before, after),
            cause,
        }
    }
}

/// Returns whether moving between two positions of the undo tree undoes or redoes an edit.
fn is_undo(before: UndoPosition, now: UndoPosition, history: &History) -> bool {
    let is_new = now.steps > before.steps;
    let reverts = history
        .step(now.current)
        .is_some_and(|step| step.reverts.is_some());
    if is_new {
        reverts
    } else {
        now.current != before.current
    }
}

#[cfg(test)]
mod tests {
    use base::{ByteOffset, Span};
    use text::{Buffer, EditOrigin, Timestamp};

    use super::{UndoPosition, is_undo};

    #[test]
    fn undo_is_distinguished_from_typing() {
        let mut buffer = Buffer::new("");
        let mut position = UndoPosition::of(buffer.history());
        let mut step = |buffer: &Buffer| {
            let now = UndoPosition::of(buffer.history());
            let is_undo = is_undo(position, now, buffer.history());
            position = now;
            is_undo
        };
        let typed = |buffer: &mut Buffer, at: usize, text: &str| {
            let origin = EditOrigin::typing(Timestamp(0));
            buffer.replace(Span::at(ByteOffset(at)), text, &origin);
        };
        typed(&mut buffer, 0, "a");
        assert!(!step(&buffer));
        typed(&mut buffer, 1, "b");
        assert!(!step(&buffer), "a step that grows is no undo");
        buffer.undo();
        assert!(step(&buffer));
        buffer.redo();
        assert!(step(&buffer));
        buffer.undo();
        assert!(step(&buffer));
        typed(&mut buffer, 0, "c");
        assert!(!step(&buffer), "a new branch is no undo");
    }
}
