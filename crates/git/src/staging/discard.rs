//! Edits of a buffer that discard chosen unstaged lines.

use text::RowSpan;

use super::selection::LineSelection;
use super::{FileDiff, Side, StagingError};

/// A replacement of rows of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowEdit {
    /// The rows to replace, of the text before all edits.
    pub rows: RowSpan,
    /// The bytes of the new rows, with the line endings of the working tree; in UTF-8 where the
    /// file has an encoding attribute.
    pub text: Vec<u8>,
}

impl FileDiff {
    /// Returns the edits, in order, that discard the selected lines of an unstaged diff in the
    /// buffer from which it was made. Rows of the buffer are those of the work text. Writes
    /// nothing: the editor applies the edits, so that they can be undone.
    pub fn discard_edits(&self, selection: &LineSelection) -> Result<Vec<RowEdit>, StagingError> {
        if self.side != Side::Unstaged {
            return Err(StagingError::Outdated(self.path.clone()));
        }
        if let Some(reason) = self.whole {
            return Err(StagingError::WholeFileOnly {
                path: self.path.clone(),
                reason,
            });
        }
        let kept = selection.complement(self);
        let touched = self.hunks.iter().filter(|hunk| selection.touches(hunk));
        let edits = touched.map(|hunk| {
            let text = kept.hunk_text(hunk, self);
            RowEdit {
                rows: hunk.work,
                text: if self.has_crlf_in_worktree {
                    with_cr(&text)
                } else {
                    text
                },
            }
        });
        Ok(edits.collect())
    }
}

/// Returns the text with `\r\n` for `\n`.
fn with_cr(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + text.len() / 32);
    for byte in text {
        if *byte == b'\n' && bytes.last() != Some(&b'\r') {
            bytes.push(b'\r');
        }
        bytes.push(*byte);
    }
    bytes
}
