//! A real edit of one file, and the blocks of lines that describe it.

use std::ops::Range;

use patch::format::HunkSide;
use text::{Buffer, Snapshot};

/// One file before and after a commit.
#[derive(Clone)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) old: String,
    pub(super) new: String,
}

/// The lines around one or more adjacent changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The first row in the old text, and in the new one.
    pub(super) old_row: usize,
    pub(super) new_row: usize,
    pub(super) lines: Vec<(HunkSide, String)>,
}

/// Rows of the old text that became rows of the new one.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl Edit {
    /// Returns whether lines without their endings can describe the edit, apart from the final line
    /// feed.
    pub(super) fn keeps_endings(&self) -> bool {
        let returns = |text: &str| {
            let feeds = text.matches('\n').count();
            let returns = text.matches("\r\n").count();
            let lone = text.matches('\r').count() - returns;
            (lone == 0 && (returns == 0 || returns == feeds)).then_some(returns > 0)
        };
        returns(&self.old).is_some_and(|old| Some(old) == returns(&self.new))
    }

    /// Returns whether whole lines can describe the edit.
    pub(super) fn is_of_lines(&self) -> bool {
        let ends = |text: &str| text.ends_with('\n');
        let has_text = !self.old.is_empty() && !self.new.is_empty();
        has_text && self.keeps_endings() && ends(&self.old) == ends(&self.new)
    }

    /// Returns the differing ranges of rows.
    pub(super) fn changes(&self) -> Vec<Change> {
        let (old, new) = (snapshot(&self.old), snapshot(&self.new));
        let rows = |span: text::RowSpan| span.start.0 as usize..span.end.0 as usize;
        let hunks = old.diff_rows(&new).into_iter();
        hunks
            .map(|hunk| Change {
                old: rows(hunk.before),
                new: rows(hunk.after),
            })
            .collect()
    }

    /// Returns blocks with at least `context` lines around every change, and as many more as make
    /// each block unique in the old text.
    pub(super) fn blocks(&self, context: usize) -> Vec<Block> {
        self.blocks_around(&self.changes(), context)
    }

    /// Like `blocks`, for known changes.
    pub(super) fn blocks_around(&self, changes: &[Change], context: usize) -> Vec<Block> {
        let (old, new) = (lines(&self.old), lines(&self.new));
        let mut ranges: Vec<Range<usize>> = changes
            .iter()
            .map(|change| widened(&change.old, context, old.len()))
            .collect();
        loop {
            ranges = merged(ranges);
            let mut is_done = true;
            for range in &mut ranges {
                let is_whole = *range == (0..old.len());
                if !is_whole && !is_unique(&old, &old[range.clone()]) {
                    *range = widened(range, 1, old.len());
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        let blocks = ranges.into_iter();
        blocks
            .map(|range| block(range, changes, &old, &new))
            .collect()
    }
}

pub(super) fn snapshot(text: &str) -> Snapshot {
    Buffer::new(text).snapshot()
}

/// Returns the lines of a text without their endings; a final line feed does not start a line.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() {
        return Vec::new();
    }
    let lines = body.split('\n');
    lines
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect()
}

fn widened(range: &Range<usize>, by: usize, end: usize) -> Range<usize> {
    range.start.saturating_sub(by)..(range.end + by).min(end)
}

fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns whether a block of lines occurs exactly once in the text.
pub(super) fn is_unique(text: &[&str], block: &[&str]) -> bool {
    !block.is_empty()
        && text
            .windows(block.len())
            .filter(|window| *window == block)
            .count()
            == 1
}

fn block(range: Range<usize>, changes: &[Change], old: &[&str], new: &[&str]) -> Block {
    let mut lines = Vec::new();
    let mut push = |side, texts: &[&str]| {
        lines.extend(texts.iter().map(|text| (side, (*text).to_owned())));
    };
    let inside = changes
        .iter()
        .filter(|change| range.start <= change.old.start && change.old.end <= range.end);
    let mut at = range.start;
    let mut new_row = None;
    for change in inside {
        push(HunkSide::Both, &old[at..change.old.start]);
        push(HunkSide::Old, &old[change.old.clone()]);
        push(HunkSide::New, &new[change.new.clone()]);
        // A deletion that begins above the range may have taken rows of it.
        let above = change.old.start - range.start;
        new_row = new_row.or(Some(change.new.start.saturating_sub(above)));
        at = change.old.end;
    }
    push(HunkSide::Both, &old[at..range.end]);
    Block {
        old_row: range.start,
        new_row: new_row.unwrap_or(range.start),
        lines,
    }
}

impl Block {
    /// Returns the number of lines on one side.
    pub(super) fn count(&self, side: HunkSide) -> usize {
        let belongs = |(of, _): &&(HunkSide, String)| *of == side || *of == HunkSide::Both;
        self.lines.iter().filter(belongs).count()
    }

    /// Returns the lines of one side.
    pub(super) fn side(&self, side: HunkSide) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter();
        lines
            .filter(move |(of, _)| *of == side || *of == HunkSide::Both)
            .map(|(_, text)| text.as_str())
    }
}
