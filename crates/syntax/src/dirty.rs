//! Ranges that edits touched, in offsets of the text after them.

use std::ops::Range;

use tree_sitter::InputEdit;

/// Maximum number of edited ranges; further ones are merged.
const MAX_DIRTY_RANGES: usize = 64;

/// Moves the edited places along with an edit and adds its own.
pub(crate) fn note_edit(dirty: &mut Vec<Range<usize>>, edit: &InputEdit) {
    let moved = |offset: usize| match offset {
        offset if offset >= edit.old_end_byte => edit.new_end_byte + (offset - edit.old_end_byte),
        offset => offset.min(edit.start_byte),
    };
    for range in dirty.iter_mut() {
        *range = moved(range.start)..moved(range.end).max(moved(range.start));
    }
    dirty.push(edit.start_byte..edit.new_end_byte);
    if dirty.len() > MAX_DIRTY_RANGES {
        let start = dirty.iter().map(|range| range.start).min().unwrap_or(0);
        let end = dirty.iter().map(|range| range.end).max().unwrap_or(0);
        dirty.clear();
        dirty.push(start..end);
    }
}
