//! A text at one revision: cheap to clone, safe to read on any thread.
//!
//! Invariant: never changes. Offsets beyond the end are taken as the end, and offsets inside a
//! char as that char's start, so that no question panics.

mod grapheme;
mod position;

use std::borrow::Cow;
use std::fmt;

use base::{ByteOffset, Column, Revision, Row, Span};

use crate::storage::{self, Storage};

/// A text at one revision. Cloning takes constant time.
#[derive(Clone)]
pub struct Snapshot {
    storage: Storage,
    revision: Revision,
}

impl Snapshot {
    /// A text of its own, at revision 0. Builds the store, so large texts belong off the UI thread.
    pub fn new(text: &str) -> Self {
        Self::from_storage(Storage::new(text), Revision::default())
    }

    pub(crate) fn from_storage(storage: Storage, revision: Revision) -> Self {
        Self { storage, revision }
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The revision of the buffer it was taken from.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether both surely hold the same text, told without reading it. May miss, never errs.
    pub fn is_same_text(&self, other: &Snapshot) -> bool {
        self.storage.is_same(&other.storage)
    }

    /// Its length in bytes, which is also the offset of its end.
    pub fn len(&self) -> ByteOffset {
        ByteOffset(self.storage.len())
    }

    /// Whether it holds no text.
    pub fn is_empty(&self) -> bool {
        self.storage.len() == 0
    }

    /// All of it as a span.
    pub fn full_span(&self) -> Span {
        Span::new(ByteOffset(0), self.len())
    }

    /// How many rows it has: one more than it has line feeds.
    pub fn row_count(&self) -> u32 {
        self.storage.row_count() as u32
    }

    /// The row of its end.
    pub fn last_row(&self) -> Row {
        Row(self.row_count() - 1)
    }

    /// Where a row starts; the end of the text for rows there are not.
    pub fn row_start(&self, row: Row) -> ByteOffset {
        if row > self.last_row() {
            return self.len();
        }
        ByteOffset(self.storage.row_start(row.0 as usize))
    }

    /// Where a row's text ends, before its line ending.
    pub fn row_end(&self, row: Row) -> ByteOffset {
        if row >= self.last_row() {
            return self.len();
        }
        self.end_of_row(row, self.storage.row_start(row.0 as usize))
    }

    /// Where the text of a row that is not the last ends; the row starts at `start`.
    fn end_of_row(&self, row: Row, start: usize) -> ByteOffset {
        // The row ends in a line feed, which a carriage return may precede.
        let feed = self.storage.row_start(row.0 as usize + 1) - 1;
        let has_return = feed > start && self.storage.byte(feed - 1) == Some(b'\r');
        ByteOffset(feed - usize::from(has_return))
    }

    /// A row's text, without its line ending, as a span.
    pub fn row_span(&self, row: Row) -> Span {
        let start = self.row_start(row);
        let end = match row < self.last_row() {
            true => self.end_of_row(row, start.0),
            false => self.len(),
        };
        Span::new(start, end)
    }

    /// A row with its line ending as a span.
    pub fn row_span_with_ending(&self, row: Row) -> Span {
        Span::new(self.row_start(row), self.row_start(row + 1))
    }

    /// A row's text without its line ending; borrowed where it lies in one piece.
    pub fn row_text(&self, row: Row) -> Cow<'_, str> {
        self.text(self.row_span(row))
    }

    /// The length in bytes of a row's text without its line ending.
    pub fn row_len(&self, row: Row) -> Column {
        Column(self.row_span(row).len() as u32)
    }

    /// The text of a span; borrowed where it lies in one piece.
    pub fn text(&self, span: Span) -> Cow<'_, str> {
        self.storage.text(self.clip_span(span).range())
    }

    /// The pieces of a span's text, in order; none is empty.
    pub fn chunks(&self, span: Span) -> Chunks<'_> {
        Chunks(self.storage.chunks(self.clip_span(span).range()))
    }

    /// The pieces of the whole text from the last to the first; none is empty.
    pub(crate) fn chunks_back(&self) -> Chunks<'_> {
        Chunks(self.storage.chunks_back())
    }

    /// The stored piece that holds the byte at `offset`, and where that piece starts.
    ///
    /// At the end of the text it is the last piece.
    pub fn chunk_at(&self, offset: ByteOffset) -> (&str, ByteOffset) {
        let (chunk, start) = self.storage.chunk(offset.0.min(self.storage.len()));
        (chunk, ByteOffset(start))
    }

    /// The chars from `offset` on.
    pub fn chars_at(&self, offset: ByteOffset) -> Chars<'_> {
        Chars(self.storage.chars_at(self.floor(offset)))
    }

    /// How many chars lie in a span. Takes no longer for a long one.
    pub fn char_count(&self, span: Span) -> usize {
        let (start, end) = (self.floor(span.start), self.floor(span.end));
        self.storage.char_at(end) - self.storage.char_at(start)
    }

    /// The chars before `offset`, the nearest first.
    pub fn chars_before(&self, offset: ByteOffset) -> CharsBefore<'_> {
        CharsBefore(self.storage.chars_before(self.floor(offset)))
    }

    /// The offset as a plain number, moved onto a char boundary of this text.
    fn floor(&self, offset: ByteOffset) -> usize {
        self.storage.floor_char(offset.0.min(self.storage.len()))
    }

    /// The span moved onto char boundaries of this text.
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

/// The pieces of a text; see `Snapshot::chunks`.
#[derive(Clone)]
pub struct Chunks<'a>(storage::Chunks<'a>);

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }
}

/// The chars of a text forwards; see `Snapshot::chars_at`.
#[derive(Clone)]
pub struct Chars<'a>(storage::Chars<'a>);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }
}

/// The chars of a text backwards; see `Snapshot::chars_before`.
#[derive(Clone)]
pub struct CharsBefore<'a>(storage::Chars<'a>);

impl Iterator for CharsBefore<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests;
