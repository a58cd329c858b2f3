//! Boundaries of grapheme clusters, per Unicode.

use base::ByteOffset;
use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete};

use crate::snapshot::Snapshot;

impl Snapshot {
    /// Returns the end of the grapheme cluster (a character as the user perceives it) that starts
    /// at `offset` or contains it. At the end of the text, returns the length of the text. `\r\n` is
    /// one cluster.
    pub fn next_grapheme(&self, offset: ByteOffset) -> ByteOffset {
        let offset = self.floor(offset);
        let (mut chunk, mut start) = self.storage.chunk(offset);
        let mut cursor = GraphemeCursor::new(offset, self.storage.len(), true);
        loop {
            match cursor.next_boundary(chunk, start) {
                Ok(boundary) => return boundary.map_or(self.len(), ByteOffset),
                Err(GraphemeIncomplete::NextChunk) => {
                    (chunk, start) = self.storage.chunk(start + chunk.len());
                }
                Err(GraphemeIncomplete::PreContext(end)) => self.give_context(&mut cursor, end),
                Err(problem) => return self.unexpected(problem, offset),
            }
        }
    }

    /// Returns the start of the grapheme cluster that ends at or contains `offset`; 0 at the start.
    pub fn previous_grapheme(&self, offset: ByteOffset) -> ByteOffset {
        let offset = self.floor(offset);
        if offset == 0 {
            return ByteOffset(0);
        }
        let (mut chunk, mut start) = self.storage.chunk(offset - 1);
        let mut cursor = GraphemeCursor::new(offset, self.storage.len(), true);
        loop {
            match cursor.prev_boundary(chunk, start) {
                Ok(boundary) => return ByteOffset(boundary.unwrap_or(0)),
                Err(GraphemeIncomplete::PrevChunk) if start > 0 => {
                    (chunk, start) = self.storage.chunk(start - 1);
                }
                Err(GraphemeIncomplete::PreContext(end)) => self.give_context(&mut cursor, end),
                Err(problem) => return self.unexpected(problem, offset),
            }
        }
    }

    /// Provides the cursor with the chunk of text that ends at `end`.
    fn give_context(&self, cursor: &mut GraphemeCursor, end: usize) {
        let (chunk, start) = self.storage.chunk(end.saturating_sub(1));
        cursor.provide_context(&chunk[..end - start], start);
    }

    fn unexpected(&self, problem: GraphemeIncomplete, offset: usize) -> ByteOffset {
        base::never!("grapheme cursor wants {problem:?} at {offset}");
        ByteOffset(offset)
    }
}

#[cfg(test)]
mod tests;
