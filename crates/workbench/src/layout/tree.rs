//! The geometry of panes in a window: a tree of splits with panes as leaves.
//!
//! Plain data. Must not know: tabs, views, pixels, gpui.
//! Invariant (normal form): a split has at least two children, none of them a split along its own
//! axis; weights are positive and sum to one; every pane occurs once; there is always one pane.
//! Start at `PaneTree::split`.

use serde::{Deserialize, Serialize};

/// Id of a pane. Never reused within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PaneId(pub u64);

/// Axis along which the children of a split lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Children side by side.
    Row,
    /// Children one above the other.
    Column,
}

/// One side of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneSide {
    /// To the left of it.
    Left,
    /// To the right of it.
    Right,
    /// Above the pane itself.
    Up,
    /// Below the pane itself.
    Down,
}

impl PaneSide {
    /// Returns the axis along which a neighbour on this side lies.
    pub fn axis(self) -> Axis {
        match self {
            PaneSide::Left | PaneSide::Right => Axis::Row,
            PaneSide::Up | PaneSide::Down => Axis::Column,
        }
    }

    /// Whether a new pane on this side comes before the existing one in its split.
    fn is_before(self) -> bool {
        matches!(self, PaneSide::Left | PaneSide::Up)
    }
}

/// A split or a pane.
#[derive(Clone, Debug, PartialEq)]
pub enum PaneNode {
    /// A leaf of the tree.
    Pane(PaneId),
    /// Two or more nodes along one axis.
    Split(Split),
}

/// Nodes that share the space along one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Axis along which the children lie.
    pub axis: Axis,
    /// At least two children.
    pub children: Vec<PaneNode>,
    /// Share of the space for each child, in the same order; positive, summing to one.
    pub weights: Vec<f32>,
}

/// The panes of a window's centre.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneTree {
    root: PaneNode,
}

impl PaneTree {
    /// Creates a tree with one pane.
    pub fn new(pane: PaneId) -> Self {
        Self {
            root: PaneNode::Pane(pane),
        }
    }

