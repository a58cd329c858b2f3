//! Reads the shown text chunk by chunk.

use std::ops::Range;

use base::{ByteOffset, Span};
use sum_tree::Cursor;
use text::Chunks;

use super::{AtShown, ShownExtent, ShownPiece, ShownText};
use crate::fold::PLACEHOLDER;
use crate::inlay::InlayId;

/// A part of the shown text with a single origin, contiguous in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownChunk<'a> {
    pub(crate) source: ChunkSource,
    /// The offset of its first byte in the buffer.
    pub(crate) offset: ByteOffset,
    pub(crate) text: &'a str,
    /// Bytes of the inlay before `text`; 0 for anything else.
    pub(crate) inlay_start: usize,
}

/// Origin of a chunk of the shown text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkSource {
    /// Bytes of the buffer.
    Text,
    /// Bytes of an inlay.
    Inlay(InlayId),
    /// The placeholder of the folded span.
    Fold(Span),
}

/// Iterator returned by `ShownText::chunks`.
pub(crate) struct ChunkIter<'a> {
    shown: &'a ShownText,
    cursor: Cursor<'a, 'static, ShownPiece, ShownExtent>,
    /// Chunks of the text piece at the cursor.
    text: Option<(ByteOffset, Chunks<'a>)>,
    range: Range<usize>,
}

impl<'a> ChunkIter<'a> {
    pub(super) fn new(shown: &'a ShownText, range: Range<usize>) -> Self {
        let mut cursor = shown.pieces.cursor::<ShownExtent>(());
        cursor.seek(&AtShown(range.start), sum_tree::Bias::Right);
        Self {
            shown,
            cursor,
            text: None,
            range,
        }
    }

    /// Returns the next chunk of the text piece at the cursor; `None` if there is no such piece, or
    /// nothing is left of it.
    fn next_text(&mut self) -> Option<ShownChunk<'a>> {
        let (offset, chunks) = self.text.as_mut()?;
        let Some(text) = chunks.find(|text| !text.is_empty()) else {
            self.text = None;
            return None;
        };
        let chunk = ShownChunk {
            source: ChunkSource::Text,
            offset: *offset,
            text,
            inlay_start: 0,
        };
        *offset += text.len();
        Some(chunk)
    }
}

impl<'a> Iterator for ChunkIter<'a> {
    type Item = ShownChunk<'a>;

    fn next(&mut self) -> Option<ShownChunk<'a>> {
        loop {
            if let Some(chunk) = self.next_text() {
                return Some(chunk);
            }
            let start = *self.cursor.start();
            if start.shown >= self.range.end || self.range.is_empty() {
                return None;
            }
            let piece = self.cursor.item()?;
            let end = self.cursor.end();
            self.cursor.next();
            // The part of the piece that lies in the range, in bytes from the piece's start.
            let from = self.range.start.saturating_sub(start.shown);
            let to = self.range.end.min(end.shown) - start.shown;
            let offset = ByteOffset(start.bytes);
            match piece {
                ShownPiece::Text { .. } => {
                    let span = Span::new(offset + from, offset + to);
                    self.text = Some((span.start, self.shown.buffer.chunks(span)));
                }
                ShownPiece::Inlay { id, text } => {
                    return Some(ShownChunk {
                        source: ChunkSource::Inlay(*id),
                        offset,
                        text: &text[from..to],
                        inlay_start: from,
                    });
                }
                ShownPiece::Fold { bytes, .. } => {
                    return Some(ShownChunk {
                        source: ChunkSource::Fold(Span::new(offset, offset + *bytes)),
                        offset,
                        text: &PLACEHOLDER[from..to],
                        inlay_start: 0,
                    });
                }
            }
        }
    }
}
