//! Enclosing headers of a row, for sticky scroll.

use base::{ByteOffset, Row};
use text::Snapshot;

use crate::grammar::NodeRoles;
use crate::nodes::path_to;
use crate::snapshot::SyntaxSnapshot;

impl SyntaxSnapshot {
    /// Returns the first rows of the functions, types, blocks and sections that start above `row`
    /// and contain it, the outermost first. Sticky headers show these rows. Returns an empty list
    /// without a tree.
    pub fn context_rows(&self, text: &Snapshot, row: Row) -> Vec<Row> {
        let Some(offset) = first_text(text, row) else {
            return Vec::new();
        };
        let mut rows = Vec::new();
        for view in self.views_at(text, offset) {
            let grammar = view.language.grammar();
            let at = offset.0.saturating_sub(view.shift);
            for node in path_to(view.root(), at) {
                if grammar.roles(node).has(NodeRoles::CONTEXT) {
                    let start = text
                        .point_at(ByteOffset(node.start_byte() + view.shift))
                        .row;
                    if start < row {
                        rows.push(start);
                    }
                }
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// The first char of a row that is not blank; a blank row counts as its end, so that the text
/// around it decides.
fn first_text(text: &Snapshot, row: Row) -> Option<ByteOffset> {
    if row > text.last_row() || text.is_empty() {
        return None;
    }
    let start = text.row_start(row);
    let blank = text
        .chars_at(start)
        .take_while(|c| *c == ' ' || *c == '\t')
        .take(MAX_INDENT)
        .count();
    Some((start + blank).min(text.len() - 1))
}

/// Maximum indent examined, in columns.
const MAX_INDENT: usize = 1000;

#[cfg(test)]
mod tests;
