//! What changed between two texts, as rows to show: the changed lines with a few around them.

use std::ops::Range;

use text::{RowHunk, Snapshot};

/// A row of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A line that stayed: its number after, and its text.
    Same(u32, String),
    /// A line that came.
    Added(u32, String),
    /// A line that went: its number before.
    Removed(u32, String),
    /// So many lines that stayed and are not shown.
    Gap(u32),
}

/// How many lines came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) added: u32,
    pub(crate) removed: u32,
}

/// Lines that stay are shown this far from a change.
const AROUND: u32 = 3;
/// More rows than this are not shown.
const MOST_ROWS: usize = 400;

/// The rows of a change, and its size. A file that was not there before, or is gone after, is an empty text.
pub(crate) fn rows(old: Option<&str>, new: Option<&str>) -> (Vec<Row>, Size) {
    let (old, new) = (
        Snapshot::new(old.unwrap_or_default()),
        Snapshot::new(new.unwrap_or_default()),
    );
    let hunks = old.diff_rows(&new);
    let (before, after) = (lines(&old), lines(&new));
    let mut size = Size::default();
    let mut rows = Vec::new();
    let mut shown = 0;
    for hunk in &hunks {
        let (gone, come) = ranges(hunk);
        size.removed += gone.end - gone.start;
        size.added += come.end - come.start;
        if rows.len() > MOST_ROWS {
            continue;
        }
        let from = come.start.saturating_sub(AROUND).max(shown);
        if from > shown {
            rows.push(Row::Gap(from - shown));
        }
        rows.extend(pick(&after, from..come.start, Row::Same));
        rows.extend(pick(&before, gone, Row::Removed));
        rows.extend(pick(&after, come.clone(), Row::Added));
        let to = (come.end + AROUND).min(next_start(&hunks, hunk, count(&after)));
        rows.extend(pick(&after, come.end..to, Row::Same));
        shown = to;
    }
    let left = count(&after).saturating_sub(shown);
    if left > 0 && !hunks.is_empty() {
        rows.push(Row::Gap(left));
    }
    (rows, size)
}

fn lines(text: &Snapshot) -> Vec<String> {
    let text = text.to_string();
    let mut lines: Vec<String> = text
        .split('\n')
        .map(|line| line.trim_end_matches('\r').to_owned())
        .collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn count(lines: &[String]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

fn pick(lines: &[String], range: Range<u32>, row: fn(u32, String) -> Row) -> Vec<Row> {
    let picked =
        range.filter_map(|at| lines.get(at as usize).map(|line| row(at + 1, line.clone())));
    picked.collect()
}

fn ranges(hunk: &RowHunk) -> (Range<u32>, Range<u32>) {
    (
        hunk.before.start.0..hunk.before.end.0,
        hunk.after.start.0..hunk.after.end.0,
    )
}

fn next_start(hunks: &[RowHunk], hunk: &RowHunk, end: u32) -> u32 {
    let next = hunks
        .iter()
        .find(|it| it.after.start.0 >= hunk.after.end.0 && *it != hunk);
    next.map_or(end, |next| next.after.start.0)
}
