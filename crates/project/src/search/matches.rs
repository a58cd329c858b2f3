//! Groups the matches in a text into rows.
//!
//! Start at `matches_in`.

use std::ops::Range;

use base::{AbsPath, ByteOffset, Row, Span};
use caret::find::{Groups, Searcher};
use host::ContentHash;
use text::LineEnding;

use super::SearchQuery;

/// A file and its matching rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// Path of the file.
    pub path: AbsPath,
    /// Top to bottom; one per row, or per run of rows if a match spans several. No two share a row.
    pub rows: Vec<MatchingRow>,
    /// Fingerprint of the searched text, as UTF-8 without a byte order mark.
    pub content: ContentHash,
    /// Most frequent line ending of the file.
    pub line_ending: LineEnding,
}

/// A row with at least one match, and its context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchingRow {
    /// Row number; the first one if a match spans rows.
    pub row: Row,
    /// Start of the row in the searched text.
    pub start: ByteOffset,
    /// Text without its last line ending; truncated around the first match if the row is too long
    /// to display.
    pub text: String,
    /// Bytes of the row cut off before `text`.
    pub cut: usize,
    /// Line ending after `text`; empty at the end of the file, and if the row is cut off after
    /// `text`.
    pub ending: &'static str,
    /// Byte ranges of `text` to highlight, sorted and disjoint: the matches that start in it.
    pub highlights: Vec<Range<usize>>,
    /// Matches as byte ranges of the whole row with its ending, sorted and disjoint; empty if only
    /// rows are requested.
    pub columns: Vec<Range<usize>>,
    /// Capture groups of each match; empty if only rows are requested.
    pub groups: Vec<Groups>,
    /// Rows above, the nearest last.
    pub before: Vec<String>,
    /// Rows below, the nearest first.
    pub after: Vec<String>,
}

/// A match in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMatch {
    /// Byte span of the match.
    pub span: Span,
    /// Capture groups of the pattern.
    pub groups: Groups,
}

/// Maximum bytes of a row's displayed text.
const MAX_ROW_BYTES: usize = 1_000;
/// Bytes kept before the first match when a row is truncated.
const LEAD_BYTES: usize = 80;

impl FileMatches {
    /// Builds the results from the sorted, disjoint matches in `text`, with `context_rows` rows
    /// above and below each. `None` if there are none.
    pub fn of(
        path: &AbsPath,
        text: &str,
        matches: impl IntoIterator<Item = TextMatch>,
        context_rows: usize,
    ) -> Option<Self> {
        let mut rows = RowCollector::new(text, context_rows);
        matches.into_iter().for_each(|found| rows.add(found));
        rows.into_file(path)
    }
}

impl MatchingRow {
    /// Returns the number of matches; one if only rows are requested.
    pub fn match_count(&self) -> usize {
        self.columns.len().max(1)
    }

    /// Returns the matches with their positions in the searched text.
    pub fn matches(&self) -> impl Iterator<Item = TextMatch> + '_ {
        let places = self.columns.iter().zip(&self.groups);
        places.map(|(column, groups)| TextMatch {
            span: Span::new(self.start + column.start, self.start + column.end),
            groups: groups.clone(),
        })
    }
}

/// Truncates `rows` after the first `count` matches; returns how many matches remain.
pub(crate) fn keep_matches(rows: &mut Vec<MatchingRow>, count: usize) -> usize {
    let mut left = count;
    rows.retain_mut(|row| {
        let kept = row.match_count().min(left);
        row.columns.truncate(kept);
        row.groups.truncate(kept);
        row.highlights.truncate(kept);
        left -= kept;
        kept > 0
    });
    count - left
}

/// Searches a text; `None` if there is no match, or once `is_over`.
///
/// There is no row after the last line ending, so an empty match there is dropped.
pub(crate) fn matches_in(
    path: &AbsPath,
    text: &str,
    searcher: &mut Searcher,
    query: &SearchQuery,
    is_over: &dyn Fn() -> bool,
) -> Option<FileMatches> {
    let has_last_row = !text.is_empty() && !text.ends_with('\n');
    let mut rows = RowCollector::new(text, query.context_rows);
    let mut matches = searcher.matches(text);
    while let Some(found) = matches.next() {
        if is_over() {
            return None;
        }
        if found.start == text.len() && !has_last_row {
            break;
        }
        let groups = if query.only_rows {
            Groups::default()
        } else {
            matches.groups(found.clone())
        };
        rows.add(TextMatch {
            span: Span::from(found),
            groups,
        });
        if query.only_rows {
            matches.skip_to(rows.last_match_end());
        }
    }
    let mut file = rows.into_file(path)?;
    if query.only_rows {
        file.rows.iter_mut().for_each(MatchingRow::forget_matches);
    }
    Some(file)
}

impl MatchingRow {
    fn forget_matches(&mut self) {
        self.columns.clear();
        self.groups.clear();
        self.highlights.clear();
    }
}

/// Collects matches into rows.
struct RowCollector<'a> {
    text: &'a str,
    context_rows: usize,
    /// An offset at the start of a row, and the number of that row.
    counted: (usize, u32),
    block: Option<MatchBlock>,
    found: Vec<MatchingRow>,
    /// End of the rows already in `found`, as matches or context.
    shown_to: usize,
}

