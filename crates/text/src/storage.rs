//! The abstraction over the rope, and the only module that names it.
//!
//! The interface uses byte offsets only. A paged storage for files larger than memory could provide
//! the same methods.
//! Invariant: offsets and ranges passed in lie within the text; those of edits and slices lie on
//! char boundaries.

mod draft;

use std::borrow::Cow;
use std::ops::Range;

use ropey::{LineType, Rope};

pub(crate) use crate::storage::draft::{StorageDraft, replace_in};

const LINES: LineType = LineType::LF;

/// A text that clones in constant time and edits in logarithmic time; the rope behind buffers and
/// snapshots. Offsets are in bytes.
#[derive(Clone)]
pub(crate) struct Storage(Rope);

impl Storage {
    /// Builds the storage of a whole text, in time proportional to its length.
    pub(crate) fn new(text: &str) -> Self {
        Self(Rope::from_str(text))
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Inserts `text` at `at`; `None` without effect if `at` is outside the text or inside a char.
    pub(crate) fn insert(&mut self, at: usize, text: &str) -> Option<()> {
        self.0.try_insert(at, text).ok()
    }

    /// Removes `range`; `None` without effect if it is outside the text or splits a char.
    pub(crate) fn remove(&mut self, range: Range<usize>) -> Option<()> {
        self.0.try_remove(range).ok()
    }

    /// Replaces `range` by `text`. A range that does not fit fails in debug builds; in release
    /// builds the removal or insertion that does not fit is skipped.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) {
        if range.len() == self.len() {
            *self = Self::new(text);
            return;
        }
        let at = range.start;
        let mut done = Some(());
        if !range.is_empty() {
            done = self.remove(range);
        }
        if !text.is_empty() {
            done = done.and(self.insert(at, text));
        }
        if done.is_none() {
            base::never!("a checked edit does not fit the text");
        }
    }

    /// Inserts all of `text` at `at`, chunk by chunk; `None` if `at` is outside the text or inside
    /// a char.
    pub(crate) fn insert_all(&mut self, at: usize, text: &Storage) -> Option<()> {
        let mut at = at;
        for chunk in text.chunks(0..text.len()) {
            self.insert(at, chunk)?;
            at += chunk.len();
        }
        Some(())
    }

    /// Returns whether `offset` lies within the text and not inside a char; the end counts.
    pub(crate) fn is_char_boundary(&self, offset: usize) -> bool {
        // If every char is one byte, every offset is a boundary.
        offset <= self.len()
            && (self.0.len_chars() == self.len() || self.0.is_char_boundary(offset))
    }

