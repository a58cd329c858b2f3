//! Moving in the undo tree: steps, undo and redo, checkpoints.

use smallvec::SmallVec;

use crate::buffer::{Buffer, CheckedEdit};
use crate::change::{Change, compose_all};
use crate::edit::{Author, EditKind, Origin, Timestamp};
use crate::history::{CheckpointId, EditRef, NodeId, Splices};
use crate::operation::Operation;
use crate::selection::SelectionSet;

/// What an undo, a redo or a move in the tree did.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    /// What became of the text. Its author is the person, whoever made the steps.
    pub change: Change,
    /// The selections that were noted for the state the text is in now.
    pub selections: Option<SelectionSet>,
}

impl Buffer {
    /// Until the matching `end_step` all edits of one author belong to one undo step. May be nested.
    pub fn begin_step(&mut self) {
        self.record(|| Operation::BeginStep);
        self.history.begin_step();
    }

    /// Ends what `begin_step` began.
    pub fn end_step(&mut self) {
        self.record(|| Operation::EndStep);
        self.history.end_step();
    }

    /// The next edit starts a step of its own, unless `begin_step` holds one open.
    pub fn seal_step(&mut self) {
        self.record(|| Operation::SealStep);
        self.history.seal();
    }

    /// The selections before the next edit; undoing its step gives them back.
    pub fn note_selections_before(&mut self, selections: &SelectionSet) {
        self.record(|| Operation::SelectionsBefore(selections.clone()));
        self.history.note_before(selections);
    }

    /// The selections after the last edit; redoing its step gives them back.
    pub fn note_selections_after(&mut self, selections: &SelectionSet) {
        self.record(|| Operation::SelectionsAfter(selections.clone()));
        self.history.note_after(selections);
    }

    /// Goes back one step; right after `restore`, back to where that came from.
    ///
    /// `None` at the start text.
    pub fn undo(&mut self) -> Option<Restored> {
        let target = self.history.undo_target()?;
        self.record(|| Operation::Undo);
        self.step_to(target)
    }

    /// Goes forward one step, into the branch that was left last.
    ///
    /// `None` where no step goes on.
    pub fn redo(&mut self) -> Option<Restored> {
        let target = self.history.redo_target()?;
        self.record(|| Operation::Redo);
        self.step_to(target)
    }

    /// Goes to any state of the undo tree. Redo then follows the path that leads here.
    ///
    /// `None` when there is no such state or the text is in it.
    pub fn go_to(&mut self, node: NodeId) -> Option<Restored> {
        let restored = self.travel(node)?;
        self.record(|| Operation::GoTo(node));
        self.history.clear_jump();
        Some(restored)
    }

    /// Takes back the newest step of one author, as a new step of that author, and keeps later work.
    ///
    /// `None` when there is no such step or later work overlaps it. Takes time in proportion to
    /// the steps since.
    pub fn undo_by(&mut self, author: &Author, at: Timestamp) -> Option<Restored> {
        let (step, edits) = self.history.revert_of(author, self.text.storage())?;
        // What lay between two of them may be gone, so that they touch now.
        let edits = self.normalized(&edits);
        let refs: Vec<EditRef<'_>> = edits.iter().map(CheckedEdit::as_ref).collect();
        self.record(|| Operation::UndoBy {
            author: *author,
            at,
        });
        let origin = Origin::new(*author, EditKind::Other, at);
        self.history.detach();
        let change = self.apply(&refs, &origin);
        self.history.mark_revert(step);
        Some(Restored {
            change,
            selections: None,
        })
    }

    /// Names the current state, to come back to it with `restore`. Names may repeat.
    pub fn checkpoint(&mut self, name: &str) -> CheckpointId {
        self.record(|| Operation::Checkpoint {
            name: name.to_owned(),
        });
        self.history.add_checkpoint(name)
    }

    /// Goes to the state of a checkpoint. The next undo comes back from there.
    ///
    /// `None` when there is no such checkpoint or the text is in its state.
    pub fn restore(&mut self, checkpoint: CheckpointId) -> Option<Restored> {
        let from = self.history.current();
        let to = self.history.checkpoint(checkpoint)?;
        let restored = self.travel(to)?;
        self.record(|| Operation::Restore(checkpoint));
        self.history.set_jump(from, to);
        Some(restored)
    }

    fn step_to(&mut self, target: NodeId) -> Option<Restored> {
        let is_jump = self.history.is_jump(target);
        let restored = self.travel(target);
        if !is_jump {
            self.history.clear_jump();
        }
        restored
    }

    fn travel(&mut self, target: NodeId) -> Option<Restored> {
        let path = self.history.path_to(target)?;
        let mut selections = None;
        let mut lists: SmallVec<[Splices; 1]> = SmallVec::new();
        for &(step, direction) in &path {
            lists.push(self.history.apply(step, direction, self.text.flush()));
            selections = self.history.took(step, direction);
        }
        if path.is_empty() {
            return None;
        }
        let change = self.finish(compose_all(&lists), Author::User);
        Some(Restored { change, selections })
    }
}
