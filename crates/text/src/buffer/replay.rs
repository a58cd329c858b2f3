//! Recording what is done, and doing it again.

use base::Span;

use crate::buffer::Buffer;
use crate::change::Change;
use crate::edit::Edit;
use crate::operation::Operation;

impl Buffer {
    /// Whether operations are recorded from now on. What was recorded and not taken stays.
    pub fn set_recording(&mut self, is_recording: bool) {
        if !is_recording {
            self.operations = None;
        } else if self.operations.is_none() {
            self.operations = Some(Vec::new());
        }
    }

    /// The operations recorded since the last call, oldest first.
    ///
    /// Unbounded while nobody takes them.
    pub fn take_operations(&mut self) -> Vec<Operation> {
        self.operations
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Does again what a recorded operation did. An operation that does not fit does nothing,
    /// so that a damaged recording does no harm.
    pub fn apply_operation(&mut self, operation: &Operation) -> Change {
        let before = self.revision;
        let restored = match operation {
            Operation::Edit { edits, origin } if self.fit(edits) => {
                return self.edit(edits, origin);
            }
            Operation::Undo => self.undo(),
            Operation::Redo => self.redo(),
            Operation::UndoBy { author, at } => self.undo_by(author, *at),
            Operation::GoTo(node) => self.go_to(*node),
            Operation::Restore(checkpoint) => self.restore(*checkpoint),
            other => {
                self.apply_note(other);
                None
            }
        };
        restored.map_or(Change::none(before), |restored| restored.change)
    }

    /// The operations that leave the text alone.
    fn apply_note(&mut self, operation: &Operation) {
        match operation {
            Operation::BeginStep => self.begin_step(),
            Operation::EndStep if self.history.is_step_open() => self.end_step(),
            Operation::SealStep => self.seal_step(),
            Operation::Checkpoint { name } => {
                self.checkpoint(name);
            }
            Operation::SelectionsBefore(selections) => self.note_selections_before(selections),
            Operation::SelectionsAfter(selections) => self.note_selections_after(selections),
            Operation::SetLineEnding(ending) => self.set_line_ending(*ending),
            Operation::EndStep
            | Operation::Edit { .. }
            | Operation::Undo
            | Operation::Redo
            | Operation::UndoBy { .. }
            | Operation::GoTo(_)
            | Operation::Restore(_) => {}
        }
    }

    /// Whether edits lie within the text and do not overlap.
    fn fit(&self, edits: &[Edit]) -> bool {
        let mut spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
        spans.sort_by_key(|span| (span.start, span.end));
        spans.iter().all(|&span| self.fits(span))
            && spans.windows(2).all(|pair| pair[0].end <= pair[1].start)
    }
}