/// Adjacent rows that share matches.
struct MatchBlock {
    row: u32,
    /// Byte range including the last line ending.
    range: Range<usize>,
    columns: Vec<Range<usize>>,
    groups: Vec<Groups>,
}

impl<'a> RowCollector<'a> {
    fn new(text: &'a str, context_rows: usize) -> Self {
        Self {
            text,
            context_rows,
            counted: (0, 0),
            block: None,
            found: Vec::new(),
            shown_to: 0,
        }
    }

    /// Adds the next match.
    fn add(&mut self, found: TextMatch) {
        let span = found.span.range();
        let mut block = match self.block.take() {
            Some(block) if self.is_in(&block, span.start) => block,
            last => {
                self.block = last;
                self.begin_block(span.start)
            }
        };
        let last = if span.is_empty() {
            span.start
        } else {
            span.end - 1
        };
        if last >= block.range.end {
            block.range.end = self.row_end(last);
        }
        let start = block.range.start;
        block.columns.push(span.start - start..span.end - start);
        block.groups.push(found.groups);
        self.block = Some(block);
    }

    /// Returns whether an offset at or after the block's start lies in its rows.
    fn is_in(&self, block: &MatchBlock, offset: usize) -> bool {
        let is_unended = block.range.end == self.text.len() && !self.text.ends_with('\n');
        offset < block.range.end || is_unended
    }

    fn begin_block(&mut self, offset: usize) -> MatchBlock {
        let start = self.row_start(offset);
        self.close_block(start);
        let (counted, row) = self.counted;
        let row = row + feeds(&self.text[counted..start]);
        self.counted = (start, row);
        MatchBlock {
            row,
            range: start..self.row_end(offset),
            columns: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Returns the end of the last match's rows.
    fn last_match_end(&self) -> usize {
        self.block.as_ref().map_or(0, |block| block.range.end)
    }

    /// Moves the block into `found`; the next one starts at `next`.
    fn close_block(&mut self, next: usize) {
        let Some(block) = self.block.take() else {
            return;
        };
        let (line, ending) = without_ending(&self.text[block.range.clone()]);
        let kept = visible_range(line, &block.columns);
        let inside = block
            .columns
            .iter()
            .take_while(|column| column.start < kept.end);
        let highlights =
            inside.map(|column| column.start - kept.start..column.end.min(kept.end) - kept.start);
        let highlights = highlights.collect();
        let ending = if kept.end == line.len() { ending } else { "" };
        let before = self.rows_above(block.range.start);
        let after = self.rows_below(block.range.end, next);
        self.found.push(MatchingRow {
            row: Row(block.row),
            start: ByteOffset(block.range.start),
            text: line[kept.clone()].to_owned(),
            cut: kept.start,
            ending,
            highlights,
            columns: block.columns,
            groups: block.groups,
            before,
            after,
        });
    }

    fn rows_above(&self, start: usize) -> Vec<String> {
        let mut rows = Vec::new();
        let mut at = start;
        while rows.len() < self.context_rows && at > self.shown_to {
            let above = self.row_start(at - 1);
            rows.push(context(&self.text[above..at]));
            at = above;
        }
        rows.reverse();
        rows
    }

    fn rows_below(&mut self, end: usize, next: usize) -> Vec<String> {
        let mut rows = Vec::new();
        let mut at = end;
        while rows.len() < self.context_rows && at < next {
            let below = self.row_end(at);
            rows.push(context(&self.text[at..below]));
            at = below;
        }
        self.shown_to = at;
        rows
    }

    /// Returns the offset of the first byte of the row that contains `offset`.
    fn row_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |feed| feed + 1)
    }

    /// Returns the offset after the row's line ending.
    fn row_end(&self, offset: usize) -> usize {
        let rest = &self.text.as_bytes()[offset..];
        let feed = rest.iter().position(|byte| *byte == b'\n');
        feed.map_or(self.text.len(), |feed| offset + feed + 1)
    }

    /// Ends the last block and returns all matches of the file; `None` if there are none.
    fn into_file(mut self, path: &AbsPath) -> Option<FileMatches> {
        self.close_block(self.text.len());
        (!self.found.is_empty()).then(|| FileMatches {
            path: path.clone(),
            rows: self.found,
            content: ContentHash::of(self.text.as_bytes()),
            line_ending: LineEnding::of(self.text),
        })
    }
}

/// Returns the number of line feeds.
fn feeds(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Splits off the last line ending, which is empty if there is none.
fn without_ending(rows: &str) -> (&str, &'static str) {
    for ending in ["\r\n", "\n"] {
        if let Some(line) = rows.strip_suffix(ending) {
            return (line, ending);
        }
    }
    (rows, "")
}

fn context(row: &str) -> String {
    let (line, _) = without_ending(row);
    line[visible_range(line, &[])].to_owned()
}

/// Returns the byte range of a row to display.
fn visible_range(line: &str, columns: &[Range<usize>]) -> Range<usize> {
    let start = match columns.first() {
        Some(first) if line.len() > MAX_ROW_BYTES => {
            line.floor_char_boundary(first.start.saturating_sub(LEAD_BYTES).min(line.len()))
        }
        _ => 0,
    };
    start..line.floor_char_boundary(line.len().min(start + MAX_ROW_BYTES))
}
