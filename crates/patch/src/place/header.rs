//! Context headers: lines that come before the place, such as the class and the function around it.

use std::ops::Range;

use crate::edit::Hunk;
use crate::file::FileText;
use crate::fold;
use crate::found::Match;
use crate::outcome::{Difference, Refusal};

/// The places under the hunk's headers. Headers that the file does not have are passed over where
/// the text has one place anyway.
pub(super) fn narrow(
    file: &FileText,
    hunk: &Hunk,
    mut found: Vec<Match>,
) -> Result<Vec<Match>, Refusal> {
    let Some(last) = hunk.context.last() else {
        return Ok(found);
    };
    let Some(scopes) = scopes(file, &hunk.context) else {
        for found in &mut found {
            found.differences.push(Difference::Header);
        }
        return Ok(found);
    };
    let within: Vec<Match> = (found.iter())
        .filter(|found| scopes.iter().any(|scope| scope.contains(&found.rows.start)))
        .cloned()
        .collect();
    if !within.is_empty() {
        return Ok(within);
    }
    // A header may be a line that opens nothing.
    let first = scopes.iter().map(|scope| scope.start).min().unwrap_or(0);
    found.retain(|found| found.rows.start >= first);
    match found.is_empty() {
        true => Err(Refusal::NotUnderHeader(last.clone())),
        false => Ok(found),
    }
}

/// The row behind each place where the whole chain of headers stands.
pub(crate) fn rows_behind(file: &FileText, headers: &[String]) -> Vec<usize> {
    let scopes = scopes(file, headers).unwrap_or_default();
    scopes.into_iter().map(|scope| scope.start).collect()
}

/// The rows under each line that the last header names, within those of the headers before it.
/// `None` if a header does not stand there.
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
            // Behind the header before, though not in what it opens.
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

/// The rows that a header names: equal to it, or else apart from white space, or else those that
/// hold it.
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

/// One behind the last row that is indented deeper than the header, closing brackets included.
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
