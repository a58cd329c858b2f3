//! Conversions between bytes, rows and columns, chars and UTF-16 units; clipping.

use base::{Bias, ByteOffset, Column, Point, Row, Utf16Point};

use crate::snapshot::Snapshot;

impl Snapshot {
    /// Converts an offset to a row and byte column.
    pub fn point_at(&self, offset: ByteOffset) -> Point {
        let offset = self.floor(offset);
        let row = self.storage.row_at(offset);
        Point {
            row: Row(row as u32),
            column: Column((offset - self.storage.row_start(row)) as u32),
        }
    }

    /// Converts a point to an offset. A column past the row's text is clamped to its end, before
    /// the line ending; a row past the last gives the end of the text.
    pub fn offset_at(&self, point: Point) -> ByteOffset {
        if point.row > self.last_row() {
            return self.len();
        }
        let start = self.row_start(point.row);
        let end = self.row_end(point.row);
        ByteOffset(self.floor((start + point.column.0 as usize).min(end)))
    }

    /// Returns the nearest valid caret offset: within the text, on a char boundary, and not inside
    /// a `\r\n`. `bias` is the direction in which an invalid offset moves.
    pub fn clip(&self, offset: ByteOffset, bias: Bias) -> ByteOffset {
        let offset = offset.0.min(self.storage.len());
        let offset = match bias {
            Bias::Left => self.storage.floor_char(offset),
            Bias::Right => self.storage.ceil_char(offset),
        };
        let splits_ending = offset > 0
            && self.storage.byte(offset) == Some(b'\n')
            && self.storage.byte(offset - 1) == Some(b'\r');
        ByteOffset(match bias {
            Bias::Left if splits_ending => offset - 1,
            Bias::Right if splits_ending => offset + 1,
            _ => offset,
        })
    }

    /// Returns the number of UTF-16 code units before an offset, in the whole text.
    pub fn utf16_at(&self, offset: ByteOffset) -> usize {
        self.storage.utf16_at(self.floor(offset))
    }

    /// Converts a UTF-16 offset to a byte offset. Inside a surrogate pair, returns the start of the
    /// char; past the end, the end.
    pub fn offset_at_utf16(&self, unit: usize) -> ByteOffset {
        if unit >= self.storage.utf16_len() {
            return self.len();
        }
        ByteOffset(self.storage.offset_at_utf16(unit))
    }

    /// Converts an offset to a row and a column in UTF-16 code units, as the Language Server
    /// Protocol counts.
    pub fn utf16_point(&self, offset: ByteOffset) -> Utf16Point {
        let offset = self.floor(offset);
        let row = self.storage.row_at(offset);
        let start = self.storage.utf16_at(self.storage.row_start(row));
        Utf16Point {
            row: row as u32,
            column: (self.storage.utf16_at(offset) - start) as u32,
        }
    }

    /// Converts a row and UTF-16 column to an offset; columns past the row's text are clamped to
    /// its end. A row past the last gives the end of the text.
    pub fn offset_at_utf16_point(&self, point: Utf16Point) -> ByteOffset {
        let row = Row(point.row);
        if row > self.last_row() {
            return self.len();
        }
        let start = self.utf16_at(self.row_start(row));
        self.offset_at_utf16(start + point.column as usize)
            .min(self.row_end(row))
    }

    /// Returns the number of chars (Unicode scalar values) before an offset, in the whole text.
    pub fn char_at(&self, offset: ByteOffset) -> usize {
        self.storage.char_at(self.floor(offset))
    }

    /// Returns the byte offset of the char with the number `index`, counted from 0, or the end of
    /// the text if there are fewer.
    pub fn offset_at_char(&self, index: usize) -> ByteOffset {
        if index >= self.storage.char_len() {
            return self.len();
        }
        ByteOffset(self.storage.offset_at_char(index))
    }
}
