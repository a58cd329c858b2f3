//! The undo tree.

use crate::change::Change;
use crate::edit::{Author, EditKind, Timestamp};
use crate::selection::SelectionSet;
use crate::snapshot::Snapshot;

/// A state of the text in the undo tree. 0 is the start text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A named state; see `Buffer::checkpoint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u32);

/// What is known of one step of the undo tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state it leads to.
    pub id: NodeId,
    /// The state it starts from.
    pub parent: NodeId,
    /// Whose step it is.
    pub author: Author,
    /// How it came about.
    pub kind: EditKind,
    /// When its first edit happened.
    pub started: Timestamp,
    /// When its last edit happened.
    pub ended: Timestamp,
    /// The earlier step that this one took back, see `Buffer::undo_by`.
    pub reverts: Option<NodeId>,
}

pub(crate) struct Node {
    pub(crate) step: Step,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    pub(crate) change: Change,
    pub(crate) selections_before: Option<SelectionSet>,
    pub(crate) selections_after: Option<SelectionSet>,
    pub(crate) redo: Option<NodeId>,
}

/// The undo tree of a buffer.
#[derive(Default)]
pub struct History {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root_redo: Option<NodeId>,
    pub(crate) current: NodeId,
    pub(crate) checkpoints: Vec<(String, NodeId)>,
}

impl History {
    /// The state the text is in.
    pub fn current(&self) -> NodeId {
        self.current
    }

    /// The step that leads to `id`; none for the start text and for unknown ids.
    pub fn step(&self, id: NodeId) -> Option<Step> {
        Some(self.node(id)?.step)
    }

    /// All steps in the order in which they were made.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        self.nodes.iter().map(|node| node.step)
    }

    /// Whether `Buffer::undo` has something to undo.
    pub fn can_undo(&self) -> bool {
        self.current.0 > 0
    }

    /// Whether `Buffer::redo` has something to redo.
    pub fn can_redo(&self) -> bool {
        self.redo_target().is_some()
    }

    /// All checkpoints with their names and states, oldest first.
    pub fn checkpoints(&self) -> impl Iterator<Item = (CheckpointId, &str, NodeId)> {
        let all = self.checkpoints.iter().enumerate();
        all.map(|(ix, (name, node))| (CheckpointId(ix as u32), name.as_str(), *node))
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get((id.0 as usize).checked_sub(1)?)
    }

    pub(crate) fn redo_target(&self) -> Option<NodeId> {
        match self.node(self.current) {
            Some(node) => node.redo,
            None => self.root_redo,
        }
    }
}
