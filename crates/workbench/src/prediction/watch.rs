//! The open texts, as far as Tab follows them: what each was before its last change, and how that came about.

use std::collections::HashMap;

use autocomplete::Cause;
use base::Revision;
use editor::DocumentModel;
use gpui_kit::{App, Entity, EntityId, Subscription, WeakEntity};
use text::{Author, History, NodeId, Snapshot};

/// A text that is followed.
pub(super) struct Watched {
    pub(super) model: WeakEntity<DocumentModel>,
    before: Snapshot,
    undo: UndoPlace,
    _followed: Subscription,
}

/// Where a text's undo tree stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UndoPlace {
    current: NodeId,
    steps: usize,
}

/// What a change was made to, and how it came about.
pub(super) struct Changed {
    pub(super) before: Snapshot,
    pub(super) cause: Cause,
}

/// The texts that are followed.
pub(super) type Watching = HashMap<EntityId, Watched>;

impl UndoPlace {
    fn of(history: &History) -> Self {
        Self {
            current: history.current(),
            steps: history.len(),
        }
    }
}

impl Watched {
    pub(super) fn new(model: &Entity<DocumentModel>, followed: Subscription, cx: &App) -> Self {
        let read = model.read(cx);
        Self {
            model: model.downgrade(),
            before: read.snapshot(),
            undo: UndoPlace::of(read.document().buffer().history()),
            _followed: followed,
        }
    }

    /// The text changed to what `model` holds now. `taken` is the revision that the last taking of a suggestion led to.
    pub(super) fn changed(
        &mut self,
        model: &DocumentModel,
        author: Author,
        taken: Option<Revision>,
    ) -> Changed {
        let after = model.snapshot();
        let history = model.document().buffer().history();
        let undo = UndoPlace::of(history);
        let cause = if taken == Some(after.revision()) {
            Cause::Accepted
        } else if is_undo(self.undo, undo, history) {
            Cause::Undone
        } else if author == Author::User {
            Cause::Typed
        } else {
            Cause::Other
        };
        self.undo = undo;
        Changed {
            before: std::mem::replace(&mut self.before, after),
            cause,
        }
    }
}

/// Whether the way from one place of the undo tree to another takes something back or brings it back.
fn is_undo(before: UndoPlace, now: UndoPlace, history: &History) -> bool {
    let is_new = now.steps > before.steps;
    let reverts = history
        .step(now.current)
        .is_some_and(|step| step.reverts.is_some());
    match is_new {
        true => reverts,
        false => now.current != before.current,
    }
}

#[cfg(test)]
mod tests {
    use base::{ByteOffset, Span};
    use text::{Buffer, Origin, Timestamp};

    use super::{UndoPlace, is_undo};

    #[test]
    fn taking_back_is_told_from_typing() {
        let mut buffer = Buffer::new("");
        let mut place = UndoPlace::of(buffer.history());
        let mut step = |buffer: &Buffer| {
            let now = UndoPlace::of(buffer.history());
            let is_undo = is_undo(place, now, buffer.history());
            place = now;
            is_undo
        };
        let typed = |buffer: &mut Buffer, at: usize, text: &str| {
            let origin = Origin::typing(Timestamp(0));
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
