//! Which rows, and which words within them, differ between two texts.

use base::Row;

use crate::change::Splice;
use crate::snapshot::Snapshot;

/// The rows from `start` up to `end`, which is not before `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowSpan {
    /// First row.
    pub start: Row,
    /// One behind the last row.
    pub end: Row,
}

/// Rows `before` that became rows `after`. One of the two may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowHunk {
    /// In the text before.
    pub before: RowSpan,
    /// In the text after.
    pub after: RowSpan,
}

impl RowSpan {
    /// How many rows.
    pub fn len(&self) -> u32 {
        self.end - self.start
    }

    /// Whether it covers no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it covers `row`.
    pub fn contains(&self, row: Row) -> bool {
        self.start <= row && row < self.end
    }
}

impl Snapshot {
    /// The hunks by which `self` became `after`, in order.
    pub fn diff_rows(&self, _after: &Snapshot) -> Vec<RowHunk> {
        Vec::new()
    }
}

/// The words that differ, as spans of bytes of either text, in order.
pub fn diff_words(_before: &str, _after: &str) -> Vec<Splice> {
    Vec::new()
}
