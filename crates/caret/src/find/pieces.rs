//! The rope's pieces as a cursor of the regex engine.

use base::ByteOffset;
use regex_cursor::Cursor;
use text::Snapshot;

/// Walks the pieces of a snapshot forwards and backwards.
pub(super) struct Pieces<'s> {
    snapshot: &'s Snapshot,
    piece: &'s str,
    start: ByteOffset,
}

impl<'s> Pieces<'s> {
    /// A cursor on the piece that holds `offset`.
    pub(super) fn at(snapshot: &'s Snapshot, offset: ByteOffset) -> Self {
        let (piece, start) = snapshot.chunk_at(offset);
        Pieces { snapshot, piece, start }
    }

    fn go_to(&mut self, offset: ByteOffset) {
        (self.piece, self.start) = self.snapshot.chunk_at(offset);
    }
}

impl Cursor for Pieces<'_> {
    fn chunk(&self) -> &[u8] {
        self.piece.as_bytes()
    }

    fn advance(&mut self) -> bool {
        let end = self.start + self.piece.len();
        if end >= self.snapshot.len() {
            return false;
        }
        self.go_to(end);
        true
    }

    fn backtrack(&mut self) -> bool {
        if self.start.0 == 0 {
            return false;
        }
        self.go_to(self.start - 1);
        true
    }

    fn total_bytes(&self) -> Option<usize> {
        Some(self.snapshot.len().0)
    }

    fn offset(&self) -> usize {
        self.start.0
    }
}
