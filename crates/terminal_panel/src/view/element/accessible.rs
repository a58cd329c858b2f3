//! Accessibility data of the rows in view: one run for each row.

use gpui_kit::A11ySubtreeBuilder;
use gpui_kit::accesskit::{Node, Role};

/// Adds the rows as children of the terminal's node in the accessibility tree.
pub(crate) fn describe(rows: &[String], builder: &mut A11ySubtreeBuilder) {
    for (ix, row) in rows.iter().enumerate() {
        let id = builder.synthetic_node_id(ix as u64);
        let mut node = Node::new(Role::TextRun);
        node.set_value(row.clone());
        let lengths: Vec<u8> = row.chars().map(|char| char.len_utf8() as u8).collect();
        node.set_character_lengths(lengths);
        builder.push_child(id, node);
    }
}
