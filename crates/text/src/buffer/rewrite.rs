//! Whole new contents as small edits.

use crate::buffer::Buffer;
use crate::change::Change;
use crate::edit::Origin;

impl Buffer {
    /// Turns the whole text into `text` by small edits, so that anchors stay where they can.
    ///
    /// Reads both texts; for large ones compute `Snapshot::edits_to` elsewhere and then `edit`.
    pub fn replace_all_minimal(&mut self, text: &str, origin: &Origin) -> Change {
        let edits = self.snapshot().edits_to(text);
        self.edit(&edits, origin)
    }
}
