//! Text of a file, split into lines with keys for comparing them.
//!
//! Matching uses line feeds only; edits are expressed in bytes of the original file.
//!
//! Invariant: `raw` of any offset lies on a char boundary of the original text.
//! Start at `FileText::new`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use base::{ByteOffset, Row, Span};

use crate::fold;
use crate::placeholder::PlaceholderStyle;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text to be edited: its original bytes, and its lines as models see them.
///
/// A line ends at `\n`; a `\r` before it belongs to the ending. A final line feed starts no further
/// line.
#[derive(Debug)]
pub struct FileText<'a> {
    raw: &'a str,
    /// The text without byte order mark, with every line ending normalized to `\n`.
    normal: Cow<'a, str>,
    /// Start offset of each line in `normal`, followed by its length.
    starts: Vec<usize>,
    /// Start offset of each line in `raw`, followed by its length.
    raw_starts: Vec<usize>,
    keys: OnceCell<Vec<u64>>,
    by_key: OnceCell<Vec<(u64, u32)>>,
    filled: OnceCell<Vec<u32>>,
    style: PlaceholderStyle,
}

/// Line ending of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawLineEnding {
    /// A line feed, `\n`.
    Feed,
    /// Carriage return and line feed, `\r\n`.
    ReturnFeed,
    /// No ending, at the end of the text.
    None,
}

