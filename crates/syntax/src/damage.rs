//! Measures syntax errors, and parses the text that an edit would produce.
//!
//! Only the text's own tree counts: embedded languages are ignored.

use std::ops::ControlFlow;
use std::sync::Arc;

use base::{Work, count_work};
use text::{Change, Snapshot};
use tree_sitter::Node;

use crate::cursors::{return_parser, take_parser};
use crate::layers::{LayeredTrees, parse_text, set_up};
use crate::snapshot::SyntaxSnapshot;
use crate::source::input_edits;
use crate::tree::Budget;

/// Maximum number of errors counted.
const MAX_ERRORS: usize = 1_000;

/// Maximum size of a text parsed for a query, in bytes: a single token may take too long.
const MAX_BYTES: usize = 1024 * 1024;

/// Extent of the syntax errors in a text, for comparing the text before and after an edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Errors and missing tokens; at most a thousand are counted.
    pub places: usize,
    /// Number of bytes within errors.
    pub bytes: usize,
}

impl SyntaxSnapshot {
    /// Returns the syntax errors of the tree. `None` without a tree.
    pub fn damage(&self) -> Option<Damage> {
        self.root_view().map(|view| damage(view.root()))
    }

    /// Parses the text after a change, without embedded languages, for queries about edits that are
    /// not applied. Returns `None` without a tree or if the budget is exhausted.
    ///
    /// An empty change parses a stale tree again. Takes as long as parsing one keystroke.
    pub fn with_change(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        change: &Change,
        budget: &mut Budget<'_>,
    ) -> Option<SyntaxSnapshot> {
        let trees = self.trees()?;
        if after.len().0 > MAX_BYTES || change.before != self.revision() {
            return None;
        }
        let mut root = trees.root.clone();
        for edit in input_edits(before, after, &change.splices) {
            root.edit(&edit);
        }
        let mut parser = take_parser();
        let mut progress = |_: &_| {
            if budget.is_spent() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let parsed = set_up(&mut parser, self.language(), &[])
            .then(|| parse_text(&mut parser, after, Some(&root), &mut progress).ok())
            .flatten();
        return_parser(parser);
        let trees = LayeredTrees {
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
        count_work(Work::TreeSteps, 1);
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
        if damage.places >= MAX_ERRORS {
            return damage;
        }
    }
}

#[cfg(test)]
mod tests;
