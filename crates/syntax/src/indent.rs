//! Indentation of a row.
//!
//! Derived from the rows above: an unclosed bracket or block indents the next row, a closed one
//! returns to the row that opened it, and the end of a statement of several rows returns to its
//! first row. Brackets count wherever they are code; words, colons and tags by the language's
//! rules. The text decides, and the tree only tells code from strings and comments, since the tree
//! of a row being typed is rarely right.

mod rows;
mod yaml;

use base::{ByteOffset, Row};
use rows::{RowReader, head};
use text::Snapshot;

use crate::grammar::NodeRoles;
use crate::nodes::path_to;
use crate::scope::SyntaxScope;
use crate::snapshot::SyntaxSnapshot;

/// Indentation of a row relative to another row; the caller converts levels to tabs or spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndentHint {
    /// The row whose indent is the base.
    pub base: Row,
    /// Levels to add; negative to remove.
    pub levels: i32,
    /// Columns to add after the levels, for alignment: with the `*` of a comment, or the key of a
    /// list item.
    pub columns: u32,
    /// Whether the text after the caret closes what the text before it opens: it then goes to a
    /// further row, indented by `base` and `columns`.
    pub is_split: bool,
}

/// Rows searched upwards for a non-blank one.
const MAX_BLANK_ROWS: u32 = 200;

impl IndentHint {
    fn new(base: Row, levels: i32) -> Self {
        Self {
            base,
            levels,
            columns: 0,
            is_split: false,
        }
    }
}

impl SyntaxSnapshot {
    /// Returns the indentation of the row that a line break at `offset` would create. The text is
    /// not changed.
    pub fn indent_for_new_line(&self, text: &Snapshot, offset: ByteOffset) -> IndentHint {
        let row = text.point_at(offset).row;
        let scope = self.scope_at(text, offset);
        if scope == SyntaxScope::String {
            return IndentHint::new(row, 0);
        }
        let reader = RowReader::new(self, text, offset);
        let before = reader.row(row, offset);
        if before.is_blank() {
            return match scope {
                SyntaxScope::Comment => comment_hint(text, offset, row),
                _ => IndentHint::new(row, 0),
            };
        }
        let mut hint = reader.hint_after(&before);
        let behind = reader.first_token(offset, text.row_end(row));
        hint.is_split = hint.base == row && hint.levels > 0 && reader.closes(&before, &behind);
        if hint.levels > 0 && !hint.is_split && reader.starts_with_closer(&behind) {
            hint.levels -= 1;
        }
        hint
    }

    /// Returns the expected indentation of `row`, from the rows above and its first token: for
    /// pasted text, and after typing words like `else`. `None` if undetermined.
    pub fn suggested_indent(&self, text: &Snapshot, row: Row) -> Option<IndentHint> {
        let start = text.row_start(row);
        let end = text.row_end(row);
        if self.scope_at(text, start) != SyntaxScope::Code {
            return None;
        }
        let reader = RowReader::new(self, text, start);
        let first = reader.first_token(start, end);
        if let Some(opener) = reader.row_of_opener(&first) {
            return Some(IndentHint::new(opener, 0));
        }
        let above = row_with_text_above(text, row)?;
        let before = reader.row(above, text.row_end(above));
        let mut hint = reader.hint_after(&before);
        if reader.is_dedent_word(&first) {
            match reader.row_of_block_word(row, &first) {
                Some(opener) => return Some(IndentHint::new(opener, 0)),
                None => hint.levels -= 1,
            }
        }
        if reader.is_label(&first) {
            hint = reader.label_hint(hint, &before);
        }
        Some(hint)
    }

    /// The first row of the statement that ends right before `offset`, when it has several rows.
    fn statement_row(&self, text: &Snapshot, offset: ByteOffset) -> Option<Row> {
        let view = self.root_view()?;
        let grammar = view.language.grammar();
        let path = path_to(view.root(), offset.0.checked_sub(1)?);
        let pair = path
            .windows(2)
            .rfind(|pair| grammar.roles(pair[0]).has(NodeRoles::BLOCK))?;
        let statement = pair[1];
        let ends_here = statement.end_byte() <= offset.0;
        let is_whole = ends_here && !statement.has_error() && statement.is_named();
        let start = text.point_at(ByteOffset(statement.start_byte())).row;
        (is_whole && start < text.point_at(offset).row).then_some(start)
    }
}

/// Inside a block comment that has stars, the next row gets one beneath.
fn comment_hint(text: &Snapshot, offset: ByteOffset, row: Row) -> IndentHint {
    let before = offset - text.row_start(row);
    let line = head(text, row);
    let opens = before > 1 && line.trim_start().starts_with("/*");
    IndentHint {
        columns: u32::from(opens),
        ..IndentHint::new(row, 0)
    }
}

/// The nearest row above that is not blank.
fn row_with_text_above(text: &Snapshot, row: Row) -> Option<Row> {
    (1..=MAX_BLANK_ROWS.min(row.0))
        .map(|count| row - count)
        .find(|above| !head(text, *above).trim().is_empty())
}

#[cfg(test)]
mod tests;
