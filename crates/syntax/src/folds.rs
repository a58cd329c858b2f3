//! What can be folded away.

use std::ops::Range;

use base::{ByteOffset, Row};
use text::Snapshot;

use crate::snapshot::SyntaxSnapshot;

/// Text that can be folded away; its first row stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Where the hidden text starts: behind the opening bracket, or at the end of the first row.
    pub start: ByteOffset,
    /// Where it ends: before the closing bracket, or at the end of the last row.
    pub end: ByteOffset,
}

impl SyntaxSnapshot {
    /// The folds that start in `rows`, at most one for each row, in text order.
    pub fn folds(&self, text: &Snapshot, rows: Range<Row>) -> Vec<Fold> {
        let _unused = (text, rows);
        Vec::new()
    }

    /// The fold that starts in `row`.
    pub fn fold_at(&self, text: &Snapshot, row: Row) -> Option<Fold> {
        self.folds(text, row..row + 1).into_iter().next()
    }
}
