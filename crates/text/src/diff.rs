//! Diffs two texts by rows, and by words within rows.
//!
//! Start at `Snapshot::diff_rows`. A common start and end are skipped by comparing bytes; only the
//! rows in between are compared one by one.

mod common;

use std::borrow::Cow;

use base::{ByteOffset, Row, Span};
use imara_diff::{Algorithm, Diff, InternedInput};

use crate::change::Splice;
use crate::edit::Edit;
use crate::snapshot::{Chunks, Snapshot};

/// Number of common rows around the differing ones that take part, so that hunks can slide to the
/// position readers expect.
const CONTEXT_ROWS: u32 = 16;
/// Maximum bytes of differing rows that are compared word by word.
const MAX_WORD_DIFF_BYTES: usize = 64 * 1024;

/// The rows from `start` to `end`, where `start <= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowSpan {
    /// First row of the span.
    pub start: Row,
    /// Row after the last one.
    pub end: Row,
}

/// A difference: the rows `before` became the rows `after`. One of them may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowHunk {
    /// Rows in the text before.
    pub before: RowSpan,
    /// Rows in the text after.
    pub after: RowSpan,
}

impl RowSpan {
    /// Returns the number of rows.
    pub fn len(&self) -> u32 {
        self.end - self.start
    }

    /// Returns whether it contains no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it contains `row`.
    pub fn contains(&self, row: Row) -> bool {
        self.start <= row && row < self.end
    }
}

impl Snapshot {
    /// Returns the differing rows from this text to `after`, in order; rows between hunks are
    /// equal. Empty if the texts are equal.
    ///
    /// Rows include their endings, so a row that gained or lost its ending differs; the empty row
    /// after a final line feed does not count.
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

    /// Returns small edits of this text that change it into `text`: by rows, and by words within
    /// rows. Empty if both are equal. Takes time in proportion to both texts.
    pub fn edits_to(&self, text: &str) -> Vec<Edit> {
        let after = Snapshot::new(text);
        let mut edits = Vec::new();
        for hunk in self.diff_rows(&after) {
            let old_span = self.span_of(hunk.before);
            let new = after.text(after.span_of(hunk.after));
            let old = self.text(old_span);
            if old.is_empty() || new.is_empty() || old.len() + new.len() > MAX_WORD_DIFF_BYTES {
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

    /// Returns the bytes of the rows in this text, including their endings. Rows past the last one
    /// end at the end of the text.
    pub fn span_of(&self, rows: RowSpan) -> Span {
        Span::new(self.row_start(rows.start), self.row_start(rows.end))
    }

    /// Returns the number of rows to skip at the start.
    fn common_first_rows(&self, other: &Snapshot) -> u32 {
        let bytes = common::at_start(
            self.chunks(self.full_span()),
            other.chunks(other.full_span()),
        );
        // A row is common only together with its ending, and never the row after the last ending.
        self.row_before(bytes).saturating_sub(CONTEXT_ROWS)
    }

    /// Returns the number of rows to skip at the end, if `first` rows are skipped at the start.
    fn common_last_rows(&self, other: &Snapshot, first: u32) -> u32 {
        let bytes = common::at_end(self.chunks_back(), other.chunks_back());
        let start = ByteOffset(self.len().0 - bytes);
        // Exclude the row of `start`, which is common only in part.
        let rows = self.last_row().0 - self.row_before(start.0);
        let shorter = self.last_row().0.min(other.last_row().0);
        rows.saturating_sub(CONTEXT_ROWS)
            .min(shorter - first.min(shorter))
    }

    /// Returns the row, counted from 0, that contains a byte offset.
    fn row_before(&self, offset: usize) -> u32 {
        self.point_at(ByteOffset(offset)).row.0
    }

    /// Returns the rows between the skipped ones, with their endings.
    fn middle_rows(&self, first: u32, common_last: u32) -> DiffRows<'_> {
        let end = match common_last {
            0 => self.len(),
            _ => self.row_start(Row(self.row_count() - common_last)),
        };
        let start = self.row_start(Row(first));
        DiffRows {
            chunks: self.chunks(Span::new(start, end.max(start))),
            rest: "",
        }
    }
}

/// Returns the hunks between two lists of lines, in order, in the form a merge needs: a hunk with
/// several possible positions takes the last. Lines are compared byte by byte; a caller that cares
/// for line endings includes them.
pub fn diff_lines(before: &[&[u8]], after: &[&[u8]]) -> Vec<RowHunk> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    row_hunks(&diff)
}

/// Returns the hunks between two lists of lines, in order, in the form that readers expect: a hunk
/// with several possible positions takes the one that fits the indentation. Lines are compared byte
/// by byte; a caller that cares for line endings includes them.
pub fn diff_lines_for_display(before: &[&[u8]], after: &[&[u8]]) -> Vec<RowHunk> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    row_hunks(&diff)
}

fn row_hunks(diff: &Diff) -> Vec<RowHunk> {
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

/// A row with its line ending.
#[derive(Default, PartialEq, Eq, Hash)]
struct RowText<'a>(Cow<'a, str>);

impl AsRef<[u8]> for RowText<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Splits chunks of text into rows.
struct DiffRows<'a> {
    chunks: Chunks<'a>,
    rest: &'a str,
}

impl<'a> Iterator for DiffRows<'a> {
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

/// Returns the differing words as byte spans of both texts, in order; empty if the texts are equal.
///
/// A word is a run of letters, digits and underscores, a run of blanks, or a single other
/// character.
pub fn diff_words(before: &str, after: &str) -> Vec<Splice> {
    let words_before: Vec<&str> = WordIter(before).collect();
    let words_after: Vec<&str> = WordIter(after).collect();
    let mut input = InternedInput::default();
    input.update_before(words_before.iter().copied());
    input.update_after(words_after.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let (mut old, mut new) = (WordStarts::of(&words_before), WordStarts::of(&words_after));
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

/// The start offsets of words, queried in ascending order.
struct WordStarts<'a> {
    words: std::slice::Iter<'a, &'a str>,
    passed: u32,
    offset: usize,
}

impl<'a> WordStarts<'a> {
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

struct WordIter<'a>(&'a str);

impl<'a> Iterator for WordIter<'a> {
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

/// Returns whether a character is part of a word: a letter, a digit or `_`.
fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns whether a character is white space within a row.
fn is_blank(char: char) -> bool {
    char.is_whitespace() && char != '\n' && char != '\r'
}

#[cfg(test)]
mod tests;
