//! Lines named by number and hash: `12#a3f0`.
//!
//! The hash of a line is FNV-1a, 64 bits, over its UTF-8 bytes without its ending and without white
//! space at its end; the four halves of 16 bits are combined by exclusive or and written as four
//! hexadecimal digits in lower case. It is part of what models are shown: it must not change.

use std::fmt::Write;
use std::ops::Range;

use base::Row;

use crate::file::FileText;
use crate::fold;

/// How far from its number a line is looked for, in rows.
const REACH: usize = 20;

/// The hash of one line, four hexadecimal digits.
pub fn line_hash(line: &str) -> String {
    let mut hash = fold::Hash::new();
    hash.add(line.trim_end().as_bytes());
    let halves = [0, 16, 32, 48].map(|by| (hash.0 >> by) as u16);
    format!("{:04x}", halves.iter().fold(0, |all, half| all ^ half))
}

/// The anchor of a row of the present text: `12#a3f0`, the number counted from 1.
pub fn anchor(file: &FileText, row: Row) -> String {
    format!("{}#{}", row.0 + 1, line_hash(file.line(row)))
}

/// Lines as they are shown to a model that edits by anchors: `12#a3f0|text`, each with a line feed.
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

/// Where the line is that was read at `row`: there, or else the only one near with its hash.
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
