//! Diffs of contents that come from elsewhere than libgit2, and the texts that chosen lines make of them.

use super::{DiffSide, FileDiff};
use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::staging::{LineSelection, Side};

impl FileDiff {
    /// Returns the diff of two contents, each `None` if there is no file. The index holds no entry of it, so that
    /// `Repository` stages no lines of it.
    pub fn of_contents(
        path: &TreePath,
        side: Side,
        base: Option<Vec<u8>>,
        work: Option<Vec<u8>>,
    ) -> Self {
        let side_of = |content: Option<Vec<u8>>| match content {
            Some(bytes) => {
                let id = ObjectId::of_blob(&bytes);
                DiffSide::of_text(EntryMode::Plain, id, bytes)
            }
            None => DiffSide::default(),
        };
        Self::new(path, side, side_of(base), side_of(work), None, None)
    }

    /// Returns the base with the selected changes.
    pub fn with_lines(&self, lines: &LineSelection) -> Vec<u8> {
        lines.apply(self)
    }

    /// Returns the base with all changes but the selected ones.
    pub fn without_lines(&self, lines: &LineSelection) -> Vec<u8> {
        lines.complement(self).apply(self)
    }
}
