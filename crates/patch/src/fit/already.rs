//! Whether lines that an edit only adds stand at their place already: it was applied before.

use std::ops::Range;

use crate::file::FileText;
use crate::fold;

use super::RowEdit;

/// Whether the file reads around these rows as it would after the edits, of which none takes a row
/// away. Blank lines alone are meant once more.
pub(super) fn stand_around(file: &FileText, rows: &Range<usize>, edits: &[RowEdit]) -> bool {
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
    // How many of the added lines come before the rows.
    (0..=added.len()).any(|before| {
        let is_split = before > 0 && before < added.len();
        let start = rows.start.checked_sub(before);
        let start = start.filter(|start| start + result.len() <= file.line_count());
        start.is_some_and(|start| !(rows.is_empty() && is_split) && stand_at(file, start, &result))
    })
}

/// Whether these lines stand right before or behind a place between rows.
pub(crate) fn stand_beside(file: &FileText, row: usize, lines: &[String]) -> bool {
    let edit = RowEdit {
        rows: row..row,
        lines: lines.to_vec(),
    };
    stand_around(file, &(row..row), &[edit])
}

/// Whether the text that takes the place of a span of the normal text stands around it already.
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

fn stand_at(file: &FileText, start: usize, lines: &[&str]) -> bool {
    let mut lines = lines.iter().zip(start..);
    lines.all(|(line, row)| file.content(row) == *line)
}
