//! Lines of contents as bytes: their hunks and counts.

use text::{RowHunk, diff_lines_for_display};

/// Numbers of changed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Number of lines that are new.
    pub added: u32,
    /// Number of lines that are gone.
    pub removed: u32,
}

/// Splits a content into its lines, with their endings.
pub(crate) fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the hunks between two contents, placed as readers expect.
pub(crate) fn hunks(before: &[u8], after: &[u8]) -> Vec<RowHunk> {
    diff_lines_for_display(&lines_of(before), &lines_of(after))
}

/// Returns the numbers of changed lines between two contents.
pub(crate) fn changed_lines(before: &[u8], after: &[u8]) -> LineCounts {
    let mut counts = LineCounts::default();
    for hunk in hunks(before, after) {
        counts.added += hunk.after.len();
        counts.removed += hunk.before.len();
    }
    counts
}

/// Returns whether two contents are equal if `\r\n` counts as `\n`.
pub(crate) fn is_same_without_cr(before: &[u8], after: &[u8]) -> bool {
    let mut lines = [before, after].map(|bytes| {
        bytes.split(|byte| *byte == b'\n').map(|line| match line {
            [line @ .., b'\r'] => line,
            line => line,
        })
    });
    let [before, after] = &mut lines;
    Iterator::eq(before, after)
}
