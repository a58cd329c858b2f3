//! The inlay and fold layers: the buffer's text with inlays inserted and folds hidden.
//!
//! Both are one sequence of pieces. A shown offset is a plain byte count; a line ends at a shown
//! line feed, so rows joined by a fold are one line. The marks define inlays and folds; the pieces
//! are derived from them, line by line, where something changed.
//! Invariant: no piece is empty, no two `Text` pieces are adjacent.
//! Invariant: a line ends at a line feed of a `Text` piece only; one of an inlay breaks the row
//! within its line.
//! Start at `ShownText`; `sync` applies a change, `chunks` reads.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use base::{Bias, ByteOffset, Row, Span, Work, count_work};
use sum_tree::{ContextLessSummary, Item, SeekTarget, SumTree};
use text::Snapshot;

use crate::fold::PLACEHOLDER;
use crate::inlay::InlayId;

pub(crate) use chunks::{ChunkSource, ShownChunk};
pub(crate) use sync::{DirtySpan, LineEdit};

mod chunks;
mod sync;

/// The buffer's text with inlays inserted and folds replaced by a placeholder, before tabs and
/// wrapping. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ShownText {
    pub(crate) buffer: Snapshot,
    pieces: SumTree<ShownPiece>,
}

/// One line of the shown text, without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineSpan {
    /// Byte range in the shown text.
    pub(crate) shown: Range<usize>,
    /// Buffer rows joined in it; never empty.
    pub(crate) rows: Range<u32>,
    /// Span in the buffer.
    pub(crate) bytes: Span,
}

#[derive(Clone, Debug)]
enum ShownPiece {
    /// Text of the buffer as it is.
    Text { bytes: usize, newlines: u32 },
    /// Text that is not in the buffer.
    Inlay { id: InlayId, text: Arc<str> },
    /// Text of the buffer behind a placeholder.
    Fold { bytes: usize, newlines: u32 },
}

#[derive(Clone, Copy, Debug, Default)]
struct ShownExtent {
    /// Bytes of the buffer.
    bytes: usize,
    /// Line feeds of the buffer.
    newlines: u32,
    /// Bytes of the shown text.
    shown: usize,
    /// Line feeds of the shown text.
    lines: u32,
    /// Line feeds of inlays.
    breaks: u32,
}

impl ContextLessSummary for ShownExtent {
    fn zero() -> Self {
        Self::default()
    }

    fn add_summary(&mut self, next: &Self) {
        self.bytes += next.bytes;
        self.newlines += next.newlines;
        self.shown += next.shown;
        self.lines += next.lines;
        self.breaks += next.breaks;
    }
}

impl Item for ShownPiece {
    type Summary = ShownExtent;

    fn summary(&self, (): ()) -> ShownExtent {
        match self {
            ShownPiece::Text { bytes, newlines } => ShownExtent {
                bytes: *bytes,
                newlines: *newlines,
                shown: *bytes,
                lines: *newlines,
                breaks: 0,
            },
            ShownPiece::Inlay { text, .. } => ShownExtent {
                shown: text.len(),
                breaks: text.matches('\n').count() as u32,
                ..ShownExtent::default()
            },
            ShownPiece::Fold { bytes, newlines } => ShownExtent {
                bytes: *bytes,
                newlines: *newlines,
                shown: PLACEHOLDER.len(),
                lines: 0,
                breaks: 0,
            },
        }
    }
}

/// Seeks an offset of the buffer.
struct SeekByte(usize);

impl SeekTarget<'_, ShownExtent, ShownExtent> for SeekByte {
    fn cmp(&self, place: &ShownExtent, (): ()) -> Ordering {
        self.0.cmp(&place.bytes)
    }
}

/// Seeks an offset of the shown text.
struct AtShown(usize);

impl SeekTarget<'_, ShownExtent, ShownExtent> for AtShown {
    fn cmp(&self, place: &ShownExtent, (): ()) -> Ordering {
        self.0.cmp(&place.shown)
    }
}

/// Seeks the line feed that ends a line.
struct AtLine(u32);

