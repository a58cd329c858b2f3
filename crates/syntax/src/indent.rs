//! The indent that a row should have.

use base::{ByteOffset, Row};
use text::Snapshot;

use crate::snapshot::SyntaxSnapshot;

/// The indent of a row, told by another row: that one's, and some levels more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndentHint {
    /// The row whose indent is the base.
    pub base: Row,
    /// Levels to add to it, or to take away.
    pub levels: i32,
    /// Columns to add behind the levels, to stand beneath something: the `*` of a comment.
    pub columns: u32,
    /// The text behind the caret closes what the text before it opens: it belongs on a further
    /// row of its own, with the indent of `base`.
    pub is_split: bool,
}

impl SyntaxSnapshot {
    /// The indent of the row that a line break at `offset` makes.
    pub fn indent_for_new_line(&self, text: &Snapshot, offset: ByteOffset) -> IndentHint {
        IndentHint {
            base: text.point_at(offset).row,
            levels: 0,
            columns: 0,
            is_split: false,
        }
    }

    /// The indent that `row` should have, by the rows above it and by how it begins: for pasted
    /// text, and for words like `else` when they have just been typed. `None` when nothing says.
    pub fn suggested_indent(&self, text: &Snapshot, row: Row) -> Option<IndentHint> {
        let _unused = (text, row);
        None
    }
}
