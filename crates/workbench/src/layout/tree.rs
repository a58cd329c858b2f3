//! How panes divide the centre of a window: a tree of splits with panes at its leaves.
//!
//! Plain data. Must not know: tabs, views, pixels, gpui.
//! Invariant (normal form): a split has at least two children, none of them a split along its own
//! axis; weights are positive and sum to one; every pane occurs once; there is always one pane.
//! Start at `PaneTree::split`.

use serde::{Deserialize, Serialize};

/// A pane of one window. Never used twice in the life of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PaneId(pub u64);

/// How the children of a split lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Side by side.
    Row,
    /// One above the other.
    Column,
}

/// A side of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left side.
    Left,
    /// The right side.
    Right,
    /// The upper side.
    Up,
    /// The lower side.
    Down,
}

impl Side {
    /// The axis along which a neighbour on this side lies.
    pub fn axis(self) -> Axis {
        match self {
            Side::Left | Side::Right => Axis::Row,
            Side::Up | Side::Down => Axis::Column,
        }
    }

    fn is_before(self) -> bool {
        matches!(self, Side::Left | Side::Up)
    }
}

/// A split or a pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A leaf.
    Pane(PaneId),
    /// Two or more nodes beside each other.
    Split(Split),
}

/// Nodes that share the room along one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Along which axis.
    pub axis: Axis,
    /// At least two.
    pub children: Vec<Node>,
    /// The share of the room each child has, in the same order; positive, summing to one.
    pub weights: Vec<f32>,
}

/// The panes of one window's centre.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneTree {
    root: Node,
}

impl PaneTree {
    /// One pane.
    pub fn new(pane: PaneId) -> Self {
        Self {
            root: Node::Pane(pane),
        }
    }

    /// Puts `root` into normal form. `None` when it holds no pane or one pane twice.
    pub fn from_node(root: Node) -> Option<Self> {
        let mut tree = Self {
            root: normalize(root)?,
        };
        let mut panes = tree.panes();
        let count = panes.len();
        panes.sort();
        panes.dedup();
        if panes.len() != count {
            return None;
        }
        tree.root = normalize(tree.root)?;
        Some(tree)
    }

    /// The tree itself, to draw or to store it.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Every pane, from left to right and from top to bottom.
    pub fn panes(&self) -> Vec<PaneId> {
        let mut panes = Vec::new();
        collect(&self.root, &mut panes);
        panes
    }

    /// Whether `pane` is part of it.
    pub fn contains(&self, pane: PaneId) -> bool {
        self.panes().contains(&pane)
    }

    /// Puts `new` on the given side of `pane`; both share the room `pane` had.
    /// Answers whether `pane` was there.
    pub fn split(&mut self, pane: PaneId, side: Side, new: PaneId) -> bool {
        if !self.contains(pane) || self.contains(new) {
            return false;
        }
        split_in(&mut self.root, pane, side, new);
        self.renormalize();
        true
    }

    /// Takes `pane` away; its neighbours get its room. The last pane stays.
    /// Answers the pane that now lies where it was.
    pub fn remove(&mut self, pane: PaneId) -> Option<PaneId> {
        let panes = self.panes();
        let index = panes.iter().position(|p| *p == pane)?;
        if panes.len() < 2 {
            return None;
        }
        let near = sibling(&self.root, pane);
        remove_in(&mut self.root, pane);
        self.renormalize();
        near.or_else(|| {
            panes
                .get(index + 1)
                .or_else(|| index.checked_sub(1).and_then(|before| panes.get(before)))
                .copied()
        })
    }

    /// The pane one reaches from `pane` by going to a side: the nearest, and of several the one
    /// that overlaps it most.
    pub fn neighbour(&self, pane: PaneId, side: Side) -> Option<PaneId> {
        let mut boxes = Vec::new();
        place(&self.root, Area::WHOLE, &mut boxes);
        let (_, from) = *boxes.iter().find(|(id, _)| *id == pane)?;
        boxes
            .iter()
            .filter_map(|(id, area)| {
                let (gap, overlap) = from.distance(*area, side)?;
                Some((*id, gap, overlap))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)))
            .map(|(id, _, _)| id)
    }

    /// Gives the children of the split at `path` new shares. `path` names a child at each level.
    pub fn set_weights(&mut self, path: &[usize], weights: &[f32]) -> bool {
        let Some(split) = split_at(&mut self.root, path) else {
            return false;
        };
        if split.children.len() != weights.len() {
            return false;
        }
        split.weights = shares(weights);
        true
    }

    /// The shares of the children of the split at `path`.
    pub fn weights(&self, path: &[usize]) -> Option<&[f32]> {
        let mut node = &self.root;
        for index in path {
            let Node::Split(split) = node else {
                return None;
            };
            node = split.children.get(*index)?;
        }
        match node {
            Node::Split(split) => Some(&split.weights),
            Node::Pane(_) => None,
        }
    }

    /// Gives all children of every split the same room.
    pub fn even_out(&mut self) {
        even_out(&mut self.root);
    }

    fn renormalize(&mut self) {
        let root = std::mem::replace(&mut self.root, Node::Pane(PaneId(0)));
        match normalize(root) {
            Some(root) => self.root = root,
            None => base::never!("a pane tree lost its last pane"),
        }
    }
}

