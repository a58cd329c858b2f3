//! Variable-length numbers and texts.

use std::ops::Range;

pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// Reads the encoded values from the front; returns `None` at the end and for invalid bytes.
pub(super) struct RecordReader<'a>(pub(super) &'a [u8]);

impl<'a> RecordReader<'a> {
    /// Reads one byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads a number of seven bits per byte, the lowest first, in at most five bytes.
    pub(super) fn number(&mut self) -> Option<usize> {
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return usize::try_from(number).ok();
            }
        }
        None
    }

    /// Reads a text after its length in bytes; `None` if it is truncated or not UTF-8.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        let text = self.0.get(..length)?;
        self.0 = &self.0[length..];
        std::str::from_utf8(text).ok()
    }

    /// Reads a range of rows, stored as its start and length.
    pub(super) fn rows(&mut self) -> Option<Range<u32>> {
        let start = u32::try_from(self.number()?).ok()?;
        let length = u32::try_from(self.number()?).ok()?;
        Some(start..start.checked_add(length)?)
    }
}
