//! Rows that match, made of the matches in a text.
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
    /// The file.
    pub path: AbsPath,
    /// From top to bottom; one per row, or per run of rows where a match spans several. No two share a row.
    pub rows: Vec<FoundRow>,
    /// The fingerprint of the text that was searched, as UTF-8 without a byte order mark.
    pub content: ContentHash,
    /// The ending that most of its lines have.
    pub line_ending: LineEnding,
}

/// A row with at least one match, and what surrounds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundRow {
    /// Its number; the first one where a match spans rows.
    pub row: Row,
    /// Where it starts in the text that was searched.
    pub start: ByteOffset,
    /// The text, without its last line ending; cut around the first match where a row is longer than can be shown.
    pub text: String,
    /// Bytes of the row that are cut off before `text`.
    pub cut: usize,
    /// The line ending behind `text`; empty at the end of the file and where the row is cut off behind `text`.
    pub ending: &'static str,
    /// Bytes of `text` to highlight, sorted and disjoint: the matches that begin in it.
    pub highlights: Vec<Range<usize>>,
    /// The matches as bytes of the whole row with its ending, sorted and disjoint; none where only rows are wanted.
    pub columns: Vec<Range<usize>>,
    /// The groups of each match, where only rows are wanted none.
    pub groups: Vec<Groups>,
    /// The rows above, the nearest last.
    pub before: Vec<String>,
    /// The rows below.
    pub after: Vec<String>,
}

/// A match in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMatch {
    /// Where it lies.
    pub span: Span,
    /// The groups of the pattern.
    pub groups: Groups,
}

/// Longest text kept of a row, in bytes.
const SHOWN: usize = 1_000;
/// How much of it stands before the first match when it is cut.
const LEAD: usize = 80;

impl FileMatches {
    /// The results for matches in a text, which are sorted and disjoint. `None` if there are none.
    pub fn of(
        path: &AbsPath,
        text: &str,
        matches: impl IntoIterator<Item = TextMatch>,
        context_rows: usize,
    ) -> Option<Self> {
        let mut rows = Rows::new(text, context_rows);
        matches.into_iter().for_each(|found| rows.add(found));
        rows.into_file(path)
    }
}

impl FoundRow {
    /// How many matches it holds; one where only rows are wanted.
    pub fn match_count(&self) -> usize {
        self.columns.len().max(1)
    }

    /// The matches with their places in the text that was searched.
    pub fn matches(&self) -> impl Iterator<Item = TextMatch> + '_ {
        let places = self.columns.iter().zip(&self.groups);
        places.map(|(column, groups)| TextMatch {
            span: Span::new(self.start + column.start, self.start + column.end),
            groups: groups.clone(),
        })
    }
}

/// Cuts `rows` down to `count` matches; answers how many are left.
pub(crate) fn keep_matches(rows: &mut Vec<FoundRow>, count: usize) -> usize {
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
/// Behind the last line ending there is no row: an empty match there is left out.
pub(crate) fn matches_in(
    path: &AbsPath,
    text: &str,
    searcher: &mut Searcher,
    query: &SearchQuery,
    is_over: &dyn Fn() -> bool,
) -> Option<FileMatches> {
    let has_last_row = !text.is_empty() && !text.ends_with('\n');
    let mut rows = Rows::new(text, query.context_rows);
    let mut matches = searcher.matches(text);
    while let Some(found) = matches.next() {
        if is_over() {
            return None;
        }
        if found.start == text.len() && !has_last_row {
            break;
        }
        let groups = match query.only_rows {
            true => Groups::default(),
            false => matches.groups(found.clone()),
        };
        rows.add(TextMatch {
            span: Span::from(found),
            groups,
        });
        if query.only_rows {
            matches.skip_to(rows.end());
        }
    }
    let mut file = rows.into_file(path)?;
    if query.only_rows {
        file.rows.iter_mut().for_each(FoundRow::forget_matches);
    }
    Some(file)
}

impl FoundRow {
    fn forget_matches(&mut self) {
        self.columns.clear();
        self.groups.clear();
        self.highlights.clear();
    }
}

/// Puts matches into rows.
struct Rows<'a> {
    text: &'a str,
    context_rows: usize,
    /// A place at the start of a row, and the number of that row.
    counted: (usize, u32),
    block: Option<Block>,
    found: Vec<FoundRow>,
    /// Where the rows end that are in `found`, as matches or around them.
    shown_to: usize,
}

/// Rows with matches that share them.
struct Block {
    row: u32,
    /// With the last line ending.
    range: Range<usize>,
    columns: Vec<Range<usize>>,
    groups: Vec<Groups>,
}

impl<'a> Rows<'a> {
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

    /// Takes the next match.
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

    /// Whether a place, which is not before the block, lies in its rows.
    fn is_in(&self, block: &Block, offset: usize) -> bool {
        let is_unended = block.range.end == self.text.len() && !self.text.ends_with('\n');
        offset < block.range.end || is_unended
    }

    fn begin_block(&mut self, offset: usize) -> Block {
        let start = self.row_start(offset);
        self.close_block(start);
        let (counted, row) = self.counted;
        let row = row + feeds(&self.text[counted..start]);
        self.counted = (start, row);
        Block {
            row,
            range: start..self.row_end(offset),
            columns: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Where the rows of the last match end.
    fn end(&self) -> usize {
        self.block.as_ref().map_or(0, |block| block.range.end)
    }

    /// Puts the block into `found`; the next one starts at `next`.
    fn close_block(&mut self, next: usize) {
        let Some(block) = self.block.take() else {
            return;
        };
        let (line, ending) = without_ending(&self.text[block.range.clone()]);
        let kept = shown(line, &block.columns);
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
        self.found.push(FoundRow {
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

    fn row_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |feed| feed + 1)
    }

    /// Behind the line ending.
    fn row_end(&self, offset: usize) -> usize {
        let rest = &self.text.as_bytes()[offset..];
        let feed = rest.iter().position(|byte| *byte == b'\n');
        feed.map_or(self.text.len(), |feed| offset + feed + 1)
    }

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

fn feeds(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

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
    line[shown(line, &[])].to_owned()
}

/// The part of a row that is shown.
fn shown(line: &str, columns: &[Range<usize>]) -> Range<usize> {
    let start = match columns.first() {
        Some(first) if line.len() > SHOWN => {
            line.floor_char_boundary(first.start.saturating_sub(LEAD).min(line.len()))
        }
        _ => 0,
    };
    start..line.floor_char_boundary(line.len().min(start + SHOWN))
}