    /// Normalises `root`. Returns `None` if it has no pane or contains a pane twice.
    pub fn from_node(root: PaneNode) -> Option<Self> {
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

    /// Returns the root node, for drawing or storing it.
    pub fn root(&self) -> &PaneNode {
        &self.root
    }

    /// Returns every pane, left to right and top to bottom.
    pub fn panes(&self) -> Vec<PaneId> {
        let mut panes = Vec::new();
        collect(&self.root, &mut panes);
        panes
    }

    /// Returns whether `pane` is in the tree.
    pub fn contains(&self, pane: PaneId) -> bool {
        self.panes().contains(&pane)
    }

    /// Inserts `new` on the given side of `pane`. The two panes share the space of `pane`. Returns
    /// `false`, without a change, if `pane` is missing or `new` is already in the tree.
    pub fn split(&mut self, pane: PaneId, side: PaneSide, new: PaneId) -> bool {
        if !self.contains(pane) || self.contains(new) {
            return false;
        }
        split_in(&mut self.root, pane, side, new);
        self.renormalize();
        true
    }

    /// Removes `pane` and gives its space to its neighbours. Returns the pane that takes its
    /// position. Returns `None`, without a change, if `pane` is missing or the last pane.
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

    /// Returns the nearest pane on a side of `pane`. If several panes are equally near, returns the
    /// one with the largest overlap. Returns `None` at the edge of the window.
    pub fn neighbour(&self, pane: PaneId, side: PaneSide) -> Option<PaneId> {
        let mut boxes = Vec::new();
        collect_areas(&self.root, PaneArea::WHOLE, &mut boxes);
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

    /// Sets the weights of the split at `path`, which gives the child index at each level. The
    /// weights are normalised to a sum of one. Returns `false` if there is no such split, or if the
    /// number of weights differs from the number of children.
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

    /// Returns the weights of the children of the split at `path`, or `None` if there is no split
    /// there.
    pub fn weights(&self, path: &[usize]) -> Option<&[f32]> {
        let mut node = &self.root;
        for index in path {
            let PaneNode::Split(split) = node else {
                return None;
            };
            node = split.children.get(*index)?;
        }
        match node {
            PaneNode::Split(split) => Some(&split.weights),
            PaneNode::Pane(_) => None,
        }
    }

    /// Gives all children of every split the same share.
    pub fn even_out(&mut self) {
        even_out(&mut self.root);
    }

    fn renormalize(&mut self) {
        let root = std::mem::replace(&mut self.root, PaneNode::Pane(PaneId(0)));
        match normalize(root) {
            Some(root) => self.root = root,
            None => base::never!("a pane tree lost its last pane"),
        }
    }
}

fn collect(node: &PaneNode, panes: &mut Vec<PaneId>) {
    match node {
        PaneNode::Pane(pane) => panes.push(*pane),
        PaneNode::Split(split) => split.children.iter().for_each(|n| collect(n, panes)),
    }
}

fn split_in(node: &mut PaneNode, pane: PaneId, side: PaneSide, new: PaneId) {
    match node {
        PaneNode::Pane(id) if *id == pane => {
            let (old, new) = (PaneNode::Pane(pane), PaneNode::Pane(new));
            let children = if side.is_before() {
                vec![new, old]
            } else {
                vec![old, new]
            };
            *node = PaneNode::Split(Split {
                axis: side.axis(),
                children,
                weights: vec![0.5, 0.5],
            });
        }
        PaneNode::Pane(_) => {}
        PaneNode::Split(split) => {
            for child in &mut split.children {
                split_in(child, pane, side, new);
            }
        }
    }
}

fn remove_in(node: &mut PaneNode, pane: PaneId) {
    let PaneNode::Split(split) = node else {
        return;
    };
    let mut index = 0;
    while index < split.children.len() {
        if split.children[index] == PaneNode::Pane(pane) {
            split.children.remove(index);
            split.weights.remove(index);
        } else {
            remove_in(&mut split.children[index], pane);
            index += 1;
        }
    }
}

/// Returns the first pane of the node next to `pane` in the same split.
fn sibling(node: &PaneNode, pane: PaneId) -> Option<PaneId> {
    let PaneNode::Split(split) = node else {
        return None;
    };
    let index = split
        .children
        .iter()
        .position(|n| *n == PaneNode::Pane(pane));
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

/// Returns the split below `node` that `path` leads to, as indices of children; the node itself for
/// an empty path. Returns `None` if the path leads nowhere or to a pane.
fn split_at<'a>(node: &'a mut PaneNode, path: &[usize]) -> Option<&'a mut Split> {
    let PaneNode::Split(split) = node else {
        return None;
    };
    match path.split_first() {
        None => Some(split),
        Some((index, rest)) => split_at(split.children.get_mut(*index)?, rest),
    }
}

fn even_out(node: &mut PaneNode) {
    if let PaneNode::Split(split) = node {
        split.weights = vec![1.0 / split.children.len() as f32; split.children.len()];
        split.children.iter_mut().for_each(even_out);
    }
}

/// Normalises weights: positive, summing to one.
fn shares(weights: &[f32]) -> Vec<f32> {
    let weights: Vec<f32> = weights
        .iter()
        .map(|w| if w.is_finite() { w.max(0.01) } else { 1.0 })
        .collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// Establishes the normal form below `node`. Returns `None` if no pane remains.
fn normalize(node: PaneNode) -> Option<PaneNode> {
    let PaneNode::Split(split) = node else {
        return Some(node);
    };
    let mut children = Vec::new();
    let mut weights = Vec::new();
    let given = shares(&split.weights);
    for (index, child) in split.children.into_iter().enumerate() {
        let weight = given.get(index).copied().unwrap_or(0.1);
        match normalize(child) {
            None => {}
            Some(PaneNode::Split(inner)) if inner.axis == split.axis => {
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
        _ => Some(PaneNode::Split(Split {
            axis: split.axis,
            weights: shares(&weights),
            children,
        })),
    }
}

/// Rectangle of a pane, in fractions of the whole.
#[derive(Clone, Copy)]
struct PaneArea {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl PaneArea {
    const WHOLE: PaneArea = PaneArea {
        left: 0.0,
        top: 0.0,
        right: 1.0,
        bottom: 1.0,
    };

    /// Returns the distance to `other` on the given side, and the overlap of the facing edges.
    fn distance(self, other: PaneArea, side: PaneSide) -> Option<(f32, f32)> {
        let (gap, overlap) = match side {
            PaneSide::Left => (self.left - other.right, self.overlap_down(other)),
            PaneSide::Right => (other.left - self.right, self.overlap_down(other)),
            PaneSide::Up => (self.top - other.bottom, self.overlap_across(other)),
            PaneSide::Down => (other.top - self.bottom, self.overlap_across(other)),
        };
        (gap > -1e-4 && overlap > 1e-4).then_some((gap.max(0.0), overlap))
    }

    /// Returns the length of the vertical extent that both areas share; negative if they share
    /// none.
    fn overlap_down(self, other: PaneArea) -> f32 {
        self.bottom.min(other.bottom) - self.top.max(other.top)
    }

    /// Returns the length of the horizontal extent that both areas share; negative if they share
    /// none.
    fn overlap_across(self, other: PaneArea) -> f32 {
        self.right.min(other.right) - self.left.max(other.left)
    }
}

fn collect_areas(node: &PaneNode, area: PaneArea, boxes: &mut Vec<(PaneId, PaneArea)>) {
    match node {
        PaneNode::Pane(pane) => boxes.push((*pane, area)),
        PaneNode::Split(split) => {
            let mut at = 0.0;
            for (child, weight) in split.children.iter().zip(&split.weights) {
                let end = at + weight;
                let part = |from: f32, to: f32| (from + (to - from) * at, from + (to - from) * end);
                let area = match split.axis {
                    Axis::Row => {
                        let (left, right) = part(area.left, area.right);
                        PaneArea {
                            left,
                            right,
                            ..area
                        }
                    }
                    Axis::Column => {
                        let (top, bottom) = part(area.top, area.bottom);
                        PaneArea {
                            top,
                            bottom,
                            ..area
                        }
                    }
                };
                collect_areas(child, area, boxes);
                at = end;
            }
        }
    }
}

#[cfg(test)]
mod tests;
