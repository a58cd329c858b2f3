//! The rope's pieces as a cursor of the regex engine.

use std::sync::atomic::{AtomicBool, Ordering};

use base::ByteOffset;
use regex_cursor::Cursor;
use text::Snapshot;

/// Walks the pieces of a snapshot forwards and backwards.
pub(super) struct PieceWalker<'s> {
    snapshot: &'s Snapshot,
    piece: &'s str,
    start: ByteOffset,
    cancel: Option<&'s AtomicBool>,
}

impl<'s> PieceWalker<'s> {
    /// A cursor on the piece that holds `offset`. When cancelled the text seems to end.
    pub(super) fn at(
        snapshot: &'s Snapshot,
        offset: ByteOffset,
        cancel: Option<&'s AtomicBool>,
    ) -> Self {
        let (piece, start) = snapshot.chunk_at(offset);
        PieceWalker {
            snapshot,
            piece,
            start,
            cancel,
        }
    }

    fn go_to(&mut self, offset: ByteOffset) {
        (self.piece, self.start) = self.snapshot.chunk_at(offset);
    }
}

impl Cursor for PieceWalker<'_> {
    fn chunk(&self) -> &[u8] {
        self.piece.as_bytes()
    }

    fn advance(&mut self) -> bool {
        let end = self.start + self.piece.len();
        let is_cancelled = self
            .cancel
            .is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        if is_cancelled || end >= self.snapshot.len() {
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
