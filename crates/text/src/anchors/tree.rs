//! A balanced tree of positions, each relative to its node, so that one edit moves many at once.
//!
//! Every node stores the starts of its children (or, in a leaf, its positions) relative to itself.
//! Moving everything after an offset therefore touches one node per level. Positions that a
//! deletion collapses to one offset are visited once; later they count as one.
//!
//! Invariant: `starts` is sorted; the first child of an inner node starts at 0.
//! Invariant: no position of a child lies beyond the start of the next child. Limitations: sparse
//! leaves are not merged. Memory and depth follow the maximum number of positions since the tree
//! was last empty.

const FANOUT: usize = if cfg!(test) { 4 } else { 32 };
const NONE: u32 = u32::MAX;

/// The positions of all anchors of one bias, in a balanced tree with a table of slots from which a
/// handle reaches its leaf.
pub(super) struct AnchorTree {
    nodes: Vec<AnchorNode>,
    free_nodes: Vec<u32>,
    root: u32,
    slots: Vec<AnchorSlot>,
    free_slots: Vec<u32>,
}

struct AnchorNode {
    parent: u32,
    is_leaf: bool,
    len: usize,
    /// Offsets relative to the start of this node.
    starts: [usize; FANOUT],
    /// Child nodes, or in a leaf slots.
    items: [u32; FANOUT],
}

struct AnchorSlot {
    /// Leaf that holds it; `NONE` while it is free.
    leaf: u32,
    generation: u32,
}

impl Default for AnchorTree {
    fn default() -> Self {
        Self {
            nodes: vec![AnchorNode::new(NONE, true)],
            free_nodes: Vec::new(),
            root: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
        }
    }
}

