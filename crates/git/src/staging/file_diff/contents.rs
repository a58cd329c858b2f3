//! The texts that chosen lines make of a diff.

use super::FileDiff;
use crate::staging::LineSelection;

impl FileDiff {
    /// Returns the base with the selected changes.
    pub fn with_lines(&self, lines: &LineSelection) -> Vec<u8> {
        lines.apply(self)
    }

    /// Returns the base with all changes but the selected ones.
    pub fn without_lines(&self, lines: &LineSelection) -> Vec<u8> {
        lines.complement(self).apply(self)
    }
}
