//! Binary encoding of numbers and strings for the journal format.
//!
//! Numbers are varints of seven bits per byte, lowest first; strings and lists are prefixed by
//! their length.
//! Invariant: no input makes the reader panic, loop, or use more memory than the input is long.

/// Encodes values to bytes.
#[derive(Default)]
pub(super) struct ByteWriter {
    pub(super) bytes: Vec<u8>,
}

impl ByteWriter {
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(super) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    pub(super) fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.tag(u8::from(flag));
    }

    pub(super) fn wide(&mut self, number: u128) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn string(&mut self, string: &[u8]) {
        self.count(string.len());
        self.bytes.extend_from_slice(string);
    }
}

/// Decodes values from bytes. Every method returns `None` for invalid bytes.
pub(super) struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether all bytes are read.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads a varint of at most ten bytes.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.tag()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a varint; `None` if it is invalid or exceeds 32 bits.
    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Reads a count of items that take at least one byte each.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    /// Reads one byte, such as the tag of a variant.
    pub(super) fn tag(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Reads a byte that must be 0 or 1.
    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.tag()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Reads a number of 16 bytes, little-endian.
    pub(super) fn wide(&mut self) -> Option<u128> {
        let (number, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u128::from_le_bytes(*number))
    }

    /// Reads bytes after their count.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let (string, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(string)
    }

    /// Reads a text after its length in bytes; `None` if it is truncated or not UTF-8.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// Reads a list after its count; `item` reads one element, of at least one byte.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        (0..self.count()?).map(|_| item(self)).collect()
    }
}
