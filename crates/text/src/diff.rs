//! Which rows, and which words within them, differ between two texts.
//!
//! Start at `Snapshot::diff_rows`. What both texts have in common at their ends is skipped by
//! comparing bytes; only the rows between are looked at one by one.

mod common;

use std::borrow::Cow;

use base::{ByteOffset, Row, Span};
use imara_diff::{Algorithm, Diff, InternedInput};

use crate::change::Splice;
use crate::edit::Edit;
use crate::snapshot::{Chunks, Snapshot};

/// How many common rows around the differing ones take part, so that hunks can slide to where a
/// reader expects them.
const CONTEXT: u32 = 16;
/// Rows that differ are compared word by word up to this length in bytes.
const MAX_WORDS: usize = 64 * 1024;

/// The rows from `start` up to `end`, which is not before `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowSpan {
    /// First row.
    pub start: Row,
    /// One behind the last row.
    pub end: Row,
}

/// Rows `before` that became rows `after`. One of the two may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowHunk {
    /// In the text before.
    pub before: RowSpan,
    /// In the text after.
    pub after: RowSpan,
}

impl RowSpan {
    /// How many rows.
    pub fn len(&self) -> u32 {
        self.end - self.start
    }

    /// Whether it covers no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it covers `row`.
    pub fn contains(&self, row: Row) -> bool {
        self.start <= row && row < self.end
    }
}

impl Snapshot {
    /// The hunks by which this text became `after`, in order.
    ///
    /// Rows count with their endings, so one that gained or lost its ending differs; the empty row
    /// behind a final line feed is none.
    pub fn diff_rows(&self, after: &Snapshot) -> Vec<RowHunk> {
        if self.is_same_text(after) {
            return Vec::new();
        }
        let first = self.common_first_rows(after);
        let common_last = self.common_last_rows(after, first);
        let mut input = InternedInput::default();
        let count = |rows: u32| rows.saturating_sub(first + common_last);
        input.reserve(count(self.row_count()), count(after.row_count()));
        input.update_before(self.middle_rows(first, common_last));
        input.update_after(after.middle_rows(first, common_last));
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        let rows = |range: std::ops::Range<u32>| RowSpan {
            start: Row(first + range.start),
            end: Row(first + range.end),
        };
        diff.hunks()
            .map(|hunk| RowHunk {
                before: rows(hunk.before),
                after: rows(hunk.after),
            })
            .collect()
    }

    /// Small edits that turn this text into `text`: row by row, and word by word within.
    pub fn edits_to(&self, text: &str) -> Vec<Edit> {
        let after = Snapshot::new(text);
        let mut edits = Vec::new();
        for hunk in self.diff_rows(&after) {
            let old_span = self.span_of(hunk.before);
            let new = after.text(after.span_of(hunk.after));
            let old = self.text(old_span);
            if old.is_empty() || new.is_empty() || old.len() + new.len() > MAX_WORDS {
                edits.push(Edit::new(old_span, new));
                continue;
            }
            edits.extend(diff_words(&old, &new).into_iter().map(|splice| {
                let start = old_span.start;
                let span = Span::new(start + splice.old.start.0, start + splice.old.end.0);
                Edit::new(span, &new[splice.new.range()])
            }));
        }
        edits
    }

    /// The bytes of rows with their endings.
    pub fn span_of(&self, rows: RowSpan) -> Span {
        Span::new(self.row_start(rows.start), self.row_start(rows.end))
    }

    /// How many rows at the start can be skipped.
    fn common_first_rows(&self, other: &Snapshot) -> u32 {
        let bytes = common::at_start(
            self.chunks(self.full_span()),
            other.chunks(other.full_span()),
        );
        // A row counts where its ending is common too, and never the row behind the last ending.
        self.row_before(bytes).saturating_sub(CONTEXT)
    }

    /// How many rows at the end can be skipped when `first` are skipped at the start.
    fn common_last_rows(&self, other: &Snapshot, first: u32) -> u32 {
        let bytes = common::at_end(self.chunks_back(), other.chunks_back());
        let start = ByteOffset(self.len().0 - bytes);
        // Without the row that `start` lies in, of which only a part is common.
        let rows = self.last_row().0 - self.row_before(start.0);
        let shorter = self.last_row().0.min(other.last_row().0);
        rows.saturating_sub(CONTEXT)
            .min(shorter - first.min(shorter))
    }

