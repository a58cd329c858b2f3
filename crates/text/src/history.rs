//! The undo tree: every state of the text, and the steps between them.
//!
//! Must not know: the storage. It provides patches; the buffer applies them.
//! Invariant: a node's id is greater than its parent's, so ids follow the order of creation.
//! Invariant: splices are in the order of their nodes; only the newest node may grow, and only
//! while it is current and open. Limitations: unbounded. It grows with the typed text; long removed
//! texts share the storage's memory.
//! Start at `record`, which groups edits into steps; `revert` undoes a step between later ones.

mod patch;
mod record;
mod revert;
mod texts;

use crate::edit::{Author, EditKind, Timestamp};
use crate::history::patch::{KeptSplice, TextPair};
use crate::history::texts::FragmentStore;
use crate::selection::SelectionSet;

pub(crate) use crate::history::patch::{Direction, Splices};
pub(crate) use crate::history::record::{EditRef, Removed};
pub(crate) use crate::history::texts::LONG_TEXT_BYTES;

/// A state of the text in the undo tree of one buffer. 0 is the start text; ids follow the order of
/// creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A named state of one buffer, numbered from 0 in order of creation; see `Buffer::checkpoint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u32);

/// Description of a step in the undo tree: the edge from a state to one of its successors, with
/// author, kind and times. It does not contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoStep {
    /// State after the step.
    pub id: NodeId,
    /// State before the step.
    pub parent: NodeId,
    /// Author of the step.
    pub author: Author,
    /// Kind of its edits.
    pub kind: EditKind,
    /// Time of its first edit.
    pub started: Timestamp,
    /// Time of its last edit.
    pub ended: Timestamp,
    /// Earlier step that this one reverted, see `Buffer::undo_by`.
    pub reverts: Option<NodeId>,
}

/// The undo tree of a buffer: every state that the text had, and the texts that each step replaced.
/// A new edit after an undo starts a new branch; no state is dropped. `Buffer` moves in it.
pub struct History {
    /// The first node is the start text.
    nodes: Vec<UndoNode>,
    splices: Vec<KeptSplice>,
    texts: FragmentStore,
    /// Sorted by their first splice.
    wholes: Vec<TextPair>,
    noted: Vec<StepSelections>,
    checkpoints: Vec<(String, NodeId)>,
    current: NodeId,
    /// Whether the newest node, which is then the current one, may still grow.
    is_open: bool,
    /// Number of `begin_step` calls without their `end_step`.
    depth: u32,
    /// Selections before the next edit, if that edit starts a step.
    pending: Option<SelectionSet>,
    jump: Option<CheckpointJump>,
}

struct UndoNode {
    parent: NodeId,
    /// Child to which redo leads; the start text, which is never a child, means none.
    redo: NodeId,
    /// Step that this one reverted; the start text means none.
    reverts: NodeId,
    author: Author,
    kind: EditKind,
    started: Timestamp,
    ended: Timestamp,
    /// Index of its first splice; its splices end at the next node's first.
    first_splice: usize,
    /// Index into `noted`, if it has an entry.
    noted: Option<u32>,
}

/// The selections before and after a step.
#[derive(Default)]
struct StepSelections {
    before: Option<SelectionSet>,
    after: Option<SelectionSet>,
}

/// A move to a checkpoint, which undo and redo treat as one step until something else happens.
#[derive(Clone, Copy)]
struct CheckpointJump {
    from: NodeId,
    to: NodeId,
}

impl History {
    /// Creates a tree that has only the start text.
    pub(crate) fn new() -> Self {
        let start = UndoNode {
            parent: NodeId(0),
            redo: NodeId(0),
            reverts: NodeId(0),
            author: Author::Disk,
            kind: EditKind::Other,
            started: Timestamp(0),
            ended: Timestamp(0),
            first_splice: 0,
            noted: None,
        };
        Self {
            nodes: vec![start],
            splices: Vec::new(),
            texts: FragmentStore::default(),
            wholes: Vec::new(),
            noted: Vec::new(),
            checkpoints: Vec::new(),
            current: NodeId(0),
            is_open: false,
            depth: 0,
            pending: None,
            jump: None,
        }
    }

