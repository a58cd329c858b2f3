//! What a grammar cannot make sense of, and the tree that a text would have behind an edit.
//!
//! Looks at the text's own tree alone: what is embedded in it is not judged.

use std::ops::ControlFlow;
use std::sync::Arc;

use text::{Change, Snapshot};
use tree_sitter::Node;

use crate::cursors::{give_parser, take_parser};
use crate::layers::{Trees, parse_text, set_up};
use crate::snapshot::SyntaxSnapshot;
use crate::source::input_edits;
use crate::tree::Budget;

/// Beyond so many places it does not matter how many there are.
const MOST_PLACES: usize = 1_000;

/// Larger texts are not parsed for a question: a single token of them may take too long.
const MOST_BYTES: usize = 1024 * 1024;

/// How much of a text its grammar cannot make sense of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Errors, and tokens that are missing; at most a thousand are counted.
    pub places: usize,
    /// Bytes within errors.
    pub bytes: usize,
}

impl SyntaxSnapshot {
    /// What the tree's structure says is wrong with the text. `None` without a tree.
    pub fn damage(&self) -> Option<Damage> {
        self.root_view().map(|view| damage(view.root()))
    }

    /// The tree of the text behind a change, without the trees of what is embedded: for questions about edits that
    /// are not made. `None` where there is no tree, or the budget does not suffice.
    ///
    /// An empty change parses a stale tree anew. Takes as long as parsing a key that is typed.
    pub fn behind(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        change: &Change,
        budget: &mut Budget<'_>,
    ) -> Option<SyntaxSnapshot> {
        let trees = self.trees()?;
        if after.len().0 > MOST_BYTES || change.before != self.revision() {
            return None;
        }
        let mut root = trees.root.clone();
        for edit in input_edits(before, after, &change.splices) {
            root.edit(&edit);
        }
        let mut parser = take_parser();
        let mut progress = |_: &_| match budget.is_spent() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let parsed = set_up(&mut parser, self.language(), &[])
            .then(|| parse_text(&mut parser, after, Some(&root), &mut progress).ok())
            .flatten();
        give_parser(parser);
        let trees = Trees {
            root: parsed?,
            layers: Arc::default(),
        };
        Some(self.with_trees(trees, after.revision()))
    }
}

fn damage(root: Node<'_>) -> Damage {
    let mut damage = Damage::default();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() {
            damage.places += 1;
            damage.bytes += node.byte_range().len();
        } else if node.is_missing() {
            damage.places += 1;
        } else if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return damage;
            }
        }
        if damage.places >= MOST_PLACES {
            return damage;
        }
    }
}

#[cfg(test)]
mod tests;
