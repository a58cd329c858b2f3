//! Enclosing headers of a row, for sticky scroll.

use base::{ByteOffset, Row};
use text::Snapshot;

use crate::grammar::NodeRoles;
use crate::nodes::path_to;
use crate::snapshot::{SyntaxSnapshot, TreeView};

impl SyntaxSnapshot {
    /// Returns the first rows of the functions, types, blocks and sections that start above `row`
    /// and contain it, the outermost first. Sticky headers show these rows. Returns an empty list
    /// without a tree.
    pub fn context_rows(&self, text: &Snapshot, row: Row) -> Vec<Row> {
        let offset = first_text(text, row);
        offset.map_or_else(Vec::new, |offset| {
            rows_above(&self.views_at(text, offset), text, offset, row)
        })
    }

    /// Returns what `context_rows` returns, but never parses: `None` if an injection around `row` is not
    /// parsed yet, such as a macro call that is being typed.
    pub fn parsed_context_rows(&self, text: &Snapshot, row: Row) -> Option<Vec<Row>> {
        let Some(offset) = first_text(text, row) else {
            return Some(Vec::new());
        };
        let views = self.parsed_views_at(text, offset)?;
        Some(rows_above(&views, text, offset, row))
    }
}

/// Returns the first rows of the nodes of context around an offset that start above `row`.
fn rows_above(views: &[TreeView<'_>], text: &Snapshot, offset: ByteOffset, row: Row) -> Vec<Row> {
    let mut rows = Vec::new();
    for view in views {
        let grammar = view.language.grammar();
        let at = offset.0.saturating_sub(view.shift);
        for node in path_to(view.root(), at) {
            if grammar.roles(node).has(NodeRoles::CONTEXT) {
                let start = ByteOffset(node.start_byte() + view.shift);
                let start = text.point_at(start).row;
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