    /// Returns the node of the state that the text is in.
    pub fn current(&self) -> NodeId {
        self.current
    }

    /// Returns the step that leads to `id`; `None` for the start text and for unknown ids.
    pub fn step(&self, id: NodeId) -> Option<UndoStep> {
        let node = self.nodes.get(id.0 as usize)?;
        (id.0 > 0).then_some(UndoStep {
            id,
            parent: node.parent,
            author: node.author,
            kind: node.kind,
            started: node.started,
            ended: node.ended,
            reverts: (node.reverts.0 > 0).then_some(node.reverts),
        })
    }

    /// Returns all steps in the order of creation.
    pub fn steps(&self) -> impl Iterator<Item = UndoStep> + '_ {
        (1..self.nodes.len() as u32).filter_map(|id| self.step(NodeId(id)))
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Returns whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the steps that start from `id`, oldest first. Scans every later step.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = UndoStep> + '_ {
        let first = id.0.saturating_add(1);
        (first..self.nodes.len() as u32)
            .filter(move |&child| self.nodes[child as usize].parent == id)
            .filter_map(|child| self.step(NodeId(child)))
    }

    /// Returns whether `Buffer::undo` has something to undo.
    pub fn can_undo(&self) -> bool {
        self.undo_target().is_some()
    }

    /// Returns whether `Buffer::redo` has something to redo.
    pub fn can_redo(&self) -> bool {
        self.redo_target().is_some()
    }

    /// Returns all checkpoints with their names and states, oldest first.
    pub fn checkpoints(&self) -> impl Iterator<Item = (CheckpointId, &str, NodeId)> {
        let all = self.checkpoints.iter().enumerate();
        all.map(|(ix, (name, node))| (CheckpointId(ix as u32), name.as_str(), *node))
    }

    /// Returns the state that a checkpoint names; `None` for unknown ids.
    pub fn checkpoint(&self, id: CheckpointId) -> Option<NodeId> {
        Some(self.checkpoints.get(id.0 as usize)?.1)
    }

    /// Names the current state. Later edits start a new step, so that they do not extend the named
    /// state.
    pub(crate) fn add_checkpoint(&mut self, name: &str) -> CheckpointId {
        // Later edits must not extend the named state.
        self.is_open = false;
        self.checkpoints.push((name.to_owned(), self.current));
        CheckpointId(self.checkpoints.len() as u32 - 1)
    }

    /// Returns the target of undo: the state before a checkpoint jump, or the parent. `None` at the
    /// start text.
    pub(crate) fn undo_target(&self) -> Option<NodeId> {
        match self.jump {
            Some(jump) if jump.to == self.current => Some(jump.from),
            _ => (self.current.0 > 0).then(|| self.node(self.current).parent),
        }
    }

    /// Returns the target of redo: the checkpoint, or the child left last. `None` if the current
    /// state has no successor.
    pub(crate) fn redo_target(&self) -> Option<NodeId> {
        match self.jump {
            Some(jump) if jump.from == self.current => Some(jump.to),
            _ => Some(self.node(self.current).redo).filter(|child| child.0 > 0),
        }
    }

    /// Returns the steps from the current state to `target` in the order in which to take them,
    /// with their directions: back to the common ancestor, then forward. Empty for the current
    /// state, `None` for an unknown one.
    pub(crate) fn path_to(&self, target: NodeId) -> Option<Vec<(NodeId, Direction)>> {
        self.nodes.get(target.0 as usize)?;
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let (mut from, mut to) = (self.current, target);
        // Parents have smaller ids, so the greater of the two is never the common ancestor.
        while from != to {
            if from > to {
                up.push((from, Direction::Backward));
                from = self.node(from).parent;
            } else {
                down.push((to, Direction::Forward));
                to = self.node(to).parent;
            }
        }
        up.extend(down.into_iter().rev());
        Some(up)
    }

    /// Records that the text took `step` in `direction`, so that the current state is its other
    /// end. Returns the selections noted for the new state; `None` if there are none.
    pub(crate) fn record_move(
        &mut self,
        step: NodeId,
        direction: Direction,
    ) -> Option<SelectionSet> {
        let parent = self.node(step).parent;
        self.node_mut(parent).redo = step;
        self.is_open = false;
        self.pending = None;
        let noted = self.node(step).noted.map(|ix| &self.noted[ix as usize]);
        match direction {
            Direction::Backward => {
                self.current = parent;
                noted.and_then(|noted| noted.before.clone())
            }
            Direction::Forward => {
                self.current = step;
                noted.and_then(|noted| noted.after.clone())
            }
        }
    }

    /// Makes undo and redo jump between these two states until something else happens. Equal states
    /// clear the jump.
    pub(crate) fn set_jump(&mut self, from: NodeId, to: NodeId) {
        self.jump = (from != to).then_some(CheckpointJump { from, to });
    }

    /// Returns whether the move from the current state to `target` is a jump rather than a step.
    pub(crate) fn is_jump(&self, target: NodeId) -> bool {
        self.jump.is_some_and(|jump| {
            (jump.from, jump.to) == (self.current, target)
                || (jump.to, jump.from) == (self.current, target)
        })
    }

    /// Forgets the jump to a checkpoint (see `set_jump`), so that undo and redo go by steps again.
    pub(crate) fn clear_jump(&mut self) {
        self.jump = None;
    }

    /// Starts a step that lasts until the matching `end_step`; may be nested.
    pub(crate) fn begin_step(&mut self) {
        if self.depth == 0 {
            self.is_open = false;
        }
        self.depth += 1;
    }

    /// Ends a nested or outermost step. Without a step it has no effect and fails in debug builds.
    pub(crate) fn end_step(&mut self) {
        if self.depth == 0 {
            base::never!("a step ends that has not begun");
            return;
        }
        self.depth -= 1;
        if self.depth == 0 {
            self.is_open = false;
        }
    }

    /// Returns whether a `begin_step` lacks its `end_step`.
    pub fn is_step_open(&self) -> bool {
        self.depth > 0
    }

    /// Makes the next edit start a new step, even between `begin_step` and `end_step`: the current state is final, such
    /// as one that was saved.
    pub(crate) fn seal(&mut self) {
        self.is_open = false;
    }

    /// Notes the selections before the next edit, for the step that it starts.
    pub(crate) fn note_before(&mut self, selections: &SelectionSet) {
        self.pending = Some(selections.clone());
    }

    /// Notes the selections after the current step. At the start text there is no step, and nothing
    /// is noted.
    pub(crate) fn note_after(&mut self, selections: &SelectionSet) {
        if self.current.0 > 0 {
            self.noted_mut(self.current).after = Some(selections.clone());
        }
    }

    fn noted_mut(&mut self, id: NodeId) -> &mut StepSelections {
        let ix = match self.node(id).noted {
            Some(ix) => ix as usize,
            None => {
                self.noted.push(StepSelections::default());
                let ix = self.noted.len() - 1;
                self.node_mut(id).noted = Some(ix as u32);
                ix
            }
        };
        &mut self.noted[ix]
    }

    fn node(&self, id: NodeId) -> &UndoNode {
        &self.nodes[id.0 as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut UndoNode {
        &mut self.nodes[id.0 as usize]
    }

    /// Panics if the tree is inconsistent. Only tests call it.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        assert!(!self.is_open || self.current.0 as usize == self.nodes.len() - 1);
        assert!((self.current.0 as usize) < self.nodes.len());
        for (ix, pair) in self.nodes.windows(2).enumerate() {
            assert!(pair[1].parent.0 as usize <= ix);
            assert!(pair[0].first_splice <= pair[1].first_splice);
        }
        for (ix, node) in self.nodes.iter().enumerate() {
            let redo = self.node(node.redo);
            assert!(node.redo.0 == 0 || redo.parent.0 as usize == ix);
        }
    }
}