fn collect(node: &Node, panes: &mut Vec<PaneId>) {
    match node {
        Node::Pane(pane) => panes.push(*pane),
        Node::Split(split) => split.children.iter().for_each(|n| collect(n, panes)),
    }
}

fn split_in(node: &mut Node, pane: PaneId, side: Side, new: PaneId) {
    match node {
        Node::Pane(id) if *id == pane => {
            let (old, new) = (Node::Pane(pane), Node::Pane(new));
            let children = if side.is_before() {
                vec![new, old]
            } else {
                vec![old, new]
            };
            *node = Node::Split(Split {
                axis: side.axis(),
                children,
                weights: vec![0.5, 0.5],
            });
        }
        Node::Pane(_) => {}
        Node::Split(split) => {
            for child in &mut split.children {
                split_in(child, pane, side, new);
            }
        }
    }
}

fn remove_in(node: &mut Node, pane: PaneId) {
    let Node::Split(split) = node else {
        return;
    };
    let mut index = 0;
    while index < split.children.len() {
        if split.children[index] == Node::Pane(pane) {
            split.children.remove(index);
            split.weights.remove(index);
        } else {
            remove_in(&mut split.children[index], pane);
            index += 1;
        }
    }
}

/// The first pane of the node next to `pane` in the same split.
fn sibling(node: &Node, pane: PaneId) -> Option<PaneId> {
    let Node::Split(split) = node else {
        return None;
    };
    let index = split.children.iter().position(|n| *n == Node::Pane(pane));
    match index {
        Some(index) => {
            let near = split
                .children
                .get(index + 1)
                .or_else(|| split.children.get(index.checked_sub(1)?))?;
            let mut panes = Vec::new();
            collect(near, &mut panes);
            panes.first().copied()
        }
        None => split.children.iter().find_map(|n| sibling(n, pane)),
    }
}

fn split_at<'a>(node: &'a mut Node, path: &[usize]) -> Option<&'a mut Split> {
    let Node::Split(split) = node else {
        return None;
    };
    match path.split_first() {
        None => Some(split),
        Some((index, rest)) => split_at(split.children.get_mut(*index)?, rest),
    }
}

fn even_out(node: &mut Node) {
    if let Node::Split(split) = node {
        split.weights = vec![1.0 / split.children.len() as f32; split.children.len()];
        split.children.iter_mut().for_each(even_out);
    }
}

/// Positive shares that sum to one.
fn shares(weights: &[f32]) -> Vec<f32> {
    let weights: Vec<f32> = weights
        .iter()
        .map(|w| if w.is_finite() { w.max(0.01) } else { 1.0 })
        .collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

fn normalize(node: Node) -> Option<Node> {
    let Node::Split(split) = node else {
        return Some(node);
    };
    let mut children = Vec::new();
    let mut weights = Vec::new();
    let given = shares(&split.weights);
    for (index, child) in split.children.into_iter().enumerate() {
        let weight = given.get(index).copied().unwrap_or(0.1);
        match normalize(child) {
            None => {}
            Some(Node::Split(inner)) if inner.axis == split.axis => {
                weights.extend(inner.weights.iter().map(|w| w * weight));
                children.extend(inner.children);
            }
            Some(child) => {
                weights.push(weight);
                children.push(child);
            }
        }
    }
    match children.len() {
        0 => None,
        1 => children.pop(),
        _ => Some(Node::Split(Split {
            axis: split.axis,
            weights: shares(&weights),
            children,
        })),
    }
}

/// Where a pane lies, as parts of the whole.
#[derive(Clone, Copy)]
struct Area {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Area {
    const WHOLE: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 1.0,
        bottom: 1.0,
    };

    /// How far `other` lies on the given side, and how much of its edge faces this one.
    fn distance(self, other: Area, side: Side) -> Option<(f32, f32)> {
        let (gap, overlap) = match side {
            Side::Left => (self.left - other.right, self.overlap_down(other)),
            Side::Right => (other.left - self.right, self.overlap_down(other)),
            Side::Up => (self.top - other.bottom, self.overlap_across(other)),
            Side::Down => (other.top - self.bottom, self.overlap_across(other)),
        };
        (gap > -1e-4 && overlap > 1e-4).then_some((gap.max(0.0), overlap))
    }

    fn overlap_down(self, other: Area) -> f32 {
        self.bottom.min(other.bottom) - self.top.max(other.top)
    }

    fn overlap_across(self, other: Area) -> f32 {
        self.right.min(other.right) - self.left.max(other.left)
    }
}

fn place(node: &Node, area: Area, boxes: &mut Vec<(PaneId, Area)>) {
    match node {
        Node::Pane(pane) => boxes.push((*pane, area)),
        Node::Split(split) => {
            let mut at = 0.0;
            for (child, weight) in split.children.iter().zip(&split.weights) {
                let end = at + weight;
                let part = |from: f32, to: f32| (from + (to - from) * at, from + (to - from) * end);
                let area = match split.axis {
                    Axis::Row => {
                        let (left, right) = part(area.left, area.right);
                        Area {
                            left,
                            right,
                            ..area
                        }
                    }
                    Axis::Column => {
                        let (top, bottom) = part(area.top, area.bottom);
                        Area {
                            top,
                            bottom,
                            ..area
                        }
                    }
                };
                place(child, area, boxes);
                at = end;
            }
        }
    }
}

#[cfg(test)]
mod tests;
