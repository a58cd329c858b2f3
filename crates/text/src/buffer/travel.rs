//! Moves in the undo tree: steps, undo and redo, checkpoints.

use smallvec::SmallVec;

use crate::buffer::{Buffer, CheckedEdit};
use crate::change::{Change, compose_all};
use crate::edit::{Author, EditKind, EditOrigin, Timestamp};
use crate::history::{CheckpointId, EditRef, NodeId, Splices};
use crate::operation::BufferOperation;
use crate::selection::SelectionSet;

/// The effect of an undo, a redo or a move in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoOutcome {
    /// Change of the text. Its author is the user, regardless of the authors of the steps.
    pub change: Change,
    /// Selections noted for the state that the text is now in.
    pub selections: Option<SelectionSet>,
}

impl Buffer {
    /// Starts an undo step: until the matching `end_step`, all edits of one author belong to it.
    /// May be nested. Each call needs its `end_step`.
    pub fn begin_step(&mut self) {
        self.record(|| BufferOperation::BeginStep);
        self.history.begin_step();
    }

    /// Ends the step started by `begin_step`; the outermost call closes it. Without one it has no
    /// effect and fails in debug builds.
    pub fn end_step(&mut self) {
        self.record(|| BufferOperation::EndStep);
        self.history.end_step();
    }

    /// Makes the next edit start a new step, even between `begin_step` and `end_step`.
    pub fn seal_step(&mut self) {
        self.record(|| BufferOperation::SealStep);
        self.history.seal();
    }

    /// Notes the selections before the next edit. They are kept only if that edit starts a step;
    /// undoing that step returns them.
    pub fn note_selections_before(&mut self, selections: &SelectionSet) {
        self.record(|| BufferOperation::SelectionsBefore(selections.clone()));
        self.history.note_before(selections);
    }

    /// Notes the selections after the last edit, replacing earlier ones of the same step; redoing
    /// its step returns them.
    pub fn note_selections_after(&mut self, selections: &SelectionSet) {
        self.record(|| BufferOperation::SelectionsAfter(selections.clone()));
        self.history.note_after(selections);
    }

    /// Goes back one step; directly after `restore`, back to the state before it.
    ///
    /// Returns `None` at the start text.
    pub fn undo(&mut self) -> Option<UndoOutcome> {
        let target = self.history.undo_target()?;
        self.record(|| BufferOperation::Undo);
        self.step_to(target)
    }

    /// Goes forward one step, into the branch left last.
    ///
    /// Returns `None` if there is no further step.
    pub fn redo(&mut self) -> Option<UndoOutcome> {
        let target = self.history.redo_target()?;
        self.record(|| BufferOperation::Redo);
        self.step_to(target)
    }

    /// Goes to any state of the undo tree. Redo then follows the path to that state.
    ///
    /// Returns `None` if there is no such state or the text is already in it.
    pub fn go_to(&mut self, node: NodeId) -> Option<UndoOutcome> {
        let restored = self.travel(node)?;
        self.record(|| BufferOperation::GoTo(node));
        self.history.clear_jump();
        Some(restored)
    }

    /// Reverts the newest step of one author, as a new step of that author, and keeps later work.
    ///
    /// Returns `None` if there is no such step or later work overlaps it. Takes time in proportion
    /// to the steps since. `at` is the time of the new step.
    pub fn undo_by(&mut self, author: &Author, at: Timestamp) -> Option<UndoOutcome> {
        let (step, edits) = self.history.revert_of(author, self.text.storage())?;
        // Text between two edits may be gone, so that they touch now.
        let edits = self.normalized(&edits);
        let refs: Vec<EditRef<'_>> = edits.iter().map(CheckedEdit::as_ref).collect();
        self.record(|| BufferOperation::UndoBy {
            author: *author,
            at,
        });
        let origin = EditOrigin::new(*author, EditKind::Other, at);
        self.history.seal();
        let change = self.apply(&refs, &origin);
        self.history.mark_revert(step);
        Some(UndoOutcome {
            change,
            selections: None,
        })
    }

    /// Names the current state for `restore`, and ends the current undo step. Names may repeat; the
    /// id is what identifies the state. The text is not copied.
    pub fn checkpoint(&mut self, name: &str) -> CheckpointId {
        self.record(|| BufferOperation::Checkpoint {
            name: name.to_owned(),
        });
        self.history.add_checkpoint(name)
    }

    /// Goes to the state of a checkpoint. The next undo returns to the state before that.
    ///
    /// Returns `None` if there is no such checkpoint or the text is already in its state.
    pub fn restore(&mut self, checkpoint: CheckpointId) -> Option<UndoOutcome> {
        let from = self.history.current();
        let to = self.history.checkpoint(checkpoint)?;
        let restored = self.travel(to)?;
        self.record(|| BufferOperation::Restore(checkpoint));
        self.history.set_jump(from, to);
        Some(restored)
    }

    /// Goes to `target`, which undo or redo has chosen; `None` if the text is already in that
    /// state. Forgets the jump of `restore` unless this move is that jump, in either direction.
    fn step_to(&mut self, target: NodeId) -> Option<UndoOutcome> {
        let is_jump = self.history.is_jump(target);
        let restored = self.travel(target);
        if !is_jump {
            self.history.clear_jump();
        }
        restored
    }

    /// Goes to a state of the undo tree as one change, with the selections noted for it. `None` if
    /// there is no such state or the text is already in it.
    fn travel(&mut self, target: NodeId) -> Option<UndoOutcome> {
        let path = self.history.path_to(target)?;
        let mut selections = None;
        let mut lists: SmallVec<[Splices; 1]> = SmallVec::new();
        for &(step, direction) in &path {
            lists.push(self.history.apply(step, direction, self.text.flush()));
            selections = self.history.record_move(step, direction);
        }
        if path.is_empty() {
            return None;
        }
        let change = self.finish(compose_all(&lists), Author::User);
        Some(UndoOutcome { change, selections })
    }
}
