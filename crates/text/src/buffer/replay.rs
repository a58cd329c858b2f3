//! Records operations and replays them.

use base::Span;

use crate::buffer::Buffer;
use crate::change::Change;
use crate::edit::Edit;
use crate::operation::BufferOperation;

impl Buffer {
    /// Turns recording of operations on or off. Turning it on again keeps operations already
    /// recorded; turning it off drops those that were not taken.
    pub fn set_recording(&mut self, is_recording: bool) {
        if !is_recording {
            self.operations = None;
        } else if self.operations.is_none() {
            self.operations = Some(Vec::new());
        }
    }

    /// Returns the operations recorded since the last call, oldest first, and removes them. Empty
    /// while recording is off.
    ///
    /// Unbounded while they are not taken.
    pub fn take_operations(&mut self) -> Vec<BufferOperation> {
        self.operations
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Repeats a recorded operation and returns its change of the text, which is empty if it
    /// changes only the history. An operation that does not fit has no effect, so that a damaged
    /// recording does no harm. It is recorded again if recording is on.
    pub fn apply_operation(&mut self, operation: &BufferOperation) -> Change {
        let before = self.revision;
        let restored = match operation {
            BufferOperation::Edit { edits, origin } if self.fit(edits) => {
                return self.edit(edits, origin);
            }
            BufferOperation::Undo => self.undo(),
            BufferOperation::Redo => self.redo(),
            BufferOperation::UndoBy { author, at } => self.undo_by(author, *at),
            BufferOperation::GoTo(node) => self.go_to(*node),
            BufferOperation::Restore(checkpoint) => self.restore(*checkpoint),
            other => {
                self.apply_note(other);
                None
            }
        };
        restored.map_or(Change::none(before), |restored| restored.change)
    }

    /// Applies an operation that leaves the text unchanged.
    fn apply_note(&mut self, operation: &BufferOperation) {
        match operation {
            BufferOperation::BeginStep => self.begin_step(),
            BufferOperation::EndStep if self.history.is_step_open() => self.end_step(),
            BufferOperation::SealStep => self.seal_step(),
            BufferOperation::Checkpoint { name } => {
                self.checkpoint(name);
            }
            BufferOperation::SelectionsBefore(selections) => {
                self.note_selections_before(selections)
            }
            BufferOperation::SelectionsAfter(selections) => self.note_selections_after(selections),
            BufferOperation::SetLineEnding(ending) => self.set_line_ending(*ending),
            BufferOperation::EndStep
            | BufferOperation::Edit { .. }
            | BufferOperation::Undo
            | BufferOperation::Redo
            | BufferOperation::UndoBy { .. }
            | BufferOperation::GoTo(_)
            | BufferOperation::Restore(_) => {}
        }
    }

    /// Returns whether the edits lie within the text and do not overlap.
    fn fit(&self, edits: &[Edit]) -> bool {
        let mut spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        spans.iter().all(|&span| self.fits(span))
            && spans.windows(2).all(|pair| pair[0].end <= pair[1].start)
    }
}
