//! Everything that changes a buffer or its history, as values.
//!
//! A buffer that records gives these out; applied in order to a buffer with the same start text
//! they give the same text, the same undo tree and the same checkpoints.

use crate::edit::{Author, Edit, Origin, Timestamp};
use crate::history::{CheckpointId, NodeId};
use crate::line_ending::LineEnding;
use crate::selection::SelectionSet;

/// One call that changed a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// `Buffer::edit` or `Buffer::replace`.
    Edit {
        /// As applied: sorted, disjoint, in the revision of that moment.
        edits: Vec<Edit>,
        /// Who, how, when.
        origin: Origin,
    },
    /// `Buffer::begin_step`.
    BeginStep,
    /// `Buffer::end_step`.
    EndStep,
    /// `Buffer::seal_step`.
    SealStep,
    /// `Buffer::undo`.
    Undo,
    /// `Buffer::redo`.
    Redo,
    /// `Buffer::undo_by`.
    UndoBy {
        /// Whose step was undone.
        author: Author,
        /// When.
        at: Timestamp,
    },
    /// `Buffer::go_to`.
    GoTo(NodeId),
    /// `Buffer::checkpoint`.
    Checkpoint {
        /// Its name.
        name: String,
    },
    /// `Buffer::restore`.
    Restore(CheckpointId),
    /// `Buffer::note_selections_before`.
    SelectionsBefore(SelectionSet),
    /// `Buffer::note_selections_after`.
    SelectionsAfter(SelectionSet),
    /// `Buffer::set_line_ending`.
    SetLineEnding(LineEnding),
}