    fn row_before(&self, offset: usize) -> u32 {
        self.point_at(ByteOffset(offset)).row.0
    }

    /// The rows between the skipped ones, with their endings.
    fn middle_rows(&self, first: u32, common_last: u32) -> Rows<'_> {
        let end = match common_last {
            0 => self.len(),
            _ => self.row_start(Row(self.row_count() - common_last)),
        };
        let start = self.row_start(Row(first));
        Rows {
            chunks: self.chunks(Span::new(start, end.max(start))),
            rest: "",
        }
    }
}

/// The hunks by which some lines became others, in order, as a merge wants them: where a hunk may stand in more than
/// one place it stands in the last.
pub fn diff_lines(before: &[&[u8]], after: &[&[u8]]) -> Vec<RowHunk> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let rows = |range: std::ops::Range<u32>| RowSpan {
        start: Row(range.start),
        end: Row(range.end),
    };
    diff.hunks()
        .map(|hunk| RowHunk {
            before: rows(hunk.before),
            after: rows(hunk.after),
        })
        .collect()
}

/// One row with its ending.
#[derive(Default, PartialEq, Eq, Hash)]
struct RowText<'a>(Cow<'a, str>);

impl AsRef<[u8]> for RowText<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Cuts pieces of text into rows.
struct Rows<'a> {
    chunks: Chunks<'a>,
    rest: &'a str,
}

impl<'a> Iterator for Rows<'a> {
    type Item = RowText<'a>;

    fn next(&mut self) -> Option<RowText<'a>> {
        let mut row = Cow::Borrowed("");
        loop {
            if self.rest.is_empty() {
                match self.chunks.next() {
                    Some(chunk) => self.rest = chunk,
                    None => return (!row.is_empty()).then_some(RowText(row)),
                }
            }
            let end = memchr::memchr(b'\n', self.rest.as_bytes());
            let (piece, rest) = self
                .rest
                .split_at(end.map_or(self.rest.len(), |feed| feed + 1));
            self.rest = rest;
            if row.is_empty() {
                row = Cow::Borrowed(piece);
            } else {
                row.to_mut().push_str(piece);
            }
            if end.is_some() {
                return Some(RowText(row));
            }
        }
    }
}

/// The words that differ, as spans of bytes of either text, in order.
///
/// A word is a run of letters, digits and underscores, a run of blanks, or any other character.
pub fn diff_words(before: &str, after: &str) -> Vec<Splice> {
    let words_before: Vec<&str> = Words(before).collect();
    let words_after: Vec<&str> = Words(after).collect();
    let mut input = InternedInput::default();
    input.update_before(words_before.iter().copied());
    input.update_after(words_after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let (mut old, mut new) = (Places::of(&words_before), Places::of(&words_after));
    diff.hunks()
        .map(|hunk| Splice {
            old: Span::new(
                old.start_of(hunk.before.start),
                old.start_of(hunk.before.end),
            ),
            new: Span::new(new.start_of(hunk.after.start), new.start_of(hunk.after.end)),
        })
        .collect()
}

/// Where words start; asked in rising order.
struct Places<'a> {
    words: std::slice::Iter<'a, &'a str>,
    passed: u32,
    offset: usize,
}

impl<'a> Places<'a> {
    fn of(words: &'a [&'a str]) -> Self {
        Self {
            words: words.iter(),
            passed: 0,
            offset: 0,
        }
    }

    fn start_of(&mut self, ix: u32) -> ByteOffset {
        while self.passed < ix {
            self.offset += self.words.next().map_or(0, |word| word.len());
            self.passed += 1;
        }
        ByteOffset(self.offset)
    }
}

struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let is_same: fn(char) -> bool = if is_word(first) {
            is_word
        } else if is_blank(first) {
            is_blank
        } else {
            |_| false
        };
        let rest = &self.0[first.len_utf8()..];
        let end = rest.find(|char| !is_same(char)).unwrap_or(rest.len());
        let (word, rest) = self.0.split_at(first.len_utf8() + end);
        self.0 = rest;
        Some(word)
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn is_blank(char: char) -> bool {
    char.is_whitespace() && char != '\n' && char != '\r'
}

#[cfg(test)]
mod tests;