impl SeekTarget<'_, ShownExtent, ShownExtent> for AtLine {
    fn cmp(&self, place: &ShownExtent, (): ()) -> Ordering {
        self.0.cmp(&place.lines)
    }
}

impl ShownText {
    /// Creates the shown text of a buffer without inlays and folds.
    pub(crate) fn new(buffer: Snapshot) -> Self {
        let mut pieces = SumTree::new(());
        if !buffer.is_empty() {
            let bytes = buffer.len().0;
            let newlines = buffer.row_count() - 1;
            pieces.push(ShownPiece::Text { bytes, newlines }, ());
        }
        Self { buffer, pieces }
    }

    /// Returns the number of bytes shown, line endings included.
    pub(crate) fn len(&self) -> usize {
        self.pieces.summary().shown
    }

    /// Returns the number of lines shown, which is at least one.
    pub(crate) fn line_count(&self) -> u32 {
        self.pieces.summary().lines + 1
    }

    /// Maps a buffer offset to a shown offset. `Left` stays before inlays there, `Right` goes after
    /// them; inside a fold they choose its sides.
    pub(crate) fn to_shown(&self, offset: ByteOffset, bias: Bias) -> usize {
        let offset = offset.0.min(self.buffer.len().0);
        let tree_bias = match bias {
            Bias::Left => sum_tree::Bias::Left,
            Bias::Right => sum_tree::Bias::Right,
        };
        let (start, end, piece) =
            self.pieces
                .find::<ShownExtent, _>((), &SeekByte(offset), tree_bias);
        match piece {
            None | Some(ShownPiece::Inlay { .. }) => start.shown,
            Some(ShownPiece::Text { .. }) => start.shown + (offset - start.bytes),
            Some(ShownPiece::Fold { .. }) if offset == start.bytes => start.shown,
            Some(ShownPiece::Fold { .. }) if offset == end.bytes => end.shown,
            Some(ShownPiece::Fold { .. }) => match bias {
                Bias::Left => start.shown,
                Bias::Right => end.shown,
            },
        }
    }

    /// Maps a shown offset to a buffer offset. Inside an inlay, it is the inlay's offset; inside a
    /// placeholder, the start of the fold.
    pub(crate) fn to_buffer(&self, shown: usize) -> ByteOffset {
        let target = AtShown(shown.min(self.len()));
        let (start, _, piece) =
            self.pieces
                .find::<ShownExtent, _>((), &target, sum_tree::Bias::Right);
        let within = match piece {
            Some(ShownPiece::Text { .. }) => target.0 - start.shown,
            _ => 0,
        };
        ByteOffset(start.bytes + within)
    }

    /// Returns the number of the line that shows a buffer offset. Offsets past the end are clamped.
    pub(crate) fn line_at(&self, offset: ByteOffset) -> u32 {
        let offset = offset.0.min(self.buffer.len().0);
        let (start, _, piece) =
            self.pieces
                .find::<ShownExtent, _>((), &SeekByte(offset), sum_tree::Bias::Right);
        match piece {
            Some(ShownPiece::Text { .. }) => start.lines + (self.row_at(offset) - start.newlines),
            _ => start.lines,
        }
    }

    /// Returns the number of the line that contains an offset of the shown text. Offsets past the
    /// end are clamped.
    pub(crate) fn line_at_shown(&self, shown: usize) -> u32 {
        let target = AtShown(shown.min(self.len()));
        let (start, _, piece) =
            self.pieces
                .find::<ShownExtent, _>((), &target, sum_tree::Bias::Right);
        match piece {
            Some(ShownPiece::Text { .. }) => {
                let offset = start.bytes + (target.0 - start.shown);
                start.lines + (self.row_at(offset) - start.newlines)
            }
            _ => start.lines,
        }
    }

    /// Returns the span of a line; that of the last line if it is out of range.
    pub(crate) fn line_span(&self, line: u32) -> LineSpan {
        let last = self.pieces.summary().lines;
        let (first_row, start, shown_start) = self.line_start(line.min(last));
        if line >= last {
            return LineSpan {
                shown: shown_start..self.len(),
                rows: first_row..self.buffer.row_count(),
                bytes: Span::new(start, self.buffer.len()),
            };
        }
        let (next_row, next_start, shown_next) = self.line_start(line + 1);
        let end = self.buffer.row_end(Row(next_row - 1));
        let ending = next_start - end;
        LineSpan {
            shown: shown_start..shown_next.saturating_sub(ending).max(shown_start),
            rows: first_row..next_row,
            bytes: Span::new(start, end),
        }
    }

