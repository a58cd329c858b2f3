//! A text at one revision: cheap to clone, safe to read on any thread.
//!
//! Invariant: never changes. Offsets past the end are clamped to the end, and offsets inside a char
//! to its start, so that no method panics.

mod grapheme;
mod position;

use std::borrow::Cow;
use std::fmt;

use base::{ByteOffset, Column, Revision, Row, Span};

use crate::storage::{self, Storage};

/// An immutable text at one revision, for readers on any thread. Cloning takes constant time and
/// shares memory with the buffer. Offsets past the end are clamped to the end, and offsets within a
/// char to its start.
#[derive(Clone)]
pub struct Snapshot {
    storage: Storage,
    revision: Revision,
}

impl Snapshot {
    /// Creates a snapshot of a new text, at revision 0. Builds the storage, so keep large texts off
    /// the UI thread.
    pub fn new(text: &str) -> Self {
        Self::from_storage(Storage::new(text), Revision::default())
    }

    /// Creates a snapshot of a storage, labelled with `revision`.
    pub(crate) fn from_storage(storage: Storage, revision: Revision) -> Self {
        Self { storage, revision }
    }

    /// Returns the storage behind the text, for the modules of this crate.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns the revision of the buffer from which it was taken; 0 if it was made by `new`.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns whether both certainly have the same text, because one is a clone of the other,
    /// without reading it. `false` says nothing: the texts may be equal.
    pub fn is_same_text(&self, other: &Snapshot) -> bool {
        self.storage.is_same(&other.storage)
    }

    /// Returns the length in bytes, which is also the offset of the end.
    pub fn len(&self) -> ByteOffset {
        ByteOffset(self.storage.len())
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.storage.len() == 0
    }

    /// Returns the span of the whole text.
    pub fn full_span(&self) -> Span {
        Span::new(ByteOffset(0), self.len())
    }

    /// Returns the number of rows: one more than line feeds, so an empty text has one row.
    pub fn row_count(&self) -> u32 {
        self.storage.row_count() as u32
    }

    /// Returns the row of the end of the text; it is empty if the text ends with a line feed.
    pub fn last_row(&self) -> Row {
        Row(self.row_count() - 1)
    }

    /// Returns the start of a row; the end of the text for rows past the last.
    pub fn row_start(&self, row: Row) -> ByteOffset {
        if row > self.last_row() {
            return self.len();
        }
        ByteOffset(self.storage.row_start(row.0 as usize))
    }

    /// Returns the end of a row's text, before its line ending; the end of the text for the last
    /// row and rows past it.
    pub fn row_end(&self, row: Row) -> ByteOffset {
        if row >= self.last_row() {
            return self.len();
        }
        self.end_of_row(row, self.storage.row_start(row.0 as usize))
    }

    /// Returns the end of the text of a row that is not the last; the row starts at `start`.
    fn end_of_row(&self, row: Row, start: usize) -> ByteOffset {
        // The row ends with a line feed, possibly after a carriage return.
        let feed = self.storage.row_start(row.0 as usize + 1) - 1;
        let has_return = feed > start && self.storage.byte(feed - 1) == Some(b'\r');
        ByteOffset(feed - usize::from(has_return))
    }

    /// Returns the span of a row's text, without its line ending; empty at the end of the text for
    /// rows past the last.
    pub fn row_span(&self, row: Row) -> Span {
        let start = self.row_start(row);
        let end = if row < self.last_row() {
            self.end_of_row(row, start.0)
        } else {
            self.len()
        };
        Span::new(start, end)
    }

    /// Returns the span of a row with its line ending, if it has one; empty at the end of the text
    /// for rows past the last.
    pub fn row_span_with_ending(&self, row: Row) -> Span {
        Span::new(self.row_start(row), self.row_start(row + 1))
    }

    /// Returns a row's text without its line ending, borrowed if it lies in one chunk; empty for
    /// rows past the last.
    pub fn row_text(&self, row: Row) -> Cow<'_, str> {
        self.text(self.row_span(row))
    }

    /// Returns the length in bytes of a row's text without its line ending; 0 for rows past the
    /// last.
    pub fn row_len(&self, row: Row) -> Column {
        Column(self.row_span(row).len() as u32)
    }

    /// Returns the text of a span; borrowed if it lies in one chunk.
    pub fn text(&self, span: Span) -> Cow<'_, str> {
        self.storage.text(self.clip_span(span).range())
    }

    /// Returns the text of a span as consecutive string slices of the storage, in order; none is
    /// empty. Their boundaries have no meaning.
    pub fn chunks(&self, span: Span) -> Chunks<'_> {
        Chunks(self.storage.chunks(self.clip_span(span).range()))
    }

    /// Returns the chunks of the whole text from last to first; none is empty.
    pub(crate) fn chunks_back(&self) -> Chunks<'_> {
        Chunks(self.storage.chunks_back())
    }

    /// Returns the stored chunk with the byte at `offset`, and the start offset of that chunk in
    /// the text.
    ///
    /// At the end of the text and beyond, returns the last chunk.
    pub fn chunk_at(&self, offset: ByteOffset) -> (&str, ByteOffset) {
        let (chunk, start) = self.storage.chunk(offset.0.min(self.storage.len()));
        (chunk, ByteOffset(start))
    }

    /// Returns the chars from `offset` to the end of the text.
    pub fn chars_at(&self, offset: ByteOffset) -> Chars<'_> {
        Chars(self.storage.chars_at(self.floor(offset)))
    }

    /// Returns the number of chars in a span. The time does not depend on its length.
    pub fn char_count(&self, span: Span) -> usize {
        let (start, end) = (self.floor(span.start), self.floor(span.end));
        self.storage.char_at(end) - self.storage.char_at(start)
    }

    /// Returns the chars before `offset` back to the start of the text, the nearest first.
    pub fn chars_before(&self, offset: ByteOffset) -> CharsBefore<'_> {
        CharsBefore(self.storage.chars_before(self.floor(offset)))
    }

    /// Returns the offset as a plain number, clamped to a char boundary.
    fn floor(&self, offset: ByteOffset) -> usize {
        self.storage.floor_char(offset.0.min(self.storage.len()))
    }

    /// Returns the span with both ends clamped to the text and moved to the start of a char that
    /// they split.
    pub(crate) fn clip_span(&self, span: Span) -> Span {
        Span::new(
            ByteOffset(self.floor(span.start)),
            ByteOffset(self.floor(span.end)),
        )
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks(self.full_span())
            .try_for_each(|chunk| f.write_str(chunk))
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("revision", &self.revision.0)
            .field("len", &self.storage.len())
            .finish()
    }
}

/// Iterator over the chunks of a text; see `Snapshot::chunks`.
#[derive(Clone)]
pub struct Chunks<'a>(storage::RopeChunks<'a>);

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }
}

/// Forward iterator over chars; see `Snapshot::chars_at`.
#[derive(Clone)]
pub struct Chars<'a>(storage::RopeChars<'a>);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }
}

/// Backward iterator over chars; see `Snapshot::chars_before`.
#[derive(Clone)]
pub struct CharsBefore<'a>(storage::RopeChars<'a>);

impl Iterator for CharsBefore<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests;
