//! Whether two trees say the same about a text.
//!
//! Compares what can be seen: kinds, fields, extents, errors. How a parser balanced long
//! sequences inside does not count.

use tree_sitter::{Tree, TreeCursor};

use crate::layers::{InjectionLayer, LayeredTrees};

/// Whether two sets of trees are equal. Takes time in proportion to their nodes.
pub(crate) fn are_equal(a: &LayeredTrees, b: &LayeredTrees) -> bool {
    are_trees_equal(&a.root, &b.root) && are_layers_equal(&a.layers, &b.layers)
}

/// Whether both lists have equal layers in the same order, with all layers within them.
fn are_layers_equal(a: &[InjectionLayer], b: &[InjectionLayer]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.language == b.language
                && a.span == b.span
                && are_trees_equal(&a.tree, &b.tree)
                && are_layers_equal(&a.layers, &b.layers)
        })
}

/// Whether two trees are equal, node by node.
pub(crate) fn are_trees_equal(a: &Tree, b: &Tree) -> bool {
    let (mut a, mut b) = (a.walk(), b.walk());
    loop {
        if !are_nodes_equal(&a, &b) {
            return false;
        }
        match (a.goto_first_child(), b.goto_first_child()) {
            (true, true) => continue,
            (false, false) => {}
            _ => return false,
        }
        loop {
            match (a.goto_next_sibling(), b.goto_next_sibling()) {
                (true, true) => break,
                (false, false) => {}
                _ => return false,
            }
            match (a.goto_parent(), b.goto_parent()) {
                (true, true) => {}
                (false, false) => return true,
                _ => return false,
            }
        }
    }
}

/// Whether the current nodes have the same kind, extent and field, without their children.
fn are_nodes_equal(a: &TreeCursor<'_>, b: &TreeCursor<'_>) -> bool {
    let (x, y) = (a.node(), b.node());
    x.kind_id() == y.kind_id()
        && x.byte_range() == y.byte_range()
        && x.start_position() == y.start_position()
        && x.end_position() == y.end_position()
        && x.is_missing() == y.is_missing()
        && x.is_extra() == y.is_extra()
        && a.field_id() == b.field_id()
}
