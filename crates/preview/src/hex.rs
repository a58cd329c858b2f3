//! The bytes of a file of any length, a page at a time.
//!
//! Invariant: at most `MAX_PAGES` pages are in memory, whatever the length of the file.
//! Start at `HexReader`.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Bytes in a row.
pub const BYTES_PER_ROW: u64 = 16;
/// Length of a page.
const PAGE: u64 = 64 << 10;
/// Maximum number of pages in memory.
const MAX_PAGES: usize = 32;

/// The pages of a file that were read last.
#[derive(Clone, Debug, Default)]
pub struct HexReader {
    length: u64,
    /// The page that was used last is at the end.
    pages: VecDeque<HexPage>,
}

/// A part of a file.
#[derive(Clone, Debug)]
struct HexPage {
    /// Number of the page in the file.
    number: u64,
    /// Its bytes; fewer than a page at the end of the file.
    bytes: Arc<[u8]>,
}

/// The texts of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HexRow {
    /// Offset of the first byte.
    pub offset: u64,
    /// The bytes, at most `BYTES_PER_ROW`.
    pub bytes: Vec<u8>,
}

/// The cause why a text is no offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OffsetError {
    /// The text is no number.
    #[error("type a number, 0x and a hexadecimal one, +16, -16 or 50%")]
    Unknown,
    /// The offset is behind the end.
    #[error("the file has only {} bytes", crate::grouped(*.0))]
    BehindEnd(u64),
}

impl HexReader {
    /// Creates a reader of a file of `length` bytes.
    pub fn new(length: u64) -> Self {
        Self {
            length,
            pages: VecDeque::new(),
        }
    }

    /// Returns the length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Returns whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.length.div_ceil(BYTES_PER_ROW)
    }

    /// Returns the parts of the file that the rows need and that are not in memory, as offset and length; at most as
    /// many as fit into memory.
    pub fn missing(&self, rows: Range<u64>) -> Vec<(u64, usize)> {
        let start = rows.start.saturating_mul(BYTES_PER_ROW) / PAGE;
        let end = rows.end.saturating_mul(BYTES_PER_ROW).min(self.length);
        let pages = (start..end.div_ceil(PAGE)).take(MAX_PAGES / 2);
        let missing = pages.filter(|number| !self.pages.iter().any(|it| it.number == *number));
        missing.map(|it| (it * PAGE, PAGE as usize)).collect()
    }

    /// Keeps a part that was read; `offset` is one of those of `missing`. Drops the pages that were not used for the
    /// longest time.
    pub fn insert(&mut self, offset: u64, bytes: Vec<u8>) {
        let number = offset / PAGE;
        self.pages.retain(|page| page.number != number);
        self.pages.push_back(HexPage {
            number,
            bytes: bytes.into(),
        });
        while self.pages.len() > MAX_PAGES {
            self.pages.pop_front();
        }
    }

    /// Returns a row; `None` if its page is not in memory or it is behind the end.
    pub fn row(&self, row: u64) -> Option<HexRow> {
        let offset = row.checked_mul(BYTES_PER_ROW)?;
        let bytes = self.bytes(offset..offset.checked_add(BYTES_PER_ROW)?);
        (!bytes.is_empty()).then_some(HexRow { offset, bytes })
    }

    /// Returns the bytes of a range that are in memory, up to the first one that is not.
    pub fn bytes(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let page = self.pages.iter().rev().find(|it| it.number == at / PAGE);
            let Some(page) = page else {
                break;
            };
            let start = usize::try_from(at % PAGE).unwrap_or(usize::MAX);
            let wanted = usize::try_from(range.end - at).unwrap_or(usize::MAX);
            let rest = page.bytes.get(start..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let taken = wanted.min(rest.len());
            bytes.extend_from_slice(&rest[..taken]);
            at += taken as u64;
        }
        bytes
    }
}

impl HexRow {
    /// Returns the offset in hexadecimal digits, at least eight.
    pub fn offset_text(&self) -> String {
        format!("{:08x}", self.offset)
    }

    /// Returns the byte as two hexadecimal digits; `None` behind the end of the file.
    pub fn hex(&self, ix: usize) -> Option<String> {
        self.bytes.get(ix).map(|byte| format!("{byte:02x}"))
    }

    /// Returns the character of a byte, `·` if it has no visible one; `None` behind the end of the file.
    pub fn character(&self, ix: usize) -> Option<char> {
        let byte = *self.bytes.get(ix)?;
        Some(match byte {
            b' '..=b'~' => char::from(byte),
            _ => '\u{b7}',
        })
    }
}

