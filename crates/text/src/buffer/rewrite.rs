//! Whole new contents as small edits.

use crate::buffer::Buffer;
use crate::change::Change;
use crate::edit::Origin;

impl Buffer {
    /// Turns the whole text into `text` by small edits, so that anchors stay where they can.
    pub fn replace_all_minimal(&mut self, text: &str, origin: &Origin) -> Change {
        let span = self.snapshot().full_span();
        self.replace(span, text, origin)
    }
}
