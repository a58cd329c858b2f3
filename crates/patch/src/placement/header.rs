//! Context headers: lines that precede the position, such as the enclosing class and function.

use std::ops::Range;

use crate::edit::PatchHunk;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::HunkMatch;
use crate::outcome::{HunkDifference, HunkRefusal};

/// Keeps the positions below the hunk's headers. Headers that the file does not contain are ignored
/// and reported as a difference.
pub(super) fn narrow(
    file: &FileText,
    hunk: &PatchHunk,
    mut found: Vec<HunkMatch>,
) -> Result<Vec<HunkMatch>, HunkRefusal> {
    let Some(last) = hunk.context.last() else {
        return Ok(found);
    };
    let Some(scopes) = scopes(file, &hunk.context) else {
        for found in &mut found {
            found.differences.push(HunkDifference::Header);
        }
        return Ok(found);
    };
    let within: Vec<HunkMatch> = (found.iter())
        .filter(|found| scopes.iter().any(|scope| scope.contains(&found.rows.start)))
        .cloned()
        .collect();
    if !within.is_empty() {
        return Ok(within);
    }
    // A header may be a line that opens no block.
    let first = scopes.iter().map(|scope| scope.start).min().unwrap_or(0);
    found.retain(|found| found.rows.start >= first);
    if found.is_empty() {
        Err(HunkRefusal::NotUnderHeader(last.clone()))
    } else {
        Ok(found)
    }
}

/// Returns the row after each occurrence of the whole chain of context headers, outermost first.
/// Returns an empty list if the chain does not occur.
pub(crate) fn rows_behind(file: &FileText, headers: &[String]) -> Vec<usize> {
    let scopes = scopes(file, headers).unwrap_or_default();
    scopes.into_iter().map(|scope| scope.start).collect()
}

/// Returns the rows below each line that matches the last header, inside those of the headers
/// before it. `None` if a header does not occur there.
fn scopes(file: &FileText, headers: &[String]) -> Option<Vec<Range<usize>>> {
    let mut scopes: Vec<Range<usize>> = std::iter::once(0..file.line_count()).collect();
    for header in headers {
        let mut next: Vec<Range<usize>> = Vec::new();
        let rows = rows_of(file, header);
        for scope in &scopes {
            let inside = rows.iter().filter(|row| scope.contains(row));
            next.extend(inside.map(|row| row + 1..scope_end(file, *row)));
        }
        if next.is_empty() {
            // The header may follow the previous one without being inside its block.
            let first = scopes.iter().map(|scope| scope.start).min().unwrap_or(0);
            let behind = rows.iter().filter(|row| **row >= first);
            next.extend(behind.map(|row| row + 1..scope_end(file, *row)));
        }
        next.sort_by_key(|scope| scope.start);
        next.dedup();
        scopes = next;
    }
    (!scopes.is_empty()).then_some(scopes)
}

/// Returns the rows that a header matches: exactly, otherwise ignoring white space, otherwise as a
/// substring.
fn rows_of(file: &FileText, header: &str) -> Vec<usize> {
    let wanted = header.trim();
    let by: [&dyn Fn(&str) -> bool; 3] = [
        &|line| line == header,
        &|line| fold::is_same(line, wanted),
        &|line| !wanted.is_empty() && line.contains(wanted),
    ];
    let rows = by.iter().map(|fits| {
        let rows = 0..file.line_count();
        rows.filter(|row| fits(file.content(*row)))
            .collect::<Vec<usize>>()
    });
    rows.into_iter()
        .find(|rows| !rows.is_empty())
        .unwrap_or_default()
}

/// Returns the end of the rows that are indented deeper than the header, including closing
/// brackets.
fn scope_end(file: &FileText, header: usize) -> usize {
    let depth = fold::indent(file.content(header)).len();
    let ends = |row: &usize| {
        let line = file.content(*row);
        let is_closing = line.trim_start().starts_with([')', ']', '}', '{']);
        !fold::is_blank(line) && fold::indent(line).len() <= depth && !is_closing
    };
    (header + 1..file.line_count())
        .find(ends)
        .unwrap_or(file.line_count())
}
