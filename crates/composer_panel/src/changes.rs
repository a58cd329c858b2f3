//! The diff between two texts as rows: the changed lines with some context.

use std::ops::Range;

use text::{RowHunk, Snapshot};

/// A row of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeRow {
    /// An unchanged line, with its number in the new text.
    Same(u32, String),
    /// An added line, with its number in the new text.
    Added(u32, String),
    /// A removed line, with its number in the old text.
    Removed(u32, String),
    /// A number of unchanged lines that are not shown.
    Gap(u32),
}

/// Numbers of added and removed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffSize {
    pub(crate) added: u32,
    pub(crate) removed: u32,
}

/// Number of context lines around a change.
const CONTEXT_LINES: u32 = 3;
/// Maximum number of rows before further hunks are left out.
const MAX_ROWS: usize = 400;

/// Computes the rows of a diff, and its size. Each change has some unchanged lines around it, with
/// gaps between the changes. The rows of a long diff are cut off, but the size counts all changed
/// lines. A missing file (`None`) counts as an empty text.
pub(crate) fn rows(old: Option<&str>, new: Option<&str>) -> (Vec<ChangeRow>, DiffSize) {
    let (old, new) = (
        Snapshot::new(old.unwrap_or_default()),
        Snapshot::new(new.unwrap_or_default()),
    );
    let hunks = old.diff_rows(&new);
    let (before, after) = (split_lines(&old), split_lines(&new));
    let mut size = DiffSize::default();
    let mut rows = Vec::new();
    let mut shown = 0;
    for hunk in &hunks {
        let (gone, come) = ranges(hunk);
        size.removed += gone.end - gone.start;
        size.added += come.end - come.start;
        if rows.len() > MAX_ROWS {
            continue;
        }
        let from = come.start.saturating_sub(CONTEXT_LINES).max(shown);
        if from > shown {
            rows.push(ChangeRow::Gap(from - shown));
        }
        rows.extend(pick(&after, from..come.start, ChangeRow::Same));
        rows.extend(pick(&before, gone, ChangeRow::Removed));
        rows.extend(pick(&after, come.clone(), ChangeRow::Added));
        let to = (come.end + CONTEXT_LINES).min(next_start(&hunks, hunk, count(&after)));
        rows.extend(pick(&after, come.end..to, ChangeRow::Same));
        shown = to;
    }
    let left = count(&after).saturating_sub(shown);
    if left > 0 && !hunks.is_empty() {
        rows.push(ChangeRow::Gap(left));
    }
    (rows, size)
}

fn split_lines(text: &Snapshot) -> Vec<String> {
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

/// Returns the number of lines, at most `u32::MAX`.
fn count(lines: &[String]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

fn pick(lines: &[String], range: Range<u32>, row: fn(u32, String) -> ChangeRow) -> Vec<ChangeRow> {
    let picked =
        range.filter_map(|at| lines.get(at as usize).map(|line| row(at + 1, line.clone())));
    picked.collect()
}

/// Returns the removed rows of the old text and the added rows of the new one.
fn ranges(hunk: &RowHunk) -> (Range<u32>, Range<u32>) {
    (
        hunk.before.start.0..hunk.before.end.0,
        hunk.after.start.0..hunk.after.end.0,
    )
}

/// Returns the row of the new text where the hunk after `hunk` begins; `end` if there is none.
fn next_start(hunks: &[RowHunk], hunk: &RowHunk, end: u32) -> u32 {
    let next = hunks
        .iter()
        .find(|it| it.after.start.0 >= hunk.after.end.0 && *it != hunk);
    next.map_or(end, |next| next.after.start.0)
}
