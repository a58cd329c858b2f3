//! Paths through a tree.
//!
//! Invariant: nothing here asks a node for its parent, which would walk from the root; paths are
//! walked once, downwards.

use base::{Work, count_work};
use tree_sitter::Node;

/// Returns the nodes that contain all bytes of `start..end`, from `root` to the smallest.
pub(crate) fn path_around(root: Node<'_>, start: usize, end: usize) -> Vec<Node<'_>> {
    let mut cursor = root.walk();
    let mut path = vec![root];
    while cursor.goto_first_child_for_byte(start).is_some() {
        let node = cursor.node();
        if node.start_byte() > start || node.end_byte() < end {
            break;
        }
        path.push(node);
    }
    count_work(Work::TreeSteps, path.len());
    path
}

/// Returns the nodes that contain the byte at `offset`, from `root` to the smallest.
pub(crate) fn path_to(root: Node<'_>, offset: usize) -> Vec<Node<'_>> {
    path_around(root, offset, offset + 1)
}

/// Returns the first children of a node, at most `most`.
pub(crate) fn first_children<'t>(node: Node<'t>, most: usize) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let mut children = Vec::new();
    let mut is_there = cursor.goto_first_child();
    while is_there && children.len() < most {
        children.push(cursor.node());
        count_work(Work::TreeSteps, 1);
        is_there = cursor.goto_next_sibling();
    }
    children
}

/// Returns the last child of a node. Returns `None` for a leaf.
pub(crate) fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    cursor.goto_last_child().then(|| cursor.node())
}

/// Returns the child of `parent` at `offset` or the next after it, and its following siblings.
pub(crate) fn children_from<'t>(parent: Node<'t>, offset: usize) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = parent.walk();
    let mut is_there = cursor.goto_first_child_for_byte(offset).is_some();
    std::iter::from_fn(move || {
        let node = is_there.then(|| cursor.node())?;
        count_work(Work::TreeSteps, 1);
        is_there = cursor.goto_next_sibling();
        Some(node)
    })
}

/// Returns the child of `parent` at `offset` or the next after it, and its preceding siblings, the
/// nearest first.
pub(crate) fn children_before<'t>(
    parent: Node<'t>,
    offset: usize,
) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = parent.walk();
    let mut is_there = cursor.goto_first_child_for_byte(offset).is_some();
    std::iter::from_fn(move || {
        let node = is_there.then(|| cursor.node())?;
        count_work(Work::TreeSteps, 1);
        is_there = cursor.goto_previous_sibling();
        Some(node)
    })
}