impl AnchorTree {
    /// Returns the number of positions that are not released.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.free_slots.len()
    }

    /// Adds a position and returns its slot and generation.
    pub(super) fn insert(&mut self, position: usize) -> (u32, u32) {
        let (mut leaf, mut local) = self.leaf_for(position);
        if self.node(leaf).len == FANOUT {
            let (right, start) = self.split(leaf);
            if local >= start {
                (leaf, local) = (right, local - start);
            }
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(AnchorSlot {
                leaf: NONE,
                generation: 0,
            });
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize].leaf = leaf;
        let node = self.node_mut(leaf);
        let ix = node.count_where(|start| start <= local);
        node.insert(ix, local, slot);
        (slot, self.slots[slot as usize].generation)
    }

    /// Returns the offset of a position; `None` if it is released or the slot has a later
    /// generation.
    pub(super) fn position(&self, slot: u32, generation: u32) -> Option<usize> {
        let mut node = self.leaf_of(slot, generation)?;
        let mut position = self.node(node).start_of(slot);
        loop {
            let parent = self.node(node).parent;
            if parent == NONE {
                return Some(position);
            }
            position += self.node(parent).start_of(node);
            node = parent;
        }
    }

    /// Removes a position; `false` if it was already removed.
    pub(super) fn release(&mut self, slot: u32, generation: u32) -> bool {
        let Some(leaf) = self.leaf_of(slot, generation) else {
            return false;
        };
        let node = self.node_mut(leaf);
        node.remove(node.ix_of(slot));
        if node.len == 0 {
            self.remove_empty(leaf);
        }
        let slot_ref = &mut self.slots[slot as usize];
        slot_ref.leaf = NONE;
        slot_ref.generation = slot_ref.generation.wrapping_add(1);
        self.free_slots.push(slot);
        true
    }

    /// Moves every position at or after `from` by `by`.
    pub(super) fn shift(&mut self, mut from: usize, by: usize) {
        if by == 0 {
            return;
        }
        let mut id = self.root;
        loop {
            let node = self.node_mut(id);
            let first = node.count_where(|start| start < from);
            if node.is_leaf {
                node.add(first, by);
                return;
            }
            // The first child starts where its parent does: descend into it, never move it.
            let first = first.max(1);
            node.add(first, by);
            from -= node.starts[first - 1];
            id = node.items[first - 1];
        }
    }

    /// Deletes the bytes from `start` to `end`: positions inside move to `start`, later ones move
    /// back.
    pub(super) fn collapse(&mut self, start: usize, end: usize) {
        self.collapse_in(self.root, start, end);
    }

    fn collapse_in(&mut self, id: u32, start: usize, end: usize) {
        let node = self.node_mut(id);
        let len = node.len;
        if node.is_leaf {
            for position in &mut node.starts[..len] {
                *position = if *position >= end {
                    *position - (end - start)
                } else {
                    (*position).min(start)
                };
            }
            return;
        }
        let first = node.count_where(|child| child <= start) - 1;
        let last = node.count_where(|child| child < end);
        let (child, child_start) = (node.items[first], node.starts[first]);
        self.collapse_in(child, start - child_start, end - child_start);
        for ix in first + 1..last {
            let node = self.node_mut(id);
            let child_start = std::mem::replace(&mut node.starts[ix], start);
            // A child that ends where it starts has nothing left to collapse.
            let is_collapsed = ix + 1 < len && node.starts[ix + 1] == child_start;
            let child = node.items[ix];
            if !is_collapsed {
                self.collapse_in(child, 0, end - child_start);
            }
        }
        for child_start in &mut self.node_mut(id).starts[last..len] {
            *child_start -= end - start;
        }
    }

    /// Returns the leaf of a position, and the position relative to it.
    fn leaf_for(&self, position: usize) -> (u32, usize) {
        let (mut id, mut local) = (self.root, position);
        loop {
            let node = self.node(id);
            if node.is_leaf {
                return (id, local);
            }
            let ix = node.count_where(|start| start <= local) - 1;
            local -= node.starts[ix];
            id = node.items[ix];
        }
    }

    /// Moves the upper half of a full node into a new one after it; returns that node and its start
    /// relative to the old one.
    fn split(&mut self, id: u32) -> (u32, usize) {
        let node = self.node(id);
        let mut right = AnchorNode::new(node.parent, node.is_leaf);
        let half = FANOUT / 2;
        let start = node.starts[half];
        for ix in half..node.len {
            right.insert(ix - half, node.starts[ix] - start, node.items[ix]);
        }
        self.node_mut(id).len = half;
        let right_id = self.add_node(right);
        for ix in 0..self.node(right_id).len {
            self.adopt(right_id, ix);
        }
        self.insert_behind(id, right_id, start);
        (right_id, start)
    }

    /// Inserts `right` as the sibling after `id`, with `start` relative to it.
    fn insert_behind(&mut self, id: u32, right: u32, start: usize) {
        if self.node(id).parent == NONE {
            let mut root = AnchorNode::new(NONE, false);
            root.insert(0, 0, id);
            self.root = self.add_node(root);
            self.adopt(self.root, 0);
        }
        if self.node(self.node(id).parent).len == FANOUT {
            self.split(self.node(id).parent);
        }
        let parent = self.node(id).parent;
        let node = self.node_mut(parent);
        let ix = node.ix_of(id);
        node.insert(ix + 1, node.starts[ix] + start, right);
        self.adopt(parent, ix + 1);
    }

    /// Updates the parent or leaf of an item after a move.
    fn adopt(&mut self, id: u32, ix: usize) {
        let node = self.node(id);
        let item = node.items[ix];
        if node.is_leaf {
            self.slots[item as usize].leaf = id;
        } else {
            self.node_mut(item).parent = id;
        }
    }

    fn remove_empty(&mut self, id: u32) {
        let parent = self.node(id).parent;
        if parent == NONE {
            self.node_mut(id).is_leaf = true;
            return;
        }
        self.free_nodes.push(id);
        let node = self.node_mut(parent);
        let ix = node.ix_of(id);
        node.remove(ix);
        if node.len == 0 {
            self.remove_empty(parent);
            return;
        }
        if ix == 0 {
            let gap = std::mem::take(&mut node.starts[0]);
            let child = node.items[0];
            self.move_contents(child, gap);
        }
        while !self.node(self.root).is_leaf && self.node(self.root).len == 1 {
            self.free_nodes.push(self.root);
            self.root = self.node(self.root).items[0];
            let root = self.root;
            self.node_mut(root).parent = NONE;
        }
    }

    /// Shifts all positions of a node to compensate for a move of its own start.
    fn move_contents(&mut self, mut id: u32, by: usize) {
        loop {
            let node = self.node_mut(id);
            if node.is_leaf {
                node.add(0, by);
                return;
            }
            node.add(1, by);
            id = node.items[0];
        }
    }

    /// Returns the leaf that holds a slot; `None` if the slot does not exist, is free or has
    /// another generation.
    fn leaf_of(&self, slot: u32, generation: u32) -> Option<u32> {
        let slot = self.slots.get(slot as usize)?;
        (slot.generation == generation && slot.leaf != NONE).then_some(slot.leaf)
    }

    /// Stores a node, where a removed one was if possible, and returns its id.
    fn add_node(&mut self, node: AnchorNode) -> u32 {
        if let Some(id) = self.free_nodes.pop() {
            self.nodes[id as usize] = node;
            return id;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn node(&self, id: u32) -> &AnchorNode {
        &self.nodes[id as usize]
    }

    fn node_mut(&mut self, id: u32) -> &mut AnchorNode {
        &mut self.nodes[id as usize]
    }
}

impl AnchorNode {
    fn new(parent: u32, is_leaf: bool) -> Self {
        Self {
            parent,
            is_leaf,
            len: 0,
            starts: [0; FANOUT],
            items: [NONE; FANOUT],
        }
    }

    /// Returns the number of starts that satisfy a monotone test.
    fn count_where(&self, test: impl Fn(usize) -> bool) -> usize {
        let starts = &self.starts[..self.len];
        starts.partition_point(|&start| test(start))
    }

    fn add(&mut self, from: usize, by: usize) {
        for start in &mut self.starts[from..self.len] {
            *start += by;
        }
    }

    /// Returns the index in this node of a child node or, in a leaf, a slot. 0 if it is not there,
    /// which is a defect.
    fn ix_of(&self, item: u32) -> usize {
        let ix = self.items[..self.len].iter().position(|&it| it == item);
        ix.unwrap_or_else(|| {
            base::never!("an anchor is not where its slot says");
            0
        })
    }

    /// Returns the offset, relative to this node, of a child node or, in a leaf, a slot.
    fn start_of(&self, item: u32) -> usize {
        self.starts[self.ix_of(item)]
    }

    fn insert(&mut self, ix: usize, start: usize, item: u32) {
        self.starts.copy_within(ix..self.len, ix + 1);
        self.items.copy_within(ix..self.len, ix + 1);
        self.starts[ix] = start;
        self.items[ix] = item;
        self.len += 1;
    }

    fn remove(&mut self, ix: usize) {
        self.starts.copy_within(ix + 1..self.len, ix);
        self.items.copy_within(ix + 1..self.len, ix);
        self.len -= 1;
    }
}

#[cfg(test)]
impl AnchorTree {
    pub(super) fn assert_invariants(&self) {
        assert_eq!(self.node(self.root).parent, NONE);
        let held = self.check(self.root, usize::MAX);
        assert_eq!(held, self.count());
    }

    /// Returns the number of positions in a node; asserts that none is beyond `limit`.
    fn check(&self, id: u32, limit: usize) -> usize {
        let node = self.node(id);
        let starts = &node.starts[..node.len];
        assert!(starts.is_sorted() && starts.last().is_none_or(|&last| last <= limit));
        if node.is_leaf {
            for &slot in &node.items[..node.len] {
                assert_eq!(self.slots[slot as usize].leaf, id);
            }
            return node.len;
        }
        assert!(node.len > 0 && node.starts[0] == 0);
        let mut held = 0;
        for ix in 0..node.len {
            let end = if ix + 1 < node.len {
                node.starts[ix + 1]
            } else {
                limit
            };
            let child = node.items[ix];
            assert_eq!(self.node(child).parent, id);
            held += self.check(child, end - node.starts[ix]);
        }
        held
    }
}
