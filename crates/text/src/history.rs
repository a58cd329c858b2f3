//! The undo tree: every state the text was in, and how to get from one to the next.
//!
//! Must not know: the store. It gives out patches; the buffer applies them.
//! Invariant: a node's parent has a lesser id, so ids follow the order in which steps were made.
//! Invariant: splices lie in the order of their nodes; only the newest node may still grow, and
//! only while it is the current one and open.
//! Limitations: unbounded. It grows with what is typed; long removed texts share the store's memory.
//! Start at `record`, which says which edits share a step; `revert` undoes a step amid later ones.

mod patch;
mod record;
mod revert;
mod texts;

use crate::edit::{Author, EditKind, Timestamp};
use crate::history::patch::{KeptSplice, Whole};
use crate::history::texts::Texts;
use crate::selection::SelectionSet;

pub(crate) use crate::history::patch::{Direction, Splices};
pub(crate) use crate::history::record::{EditRef, Removed};
pub(crate) use crate::history::texts::LONG;

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

/// The undo tree of a buffer.
pub struct History {
    /// The first is the start text.
    nodes: Vec<Node>,
    splices: Vec<KeptSplice>,
    texts: Texts,
    /// Sorted by their splices.
    wholes: Vec<Whole>,
    noted: Vec<Noted>,
    checkpoints: Vec<(String, NodeId)>,
    current: NodeId,
    /// Whether the newest node, which is then the current one, may still grow.
    is_open: bool,
    /// How many `begin_step` wait for their `end_step`.
    depth: u32,
    /// Selections that belong before the next edit, if that edit starts a step.
    pending: Option<SelectionSet>,
    jump: Option<Jump>,
}

struct Node {
    parent: NodeId,
    /// The child to which redo leads; the start text, which is nobody's child, for none.
    redo: NodeId,
    /// The step that this one took back; the start text for none.
    reverts: NodeId,
    author: Author,
    kind: EditKind,
    started: Timestamp,
    ended: Timestamp,
    /// Its splices start here and end where those of the next node start.
    first_splice: usize,
    /// Its place in `noted`, if it has one.
    noted: Option<u32>,
}

/// The selections around one step.
#[derive(Default)]
struct Noted {
    before: Option<SelectionSet>,
    after: Option<SelectionSet>,
}

/// A move to a checkpoint, which undo and redo take as one step while nothing else happens.
#[derive(Clone, Copy)]
struct Jump {
    from: NodeId,
    to: NodeId,
}

impl History {
    pub(crate) fn new() -> Self {
        let start = Node {
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
            texts: Texts::default(),
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

    /// The state the text is in.
    pub fn current(&self) -> NodeId {
        self.current
    }

    /// The step that leads to `id`; none for the start text and for unknown ids.
    pub fn step(&self, id: NodeId) -> Option<Step> {
        let node = self.nodes.get(id.0 as usize)?;
        (id.0 > 0).then_some(Step {
            id,
            parent: node.parent,
            author: node.author,
            kind: node.kind,
            started: node.started,
            ended: node.ended,
            reverts: (node.reverts.0 > 0).then_some(node.reverts),
        })
    }

    /// All steps in the order in which they were made.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        (1..self.nodes.len() as u32).filter_map(|id| self.step(NodeId(id)))
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The steps that start from `id`, oldest first. Looks at every later step.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = Step> + '_ {
        let first = id.0.saturating_add(1);
        (first..self.nodes.len() as u32)
            .filter(move |&child| self.nodes[child as usize].parent == id)
            .filter_map(|child| self.step(NodeId(child)))
    }

    /// Whether `Buffer::undo` has something to undo.
    pub fn can_undo(&self) -> bool {
        self.undo_target().is_some()
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

    /// The state of a checkpoint.
    pub fn checkpoint(&self, id: CheckpointId) -> Option<NodeId> {
        Some(self.checkpoints.get(id.0 as usize)?.1)
    }

    pub(crate) fn add_checkpoint(&mut self, name: &str) -> CheckpointId {
        // What comes later must not grow into the state that got the name.
        self.is_open = false;
        self.checkpoints.push((name.to_owned(), self.current));
        CheckpointId(self.checkpoints.len() as u32 - 1)
    }

    /// Where undo leads: back from a checkpoint, or to the parent.
    pub(crate) fn undo_target(&self) -> Option<NodeId> {
        match self.jump {
            Some(jump) if jump.to == self.current => Some(jump.from),
            _ => (self.current.0 > 0).then(|| self.node(self.current).parent),
        }
    }

    /// Where redo leads: to the checkpoint again, or to the child that was left last.
    pub(crate) fn redo_target(&self) -> Option<NodeId> {
        match self.jump {
            Some(jump) if jump.from == self.current => Some(jump.to),
            _ => Some(self.node(self.current).redo).filter(|child| child.0 > 0),
        }
    }

    /// The steps on the way from the current state to `target`, and in which direction each goes.
    pub(crate) fn path_to(&self, target: NodeId) -> Option<Vec<(NodeId, Direction)>> {
        self.nodes.get(target.0 as usize)?;
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let (mut from, mut to) = (self.current, target);
        // Parents have lesser ids, so the greater of the two is never the common ancestor.
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

    /// Notes that the text has taken a step; gives the selections that belong to the new state.
    pub(crate) fn took(&mut self, step: NodeId, direction: Direction) -> Option<SelectionSet> {
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

    /// Lets undo and redo go between these two states until something else happens.
    pub(crate) fn set_jump(&mut self, from: NodeId, to: NodeId) {
        self.jump = (from != to).then_some(Jump { from, to });
    }

    /// Whether going from the current state to `target` is a jump rather than a step.
    pub(crate) fn is_jump(&self, target: NodeId) -> bool {
        self.jump.is_some_and(|jump| {
            (jump.from, jump.to) == (self.current, target)
                || (jump.to, jump.from) == (self.current, target)
        })
    }

    pub(crate) fn clear_jump(&mut self) {
        self.jump = None;
    }

    pub(crate) fn begin_step(&mut self) {
        if self.depth == 0 {
            self.is_open = false;
        }
        self.depth += 1;
    }

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

    /// Whether a `begin_step` waits for its `end_step`.
    pub fn is_step_open(&self) -> bool {
        self.depth > 0
    }

    pub(crate) fn seal(&mut self) {
        if self.depth == 0 {
            self.is_open = false;
        }
    }

    /// The next edit starts a step of its own, in any case.
    pub(crate) fn detach(&mut self) {
        self.is_open = false;
    }

    pub(crate) fn note_before(&mut self, selections: &SelectionSet) {
        self.pending = Some(selections.clone());
    }

    pub(crate) fn note_after(&mut self, selections: &SelectionSet) {
        if self.current.0 > 0 {
            self.noted_mut(self.current).after = Some(selections.clone());
        }
    }

    fn noted_mut(&mut self, id: NodeId) -> &mut Noted {
        let ix = match self.node(id).noted {
            Some(ix) => ix as usize,
            None => {
                self.noted.push(Noted::default());
                let ix = self.noted.len() - 1;
                self.node_mut(id).noted = Some(ix as u32);
                ix
            }
        };
        &mut self.noted[ix]
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

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
