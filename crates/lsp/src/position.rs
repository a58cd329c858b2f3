//! Positions of the protocol and byte offsets of a text.
//!
//! Rows are counted by line feeds, as `text` counts them. A server that also counts a lone carriage
//! return as a line end disagrees about such a text; its positions are then clamped like any other.
//! Invariant: no position of a server panics; a character past the end of its line is clamped to that
//! end, and a row beyond the text is refused.

use base::{ByteOffset, Column, Point, Row, Span, Utf16Point};
use gen_lsp_types::{Position, Range};
use text::Snapshot;

/// The unit in which a server counts characters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionEncoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16, the default of the protocol.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// A row beyond the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row} lies beyond the text")]
pub(crate) struct RowBeyondText {
    row: u32,
}

impl PositionEncoding {
    /// Returns the encoding with a name of the protocol.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        }
    }

    /// Converts an offset of `text` to a position. An offset within a line ending gives the end of
    /// the line.
    pub(crate) fn position(self, text: &Snapshot, offset: ByteOffset) -> Position {
        let point = text.point_at(offset);
        let start = text.row_start(point.row);
        let offset = (start + point.column.0 as usize).min(text.row_end(point.row));
        let character = match self {
            Self::Utf8 => (offset - start) as u32,
            Self::Utf16 => text.utf16_point(offset).column,
            Self::Utf32 => text.char_count(Span::new(start, offset)) as u32,
        };
        Position {
            line: point.row.0,
            character,
        }
    }

    /// Converts a span of `text` to a range.
    pub(crate) fn range(self, text: &Snapshot, span: Span) -> Range {
        Range {
            start: self.position(text, span.start),
            end: self.position(text, span.end),
        }
    }

    /// Converts a position to an offset of `text`. A character within a char gives the start of
    /// that char.
    pub(crate) fn offset(
        self,
        text: &Snapshot,
        position: Position,
    ) -> Result<ByteOffset, RowBeyondText> {
        let row = Row(position.line);
        if row > text.last_row() {
            return Err(RowBeyondText { row: row.0 });
        }
        Ok(match self {
            Self::Utf8 => {
                // A column beyond the text must not wrap on addition.
                let column = position.character.min(text.row_len(row).0);
                text.offset_at(Point {
                    row,
                    column: Column(column),
                })
            }
            Self::Utf16 => text.offset_at_utf16_point(Utf16Point {
                row: row.0,
                column: position.character,
            }),
            Self::Utf32 => {
                let start = text.char_at(text.row_start(row));
                text.offset_at_char(start.saturating_add(position.character as usize))
                    .min(text.row_end(row))
            }
        })
    }
}

#[cfg(test)]
mod tests;
