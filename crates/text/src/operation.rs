//! The operations that change a buffer or its history, as values.
//!
//! A recording buffer emits these; applied in order to a buffer with the same start text, they
//! produce the same text, undo tree and checkpoints.

use crate::edit::{Author, Edit, EditOrigin, Timestamp};
use crate::history::{CheckpointId, NodeId};
use crate::line_ending::LineEnding;
use crate::selection::SelectionSet;

/// A recorded call that changed a buffer: an edit, a move in the undo tree, or a note. A recording
/// buffer emits it for the recovery journal; `Buffer::apply_operation` repeats it.
#[derive(Clone, Debug, PartialEq)]
pub enum BufferOperation {
    /// `Buffer::edit` or `Buffer::replace` was called.
    Edit {
        /// Edits as applied: sorted, disjoint, in the revision of that moment.
        edits: Vec<Edit>,
        /// Author, kind and time.
        origin: EditOrigin,
    },
    /// A call of `Buffer::begin_step`.
    BeginStep,
    /// A call of `Buffer::end_step`.
    EndStep,
    /// A call of `Buffer::seal_step`.
    SealStep,
    /// A call of `Buffer::undo`.
    Undo,
    /// A call of `Buffer::redo`.
    Redo,
    /// A call of `Buffer::undo_by`.
    UndoBy {
        /// Author whose step was undone.
        author: Author,
        /// Time of the undo.
        at: Timestamp,
    },
    /// A call of `Buffer::go_to`.
    GoTo(NodeId),
    /// A call of `Buffer::checkpoint`.
    Checkpoint {
        /// Name of the checkpoint.
        name: String,
    },
    /// A call of `Buffer::restore`.
    Restore(CheckpointId),
    /// A call of `Buffer::note_selections_before`.
    SelectionsBefore(SelectionSet),
    /// A call of `Buffer::note_selections_after`.
    SelectionsAfter(SelectionSet),
    /// A call of `Buffer::set_line_ending`.
    SetLineEnding(LineEnding),
}
