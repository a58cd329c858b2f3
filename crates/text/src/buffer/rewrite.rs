//! Replaces the whole text by small edits.

use crate::buffer::Buffer;
use crate::change::Change;
use crate::edit::EditOrigin;

impl Buffer {
    /// Changes the whole text into `text` by small edits, so that anchors are kept where possible.
    ///
    /// Reads both texts; for large ones, compute `Snapshot::edits_to` elsewhere and then call
    /// `edit`.
    pub fn replace_all_minimal(&mut self, text: &str, origin: &EditOrigin) -> Change {
        let edits = self.snapshot().edits_to(text);
        self.edit(&edits, origin)
    }
}
