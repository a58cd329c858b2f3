//! Reads a text for tree-sitter piece by piece, without copying.
//!
//! Invariant: never panics, whatever offsets a stale tree passes.

use base::{ByteOffset, Work, count_work};
use text::{Snapshot, Splice};
use tree_sitter::{InputEdit, Point};

/// Returns the stored bytes from `offset` to the end of their chunk. Returns an empty slice at the
/// end of the text.
pub(crate) fn bytes_at(text: &Snapshot, offset: usize) -> &[u8] {
    if offset >= text.len().0 {
        return &[];
    }
    let (chunk, start) = text.chunk_at(ByteOffset(offset));
    chunk
        .as_bytes()
        .get(offset.saturating_sub(start.0)..)
        .unwrap_or_default()
}

/// Iterates over the bytes of a range in pieces, clipped to the text.
pub(crate) struct BytePieces<'a> {
    text: &'a Snapshot,
    offset: usize,
    end: usize,
}

impl<'a> BytePieces<'a> {
    /// Creates an iterator over the bytes of a range of the text, clipped to its end.
    pub(crate) fn new(text: &'a Snapshot, range: std::ops::Range<usize>) -> Self {
        Self {
            text,
            offset: range.start,
            end: range.end.min(text.len().0),
        }
    }
}

impl<'a> Iterator for BytePieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.offset >= self.end {
            return None;
        }
        let bytes = bytes_at(self.text, self.offset);
        let bytes = &bytes[..bytes.len().min(self.end - self.offset)];
        self.offset += bytes.len();
        count_work(Work::TextBytes, bytes.len());
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// A contiguous copy of part of a text, so that many small reads near each other are cheap.
pub(crate) struct TextWindow<'a> {
    text: &'a Snapshot,
    start: usize,
    bytes: Vec<u8>,
}

impl<'a> TextWindow<'a> {
    /// Copies the bytes of `range`, up to 64 KiB from its start.
    pub(crate) fn new(text: &'a Snapshot, range: std::ops::Range<usize>) -> Self {
        const MAX_WINDOW_BYTES: usize = 64 * 1024;
        let mut bytes = Vec::with_capacity(range.len().min(MAX_WINDOW_BYTES));
        for piece in BytePieces::new(
            text,
            range.start..range.end.min(range.start + MAX_WINDOW_BYTES),
        ) {
            bytes.extend_from_slice(piece);
        }
        Self {
            text,
            start: range.start,
            bytes,
        }
    }

    /// Returns the bytes of a range of the text. Reads them from the copy if the copy contains
    /// them, and from the text otherwise.
    pub(crate) fn bytes(&self, range: std::ops::Range<usize>) -> std::borrow::Cow<'_, [u8]> {
        let held = range
            .start
            .checked_sub(self.start)
            .and_then(|from| self.bytes.get(from..from + range.len()));
        match held {
            Some(bytes) => bytes.into(),
            None => {
                let mut bytes = Vec::new();
                for piece in BytePieces::new(self.text, range) {
                    bytes.extend_from_slice(piece);
                }
                bytes.into()
            }
        }
    }
}

/// Returns the position of an offset as tree-sitter counts: rows, and bytes in the row.
pub(crate) fn point(text: &Snapshot, offset: ByteOffset) -> Point {
    let point = text.point_at(offset);
    Point {
        row: point.row.0 as usize,
        column: point.column.0 as usize,
    }
}

/// Returns the edits that shift a tree of `before` to `after`, in the order to apply.
///
/// The last splice comes first, so that the earlier ones keep their offsets.
pub(crate) fn input_edits<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
    splices: &'a [Splice],
) -> impl Iterator<Item = InputEdit> + 'a {
    splices.iter().rev().map(move |splice| {
        let start = point(before, splice.old.start);
        let new_start = point(after, splice.new.start);
        let new_end = point(after, splice.new.end);
        let rows = new_end.row.saturating_sub(new_start.row);
        let column = match rows {
            0 => start.column + splice.new.len(),
            _ => new_end.column,
        };
        InputEdit {
            start_byte: splice.old.start.0,
            old_end_byte: splice.old.end.0,
            new_end_byte: splice.old.start.0 + splice.new.len(),
            start_position: start,
            old_end_position: point(before, splice.old.end),
            new_end_position: Point {
                row: start.row + rows,
                column,
            },
        }
    })
}
