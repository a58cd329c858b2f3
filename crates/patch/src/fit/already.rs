//! Detects added lines that are already present, so that the edit was applied before.

use std::ops::Range;

use crate::file::FileText;
use crate::fold;

use super::RowSplice;

/// Whether the file already reads around these rows as it would after the edits, which only add
/// lines. Blank lines alone never count as present.
pub(super) fn are_present_around(
    file: &FileText,
    rows: &Range<usize>,
    edits: &[RowSplice],
) -> bool {
    let added: Vec<&String> = edits.iter().flat_map(|edit| &edit.lines).collect();
    if added.iter().all(|line| fold::is_blank(line)) {
        return false;
    }
    let mut result: Vec<&str> = Vec::new();
    for row in rows.start..=rows.end {
        let here = edits.iter().filter(|edit| edit.rows.start == row);
        result.extend(here.flat_map(|edit| &edit.lines).map(String::as_str));
        if row < rows.end {
            result.push(file.content(row));
        }
    }
    // Number of added lines before the rows.
    (0..=added.len()).any(|before| {
        let is_split = before > 0 && before < added.len();
        let start = rows.start.checked_sub(before);
        let start = start.filter(|start| start + result.len() <= file.line_count());
        start.is_some_and(|start| !(rows.is_empty() && is_split) && are_at(file, start, &result))
    })
}

/// Whether these lines are present directly before or after a position between rows.
pub(crate) fn are_present_beside(file: &FileText, row: usize, lines: &[String]) -> bool {
    let edit = RowSplice {
        rows: row..row,
        lines: lines.to_vec(),
    };
    are_present_around(file, &(row..row), &[edit])
}

/// Whether the replacement of a span of the normalized text is already present around it.
pub(super) fn holds(file: &FileText, span: &Range<usize>, text: &str) -> bool {
    let normal = file.normal();
    let Some(old) = normal
        .get(span.clone())
        .filter(|old| old.len() < text.len())
    else {
        return false;
    };
    let says_more = |at: usize| {
        let (before, behind) = (&text[..at], &text[at + old.len()..]);
        !fold::is_blank(before) || !fold::is_blank(behind)
    };
    text.match_indices(old).any(|(at, _)| {
        let start = span.start.checked_sub(at);
        let is_there = start.and_then(|start| normal.get(start..start + text.len())) == Some(text);
        is_there && says_more(at)
    })
}

/// Whether the rows from `start` on are exactly these lines. The file must have that many rows.
fn are_at(file: &FileText, start: usize, lines: &[&str]) -> bool {
    let mut lines = lines.iter().zip(start..);
    lines.all(|(line, row)| file.content(row) == *line)
}
