//! A file's text cut into lines, with the keys by which lines are compared.
//!
//! Matching sees line feeds alone; what is written back is measured in the bytes of the file.
//! Invariant: `raw` of any offset lies on a char boundary of the file's own text.
//! Start at `FileText::new`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use base::{ByteOffset, Row, Span};

use crate::fold;
use crate::placeholder::Style;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text to be changed: the bytes as they are, and the lines as models see them.
///
/// A line ends at `\n`; a `\r` before it belongs to the ending. A final line feed starts no line.
#[derive(Debug)]
pub struct FileText<'a> {
    raw: &'a str,
    /// Without the byte order mark, every ending a `\n`.
    normal: Cow<'a, str>,
    /// Where each line starts in `normal`, and the length of it all.
    starts: Vec<usize>,
    /// The same in `raw`.
    raw_starts: Vec<usize>,
    keys: OnceCell<Vec<u64>>,
    by_key: OnceCell<Vec<(u64, u32)>>,
    filled: OnceCell<Vec<u32>>,
    style: Style,
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// `\n`
    Feed,
    /// `\r\n`
    ReturnFeed,
    /// The text ends instead.
    None,
}

impl<'a> FileText<'a> {
    /// Cuts `raw` into lines. Takes time in proportion to its length.
    pub fn new(raw: &'a str) -> Self {
        let body = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw);
        let mark = raw.len() - body.len();
        let has_returns = memchr::memmem::find(body.as_bytes(), b"\r\n").is_some();
        let normal: Cow<'a, str> = match has_returns {
            true => body.replace("\r\n", "\n").into(),
            false => body.into(),
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
            style: Style::Code,
        }
    }

    /// The same text as that of the file at `path`, whose name tells prose from code.
    #[must_use]
    pub fn at_path(mut self, path: &str) -> Self {
        self.style = Style::of_path(path);
        self
    }

    /// The text as it is.
    pub fn text(&self) -> &'a str {
        self.raw
    }

    /// How many lines it has; none when it is empty.
    pub fn line_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// A line without its ending; empty behind the last.
    pub fn line(&self, row: Row) -> &str {
        self.content(row.0 as usize)
    }

    /// The row that a byte of the text lies in.
    pub fn row_at(&self, offset: ByteOffset) -> Row {
        let after = self.raw_starts.partition_point(|start| *start <= offset.0);
        let last = self.line_count().saturating_sub(1);
        Row(after.saturating_sub(1).min(last) as u32)
    }

    /// The bytes of lines, endings included.
    pub fn span_of(&self, rows: Range<Row>) -> Span {
        let at = |row: Row| self.raw_starts[(row.0 as usize).min(self.line_count())];
        (at(rows.start)..at(rows.end)).into()
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    pub(crate) fn normal(&self) -> &str {
        &self.normal
    }

    pub(crate) fn content(&self, row: usize) -> &str {
        let (Some(start), Some(end)) = (self.starts.get(row), self.starts.get(row + 1)) else {
            return "";
        };
        let line = &self.normal[*start..*end];
        line.strip_suffix('\n').unwrap_or(line)
    }

    /// Where a line starts in `normal`; the end of it behind the last line.
    pub(crate) fn start(&self, row: usize) -> usize {
        self.starts[row.min(self.line_count())]
    }

    /// The row that an offset into `normal` lies in; the count of lines at its very end.
    pub(crate) fn row_of(&self, offset: usize) -> usize {
        let after = self.starts.partition_point(|start| *start <= offset);
        after.saturating_sub(1)
    }

    /// Where an offset into `normal` lies in the file.
    pub(crate) fn raw_offset(&self, offset: usize) -> usize {
        let row = self.row_of(offset);
        self.raw_starts[row] + (offset - self.starts[row])
    }

    pub(crate) fn raw_start(&self, row: usize) -> usize {
        self.raw_starts[row.min(self.line_count())]
    }

    /// Where a line's ending starts in the file.
    pub(crate) fn raw_content_end(&self, row: usize) -> usize {
        self.raw_start(row) + self.content(row).len()
    }

    pub(crate) fn ending(&self, row: usize) -> Ending {
        match self.raw_start(row + 1) - self.raw_content_end(row) {
            0 => Ending::None,
            1 => Ending::Feed,
            _ => Ending::ReturnFeed,
        }
    }

    /// The ending that a new line before `row` takes: that of the lines around it.
    pub(crate) fn ending_near(&self, row: usize) -> &'static str {
        let around = [row.checked_sub(1), Some(row), row.checked_sub(2)];
        let mut endings = around.into_iter().flatten();
        let ending = endings
            .by_ref()
            .filter(|row| *row < self.line_count())
            .map(|row| self.ending(row))
            .find(|ending| *ending != Ending::None);
        match ending {
            Some(Ending::ReturnFeed) => "\r\n",
            _ => "\n",
        }
    }

    /// Whether the last line lacks its ending.
    pub(crate) fn is_bare(&self) -> bool {
        let last = self.line_count().checked_sub(1);
        last.is_some_and(|row| self.ending(row) == Ending::None)
    }

    /// Per line, a hash of its text without white space around it, punctuation folded.
    pub(crate) fn keys(&self) -> &[u64] {
        self.keys.get_or_init(|| {
            let rows = 0..self.line_count();
            rows.map(|row| fold::key(self.content(row))).collect()
        })
    }

    /// The rows that are not blank, in order.
    pub(crate) fn filled_rows(&self) -> &[u32] {
        self.filled.get_or_init(|| {
            let blank = fold::key("");
            let keys = self.keys().iter().zip(0..);
            keys.filter(|(key, _)| **key != blank)
                .map(|(_, row)| row)
                .collect()
        })
    }

    /// The rows whose line has this key, in order.
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