/// Reads an offset: decimal, hexadecimal with `0x` or an `h` behind, relative to `caret` with a sign, or a percentage of
/// the file. Commas and underscores between digits are left out.
pub fn parse_offset(text: &str, caret: u64, length: u64) -> Result<u64, OffsetError> {
    let text = text.trim().to_ascii_lowercase().replace([',', '_'], "");
    let offset = if let Some(percent) = text.strip_suffix('%') {
        let percent: u64 = percent.trim().parse().map_err(|_| OffsetError::Unknown)?;
        let at = u128::from(length) * u128::from(percent) / 100;
        u64::try_from(at).unwrap_or(u64::MAX)
    } else if let Some(distance) = text.strip_prefix('+') {
        caret.saturating_add(number(distance)?)
    } else if let Some(distance) = text.strip_prefix('-') {
        caret.saturating_sub(number(distance)?)
    } else {
        number(&text)?
    };
    let is_end = offset == length && text.ends_with('%');
    if offset < length {
        Ok(offset)
    } else if is_end && length > 0 {
        Ok(length - 1)
    } else {
        Err(OffsetError::BehindEnd(length))
    }
}

/// Reads a number; one that overflows is the largest.
fn number(text: &str) -> Result<u64, OffsetError> {
    let text = text.trim();
    let hex = text.strip_prefix("0x").or_else(|| text.strip_suffix('h'));
    let (digits, radix) = hex.map_or((text, 10), |digits| (digits, 16));
    if digits.is_empty() || !digits.chars().all(|it| it.is_digit(radix)) {
        return Err(OffsetError::Unknown);
    }
    Ok(u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::{HexReader, MAX_PAGES, OffsetError, PAGE, parse_offset};

    #[test]
    fn rows_are_read_page_by_page() {
        let mut reader = HexReader::new(PAGE + 20);
        assert_eq!(reader.rows(), PAGE / 16 + 2);
        let missing = reader.missing(PAGE / 16 - 1..PAGE / 16 + 2);
        assert_eq!(missing, [(0, PAGE as usize), (PAGE, PAGE as usize)]);
        assert_eq!(reader.row(0), None);
        reader.insert(0, vec![b'a'; PAGE as usize]);
        let mut last = vec![b'b'; 20];
        last[17] = 0xff;
        reader.insert(PAGE, last);
        assert!(reader.missing(0..reader.rows()).is_empty());
        let row = reader.row(PAGE / 16 + 1).expect("in memory");
        assert_eq!(row.offset_text(), "00010010");
        assert_eq!(row.hex(0).as_deref(), Some("62"));
        assert_eq!(row.hex(1).as_deref(), Some("ff"));
        assert_eq!((row.character(1), row.character(4)), (Some('\u{b7}'), None));
        assert_eq!(reader.row(PAGE / 16 + 2), None);
        assert_eq!(reader.bytes(PAGE - 1..PAGE + 1), b"ab");
    }

    #[test]
    fn memory_is_bounded_however_far_one_scrolls() {
        let mut reader = HexReader::new(u64::MAX);
        for number in 0..200 {
            reader.insert(number * PAGE, vec![0; 8]);
        }
        assert_eq!(reader.pages.len(), MAX_PAGES);
        assert!(reader.row(0).is_none());
        assert!(reader.missing(0..u64::MAX).len() <= MAX_PAGES);
        assert_eq!(reader.row(u64::MAX), None);
    }

    #[test]
    fn offsets_are_read_in_every_notation() {
        let check = |text: &str| parse_offset(text, 100, 1_000);
        assert_eq!(check("0x1f"), Ok(31));
        assert_eq!(check("1Fh"), Ok(31));
        assert_eq!(check(" 31 "), Ok(31));
        assert_eq!(check("+16"), Ok(116));
        assert_eq!(check("-0x10"), Ok(84));
        assert_eq!(check("-500"), Ok(0));
        assert_eq!(check("50%"), Ok(500));
        assert_eq!(check("100%"), Ok(999));
        assert_eq!(check("1,000"), Err(OffsetError::BehindEnd(1_000)));
        for text in ["", "x", "0x", "h", "%", "--1", "1.5"] {
            assert_eq!(check(text), Err(OffsetError::Unknown), "{text}");
        }
        let huge = check("999999999999999999999999");
        assert_eq!(huge, Err(OffsetError::BehindEnd(1_000)));
    }
}
