//! Rows that match, and how they are collected from ripgrep's searcher.

use std::io;
use std::ops::Range;

use base::{AbsPath, Row};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

/// A file and its matching rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// The file.
    pub path: AbsPath,
    /// From top to bottom; one per row, or per run of rows where a match spans several.
    pub rows: Vec<FoundRow>,
}

/// A row with at least one match, and what surrounds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundRow {
    /// Its number; the first one where a match spans rows.
    pub row: Row,
    /// The text, without its last line ending, invalid UTF-8 replaced; cut around the first match
    /// where a row is longer than can be shown.
    pub text: String,
    /// Bytes of `text` to highlight, sorted and disjoint. Fewer than `columns` where `text` is cut.
    pub highlights: Vec<Range<usize>>,
    /// The matches as bytes of the whole row, sorted and disjoint; none where only rows are wanted.
    pub columns: Vec<Range<usize>>,
    /// The rows above, the nearest last.
    pub before: Vec<String>,
    /// The rows below.
    pub after: Vec<String>,
}

/// Longest text kept of a row, in bytes.
const SHOWN: usize = 1_000;
/// How much of it stands before the first match when it is cut.
const LEAD: usize = 80;

impl FoundRow {
    /// How many matches it holds; one where only rows are wanted.
    pub fn match_count(&self) -> usize {
        self.columns.len().max(1)
    }
}

/// Cuts `rows` down to `count` matches; answers how many are left.
pub(crate) fn keep_matches(rows: &mut Vec<FoundRow>, count: usize) -> usize {
    let mut left = count;
    rows.retain_mut(|row| {
        let kept = row.match_count().min(left);
        row.columns.truncate(kept);
        row.highlights.truncate(kept);
        left -= kept;
        kept > 0
    });
    count - left
}

/// Collects the rows of one file.
pub(crate) struct Collect<'a> {
    matcher: &'a RegexMatcher,
    only_rows: bool,
    rows: Vec<FoundRow>,
    before: Vec<String>,
}

impl<'a> Collect<'a> {
    pub(crate) fn new(matcher: &'a RegexMatcher, only_rows: bool) -> Self {
        Self {
            matcher,
            only_rows,
            rows: Vec::new(),
            before: Vec::new(),
        }
    }

    fn columns(&self, whole: &[u8]) -> io::Result<Vec<Range<usize>>> {
        let mut columns = Vec::new();
        self.matcher
            .find_iter(whole, |found| {
                // An empty match behind the line's end belongs to the next line.
                if found.start() < whole.len() || whole.is_empty() {
                    columns.push(found.start()..found.end());
                }
                !self.only_rows
            })
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(columns)
    }

    /// Of a binary file what was found before the piece of it that shows it to be one, as `rg` does when it is not asked
    /// for one by name: nothing where that is the first piece.
    pub(crate) fn into_rows(self) -> Vec<FoundRow> {
        self.rows
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = without_ending(found.bytes());
        // Of a row that is too long the part around the first match is shown.
        let mut columns = match self.only_rows && line.len() <= SHOWN {
            true => Vec::new(),
            false => self.columns(found.bytes())?,
        };
        let row = found.line_number().unwrap_or(1).saturating_sub(1);
        let (text, highlights) = shown(line, &columns);
        if self.only_rows {
            columns.clear();
        }
        self.rows.push(FoundRow {
            row: Row(u32::try_from(row).unwrap_or(u32::MAX)),
            text,
            highlights,
            columns,
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let (text, _) = shown(without_ending(context.bytes()), &[]);
        match context.kind() {
            SinkContextKind::Before => self.before.push(text),
            _ => {
                if let Some(row) = self.rows.last_mut() {
                    row.after.push(text);
                }
            }
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        Ok(false)
    }
}

fn without_ending(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// The text of a row as it is shown, and where in it the matches lie.
fn shown(line: &[u8], columns: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let start = match columns.first() {
        Some(first) if line.len() > SHOWN => first.start.saturating_sub(LEAD).min(line.len()),
        _ => 0,
    };
    let end = line.len().min(start + SHOWN);
    if start == 0
        && end == line.len()
        && let Some(shown) = shown_whole(line, columns)
    {
        return shown;
    }
    let mut text = String::with_capacity(end - start);
    let mut highlights = Vec::new();
    let mut at = start;
    for column in columns {
        let (from, to) = (column.start.min(end), column.end.min(end));
        if column.start >= end || from < at {
            break;
        }
        push_lossy(&mut text, &line[at..from]);
        let begin = text.len();
        push_lossy(&mut text, &line[from..to]);
        highlights.push(begin..text.len());
        at = to;
    }
    push_lossy(&mut text, &line[at..end]);
    (text, highlights)
}

/// Nearly every row: nothing is replaced, and what is highlighted is what matched.
fn shown_whole(line: &[u8], columns: &[Range<usize>]) -> Option<(String, Vec<Range<usize>>)> {
    let text = std::str::from_utf8(line).ok()?;
    let inside = columns
        .iter()
        .take_while(|column| column.start < line.len());
    let highlights = inside.map(|column| {
        let end = column.end.min(line.len());
        // Expressions over bytes may match a part of a char.
        let is_whole = text.is_char_boundary(column.start) && text.is_char_boundary(end);
        is_whole.then_some(column.start..end)
    });
    let highlights = highlights.collect::<Option<_>>()?;
    Some((text.to_owned(), highlights))
}

fn push_lossy(text: &mut String, bytes: &[u8]) {
    text.push_str(&String::from_utf8_lossy(bytes));
}
