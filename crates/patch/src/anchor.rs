//! Line anchors, consisting of a line number and a hash: `12#a3f0`.
//!
//! The hash of a line is FNV-1a, 64 bits, over its UTF-8 bytes without line ending and trailing
//! white space; the four 16-bit words are combined by exclusive or and written as four lower-case
//! hexadecimal digits. Models see this format, so it must not change.

use std::fmt::Write;
use std::ops::Range;

use base::Row;

use crate::file::FileText;
use crate::fold;

/// Maximum distance in rows at which a moved line is searched for.
const REACH: usize = 20;

/// Returns the hash of one line as four hexadecimal digits, ignoring white space at its end.
/// Different lines may have the same hash, so the hash identifies a line only together with its
/// row.
pub fn line_hash(line: &str) -> String {
    let mut hash = fold::LineHash::new();
    hash.add(line.trim_end().as_bytes());
    let halves = [0, 16, 32, 48].map(|by| (hash.0 >> by) as u16);
    format!("{:04x}", halves.iter().fold(0, |all, half| all ^ half))
}

/// Returns the anchor by which a model addresses a row of the current text, with its one-based line
/// number and its hash: `12#a3f0`.
pub fn anchor(file: &FileText, row: Row) -> String {
    format!("{}#{}", row.0 + 1, line_hash(file.line(row)))
}

/// Renders the lines of `rows` for a model that edits by anchors: `12#a3f0|text`, each with a line
/// feed. Skips rows beyond the end of the text.
pub fn render(file: &FileText, rows: Range<Row>) -> String {
    let mut shown = String::new();
    let end = rows.end.min(Row(file.line_count() as u32));
    for row in rows.start.0..end.0 {
        let row = Row(row);
        // Writing to a string cannot fail.
        if writeln!(shown, "{}|{}", anchor(file, row), file.line(row)).is_err() {
            break;
        }
    }
    shown
}

/// Resolves an anchor to its current row: the original row if the hash matches there, otherwise the
/// only nearby row with that hash. Returns `None` if no nearby row or several have this hash.
pub(crate) fn resolve(file: &FileText, row: Row, hash: &str) -> Option<Row> {
    let has_hash = |row: &usize| line_hash(file.content(*row)).eq_ignore_ascii_case(hash);
    let row = row.0 as usize;
    if row < file.line_count() && has_hash(&row) {
        return Some(Row(row as u32));
    }
    let near = row.saturating_sub(REACH)..(row + REACH + 1).min(file.line_count());
    let mut found = near.filter(has_hash);
    match (found.next(), found.next()) {
        (Some(row), None) => Some(Row(row as u32)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
