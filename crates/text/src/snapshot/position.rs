//! Conversions between bytes, rows and columns, chars and UTF-16 units; clipping.

use base::{Bias, ByteOffset, Column, Point, Row, Utf16Point};

use crate::snapshot::Snapshot;

impl Snapshot {
    /// The row and byte column of an offset.
    pub fn point_at(&self, offset: ByteOffset) -> Point {
        let offset = self.floor(offset);
        let row = self.storage.row_at(offset);
        Point {
            row: Row(row as u32),
            column: Column((offset - self.storage.row_start(row)) as u32),
        }
    }

    /// The offset of a point; columns beyond the row's text are taken as its end.
    pub fn offset_at(&self, point: Point) -> ByteOffset {
        if point.row > self.last_row() {
            return self.len();
        }
        let start = self.row_start(point.row);
        let end = self.row_end(point.row);
        ByteOffset(self.floor((start + point.column.0 as usize).min(end)))
    }

    /// The nearest place a caret may stand: within the text, on a char boundary, and not between
    /// the two halves of a `\r\n`. `bias` says to which side a forbidden offset moves.
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

    /// How many UTF-16 code units lie before an offset.
    pub fn utf16_at(&self, offset: ByteOffset) -> usize {
        self.storage.utf16_at(self.floor(offset))
    }

    /// The offset that has so many UTF-16 code units before it. Inside a surrogate pair it is the
    /// start of the char; beyond the end it is the end.
    pub fn offset_at_utf16(&self, unit: usize) -> ByteOffset {
        if unit >= self.storage.utf16_len() {
            return self.len();
        }
        ByteOffset(self.storage.offset_at_utf16(unit))
    }

    /// The row and UTF-16 column of an offset.
    pub fn utf16_point(&self, offset: ByteOffset) -> Utf16Point {
        let offset = self.floor(offset);
        let row = self.storage.row_at(offset);
        let start = self.storage.utf16_at(self.storage.row_start(row));
        Utf16Point {
            row: row as u32,
            column: (self.storage.utf16_at(offset) - start) as u32,
        }
    }

    /// The offset of a row and UTF-16 column; columns beyond the row's text are taken as its end.
    pub fn offset_at_utf16_point(&self, point: Utf16Point) -> ByteOffset {
        let row = Row(point.row);
        if row > self.last_row() {
            return self.len();
        }
        let start = self.utf16_at(self.row_start(row));
        self.offset_at_utf16(start + point.column as usize)
            .min(self.row_end(row))
    }

    /// How many chars (Unicode scalar values) lie before an offset.
    pub fn char_at(&self, offset: ByteOffset) -> usize {
        self.storage.char_at(self.floor(offset))
    }

    /// The offset that has so many chars before it; beyond the end it is the end.
    pub fn offset_at_char(&self, index: usize) -> ByteOffset {
        if index >= self.storage.char_len() {
            return self.len();
        }
        ByteOffset(self.storage.offset_at_char(index))
    }
}