impl<'a> FileText<'a> {
    /// Splits `raw` into lines. A byte order mark is not part of a line. Takes time proportional to
    /// the length of `raw`.
    pub fn new(raw: &'a str) -> Self {
        let body = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw);
        let mark = raw.len() - body.len();
        let has_returns = memchr::memmem::find(body.as_bytes(), b"\r\n").is_some();
        let normal: Cow<'a, str> = if has_returns {
            body.replace("\r\n", "\n").into()
        } else {
            body.into()
        };
        let starts = line_starts(&normal, 0);
        let raw_starts = line_starts(body, mark);
        Self {
            raw,
            normal,
            starts,
            raw_starts,
            keys: OnceCell::new(),
            by_key: OnceCell::new(),
            filled: OnceCell::new(),
            style: PlaceholderStyle::Code,
        }
    }

    /// Sets the path of the file, whose extension distinguishes prose from code. Without a path,
    /// the text counts as code.
    #[must_use]
    pub fn with_path(mut self, path: &str) -> Self {
        self.style = PlaceholderStyle::of_path(path);
        self
    }

    /// Returns the original text, with its line endings and byte order mark.
    pub fn text(&self) -> &'a str {
        self.raw
    }

    /// Returns the number of lines; zero for an empty text.
    pub fn line_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns a line without its ending; empty beyond the last line.
    pub fn line(&self, row: Row) -> &str {
        self.content(row.0 as usize)
    }

    /// Returns the row that contains a byte of the original text, or the last row for an offset
    /// beyond the end of the text.
    pub fn row_at(&self, offset: ByteOffset) -> Row {
        let after = self.raw_starts.partition_point(|start| *start <= offset.0);
        let last = self.line_count().saturating_sub(1);
        Row(after.saturating_sub(1).min(last) as u32)
    }

    /// Returns the bytes of a range of lines in the original text, including their endings. Rows
    /// beyond the last line are clamped to the end.
    pub fn span_of(&self, rows: Range<Row>) -> Span {
        let at = |row: Row| self.raw_starts[(row.0 as usize).min(self.line_count())];
        (at(rows.start)..at(rows.end)).into()
    }

    /// Returns whether the file is code or prose.
    pub(crate) fn style(&self) -> PlaceholderStyle {
        self.style
    }

    /// Returns the text without byte order mark, with every line ending normalized to `\n`.
    pub(crate) fn normal(&self) -> &str {
        &self.normal
    }

    /// Returns a line without its ending, or an empty string for a row beyond the last line.
    pub(crate) fn content(&self, row: usize) -> &str {
        let (Some(start), Some(end)) = (self.starts.get(row), self.starts.get(row + 1)) else {
            return "";
        };
        let line = &self.normal[*start..*end];
        line.strip_suffix('\n').unwrap_or(line)
    }

    /// Returns the start of a line in `normal`, or its length beyond the last line.
    pub(crate) fn start(&self, row: usize) -> usize {
        self.starts[row.min(self.line_count())]
    }

    /// Returns the row that contains an offset into `normal`; the line count at its very end.
    pub(crate) fn row_of(&self, offset: usize) -> usize {
        let after = self.starts.partition_point(|start| *start <= offset);
        after.saturating_sub(1)
    }

    /// Converts an offset into `normal` to an offset into the original text.
    pub(crate) fn raw_offset(&self, offset: usize) -> usize {
        let row = self.row_of(offset);
        self.raw_starts[row] + (offset - self.starts[row])
    }

    /// Returns the start of a line in the original text, or the length of the text for a row beyond
    /// the last line.
    pub(crate) fn raw_start(&self, row: usize) -> usize {
        self.raw_starts[row.min(self.line_count())]
    }

    /// Returns the offset of a line's ending in the original text.
    pub(crate) fn raw_content_end(&self, row: usize) -> usize {
        self.raw_start(row) + self.content(row).len()
    }

    /// Returns the ending that a line has in the original text.
    pub(crate) fn line_ending(&self, row: usize) -> RawLineEnding {
        match self.raw_start(row + 1) - self.raw_content_end(row) {
            0 => RawLineEnding::None,
            1 => RawLineEnding::Feed,
            _ => RawLineEnding::ReturnFeed,
        }
    }

    /// Returns the ending for a line inserted before `row`, taken from the lines around it.
    pub(crate) fn ending_near(&self, row: usize) -> &'static str {
        let around = [row.checked_sub(1), Some(row), row.checked_sub(2)];
        let mut endings = around.into_iter().flatten();
        let ending = endings
            .by_ref()
            .filter(|row| *row < self.line_count())
            .map(|row| self.line_ending(row))
            .find(|ending| *ending != RawLineEnding::None);
        match ending {
            Some(RawLineEnding::ReturnFeed) => "\r\n",
            _ => "\n",
        }
    }

    /// Whether the last line lacks a line ending.
    pub(crate) fn is_bare(&self) -> bool {
        let last = self.line_count().checked_sub(1);
        last.is_some_and(|row| self.line_ending(row) == RawLineEnding::None)
    }

    /// Returns a hash for each line, in order. The hash ignores surrounding white space and the
    /// difference between typographic and plain punctuation. The first call computes the hashes.
    pub(crate) fn keys(&self) -> &[u64] {
        self.keys.get_or_init(|| {
            let rows = 0..self.line_count();
            rows.map(|row| fold::key(self.content(row))).collect()
        })
    }

    /// Returns the rows that are not blank, in order. The first call computes them.
    pub(crate) fn filled_rows(&self) -> &[u32] {
        self.filled.get_or_init(|| {
            let blank = fold::key("");
            let keys = self.keys().iter().zip(0..);
            keys.filter(|(key, _)| **key != blank)
                .map(|(_, row)| row)
                .collect()
        })
    }

    /// Returns a pair of the key and the row for every line with this key, in order.
    pub(crate) fn rows_with(&self, key: u64) -> &[(u64, u32)] {
        let by_key = self.by_key.get_or_init(|| {
            let keys = self.keys().iter().zip(0..);
            let mut by_key: Vec<(u64, u32)> = keys.map(|(key, row)| (*key, row)).collect();
            by_key.sort_unstable();
            by_key
        });
        let start = by_key.partition_point(|(other, _)| *other < key);
        let end = start + by_key[start..].partition_point(|(other, _)| *other == key);
        &by_key[start..end]
    }
}

/// Returns the offsets at which the lines start and, last, the end of the text, all shifted by
/// `base`. A text that ends in a line feed has no empty line after it.
fn line_starts(text: &str, base: usize) -> Vec<usize> {
    let mut starts = vec![base];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| base + at + 1));
    if starts.last() != Some(&(base + text.len())) {
        starts.push(base + text.len());
    }
    starts
}

#[cfg(test)]
mod tests;