    /// Returns a slice as a separate text that shares memory with the original; takes constant
    /// time.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        let slice = self.0.slice(range);
        Self(ropey::extra::esoterica::disconnect_slice(slice).unwrap_or_else(|| Rope::from(slice)))
    }

    /// Returns whether both are clones of one text without later edits. May return false negatives.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        ropey::extra::esoterica::ropes_are_instances(&self.0, &other.0)
    }

    /// Returns the number of rows: one more than line feeds.
    pub(crate) fn row_count(&self) -> usize {
        self.0.len_lines(LINES)
    }

    /// Returns the number of the row, from 0, that contains `offset`.
    pub(crate) fn row_at(&self, offset: usize) -> usize {
        self.0.byte_to_line_idx(offset, LINES)
    }

    /// Returns the offset of the start of the row with this number.
    pub(crate) fn row_start(&self, row: usize) -> usize {
        self.0.line_to_byte_idx(row, LINES)
    }

    /// Returns the byte at `offset`; `None` at the end and beyond.
    pub(crate) fn byte(&self, offset: usize) -> Option<u8> {
        self.0.get_byte(offset)
    }

    /// Returns the greatest char boundary at or before `offset`.
    pub(crate) fn floor_char(&self, offset: usize) -> usize {
        self.0.floor_char_boundary(offset)
    }

    /// Returns the least char boundary at or after `offset`.
    pub(crate) fn ceil_char(&self, offset: usize) -> usize {
        self.0.ceil_char_boundary(offset)
    }

    /// Returns the number of UTF-16 code units before `offset`.
    pub(crate) fn utf16_at(&self, offset: usize) -> usize {
        // If every unit is one byte, no lookup is needed.
        if self.0.len_utf16() == self.0.len() {
            return offset;
        }
        self.0.byte_to_utf16_idx(offset)
    }

    /// Returns the length in UTF-16 code units.
    pub(crate) fn utf16_len(&self) -> usize {
        self.0.len_utf16()
    }

    /// Returns the byte offset after `unit` UTF-16 code units; `unit` is at most the length.
    pub(crate) fn offset_at_utf16(&self, unit: usize) -> usize {
        if self.0.len_utf16() == self.0.len() {
            return unit;
        }
        self.0.utf16_to_byte_idx(unit)
    }

    /// Returns the number of chars before `offset`.
    pub(crate) fn char_at(&self, offset: usize) -> usize {
        if self.0.len_chars() == self.0.len() {
            return offset;
        }
        self.0.byte_to_char_idx(offset)
    }

    /// Returns the length in chars.
    pub(crate) fn char_len(&self) -> usize {
        self.0.len_chars()
    }

    /// Returns the byte offset of the char with this number; `index` is at most the number of
    /// chars.
    pub(crate) fn offset_at_char(&self, index: usize) -> usize {
        if self.0.len_chars() == self.0.len() {
            return index;
        }
        self.0.char_to_byte_idx(index)
    }

    /// Returns the chunk of the rope with the byte at `offset`, and its start offset; at the end,
    /// the last chunk.
    pub(crate) fn chunk(&self, offset: usize) -> (&str, usize) {
        self.0.chunk(offset)
    }

    /// Returns the text of `range`, borrowed if it lies in one chunk.
    pub(crate) fn text(&self, range: Range<usize>) -> Cow<'_, str> {
        if range.is_empty() {
            return Cow::Borrowed("");
        }
        let bytes = range.len();
        let (chunk, start) = self.0.chunk(range.start);
        if let Some(text) = chunk.get(range.start - start..range.end - start) {
            base::count_work(base::Work::TextBytes, bytes);
            return Cow::Borrowed(text);
        }
        let mut text = String::with_capacity(bytes);
        for chunk in self.chunks(range) {
            text.push_str(chunk);
        }
        Cow::Owned(text)
    }

    /// Returns the chunks of `range` in order; none is empty.
    pub(crate) fn chunks(&self, range: Range<usize>) -> RopeChunks<'_> {
        RopeChunks(self.0.slice(range).chunks())
    }

    /// Returns all chunks from last to first; none is empty.
    pub(crate) fn chunks_back(&self) -> RopeChunks<'_> {
        RopeChunks(self.0.chunks_at(self.0.len()).0.reversed())
    }

    /// Returns the chars from `offset` on, which lies on a char boundary.
    pub(crate) fn chars_at(&self, offset: usize) -> RopeChars<'_> {
        RopeChars(self.0.chars_at(offset))
    }

    /// Returns the chars before `offset`, the nearest first.
    pub(crate) fn chars_before(&self, offset: usize) -> RopeChars<'_> {
        RopeChars(self.0.chars_at(offset).reversed())
    }

    /// Panics if the rope is inconsistent. Only tests call it.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        // Not `assert_accurate_unbalance_flags`: this version of ropey occasionally loses a flag,
        // which only costs it a rebalancing.
        self.0.assert_equal_leaf_depth();
        self.0.assert_no_empty_internal();
        self.0.assert_no_empty_non_root_leaf();
        self.0.assert_no_crlf_splits();
        self.0.assert_accurate_text_info();
    }

    /// Creates a text with exactly these chunks, if none is longer than a leaf.
    #[cfg(test)]
    pub(crate) fn of_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut builder = ropey::RopeBuilder::new();
        for piece in pieces {
            builder._append_chunk_as_leaf(piece);
        }
        Self(builder.finish())
    }
}

/// Iterator returned by `Storage::chunks`.
#[derive(Clone)]
pub(crate) struct RopeChunks<'a>(ropey::iter::Chunks<'a>);

impl<'a> Iterator for RopeChunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let chunk = self.0.next()?;
            if !chunk.is_empty() {
                base::count_work(base::Work::TextBytes, chunk.len());
                return Some(chunk);
            }
        }
    }
}

/// Iterator returned by `Storage::chars_at` and `Storage::chars_before`.
#[derive(Clone)]
pub(crate) struct RopeChars<'a>(ropey::iter::Chars<'a>);

impl Iterator for RopeChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        base::count_work(base::Work::TextBytes, 1);
        self.0.next()
    }
}