    /// Returns the buffer row that begins a line. For a line number past the end, returns the row
    /// of the last line.
    pub(crate) fn first_row(&self, line: u32) -> u32 {
        self.row_of_line(line.min(self.pieces.summary().lines)).0
    }

    /// Returns the buffer row that begins a line, and the extent before the piece with the preceding line feed.
    fn row_of_line(&self, line: u32) -> (u32, ShownExtent) {
        if line == 0 {
            return (0, ShownExtent::default());
        }
        let (start, _, _) =
            self.pieces
                .find::<ShownExtent, _>((), &AtLine(line), sum_tree::Bias::Left);
        (start.newlines + (line - start.lines), start)
    }

    /// The buffer row that begins a line, its first byte, and where that is shown.
    fn line_start(&self, line: u32) -> (u32, ByteOffset, usize) {
        let (row, before) = self.row_of_line(line);
        if line == 0 {
            return (0, ByteOffset(0), 0);
        }
        let offset = self.buffer.row_start(Row(row));
        (row, offset, before.shown + (offset.0 - before.bytes))
    }

    /// The buffer row of an offset.
    fn row_at(&self, offset: usize) -> u32 {
        self.buffer.point_at(ByteOffset(offset)).row.0
    }

    /// Returns whether line feeds of inlays break rows within `lines`, which must not be empty.
    pub(crate) fn has_breaks(&self, lines: Range<u32>) -> bool {
        if self.pieces.summary().breaks == 0 {
            return false;
        }
        !self
            .breaks(
                self.line_span(lines.start).shown.start..self.line_span(lines.end - 1).shown.end,
            )
            .is_empty()
    }

    /// Returns the offsets right after the line feeds of inlays in a range of the shown text,
    /// without reading the text of the buffer.
    pub(crate) fn breaks(&self, shown: Range<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let mut cursor = self.pieces.cursor::<ShownExtent>(());
        cursor.seek(&AtShown(shown.start), sum_tree::Bias::Right);
        while let Some(piece) = cursor.item() {
            count_work(Work::Entries, 1);
            let start = cursor.start().shown;
            if start >= shown.end {
                break;
            }
            if let ShownPiece::Inlay { text, .. } = piece {
                let places = text.match_indices('\n').map(|(at, _)| start + at + 1);
                found.extend(places.filter(|at| shown.start < *at && *at <= shown.end));
            }
            cursor.next();
        }
        found
    }

    /// Returns the numbers of the lines in which line feeds of inlays break rows, in order.
    pub(crate) fn broken_lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self
            .breaks(0..self.len())
            .into_iter()
            .map(|at| self.line_at_shown(at - 1))
            .collect();
        lines.dedup();
        lines
    }

    /// Iterates over the chunks of a shown range, in order.
    pub(crate) fn chunks(&self, shown: Range<usize>) -> chunks::ChunkIter<'_> {
        chunks::ChunkIter::new(self, shown)
    }
}

#[cfg(test)]
impl ShownText {
    /// Panics unless the pieces are in their normal form and agree with the buffer.
    pub(crate) fn assert_invariants(&self) {
        let mut at = 0;
        let mut was_text = false;
        for piece in self.pieces.items(()) {
            let extent = piece.summary(());
            assert!(extent.shown > 0, "empty piece {piece:?}");
            let span = Span::new(ByteOffset(at), ByteOffset(at + extent.bytes));
            let newlines = self.buffer.text(span).matches('\n').count() as u32;
            assert_eq!(newlines, extent.newlines, "newlines of {piece:?}");
            let is_text = matches!(piece, ShownPiece::Text { .. });
            assert!(!(is_text && was_text), "two texts side by side");
            was_text = is_text;
            at += extent.bytes;
        }
        assert_eq!(at, self.buffer.len().0, "pieces cover the buffer");
    }
}
