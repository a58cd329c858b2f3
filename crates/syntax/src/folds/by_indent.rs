//! Folds of a text without a tree: rows with deeper indentation fold below the row above them.

use std::ops::Range;

use base::{Column, Row};
use text::Snapshot;

use super::Fold;

/// Maximum number of rows a fold is followed beyond the requested ones.
const MAX_ROWS: u32 = 5000;

/// Maximum indent, in columns.
const MAX_INDENT: usize = 512;

/// The folds that start in `rows`.
pub(super) fn folds(text: &Snapshot, rows: Range<Row>) -> Vec<Fold> {
    let mut folds = Vec::new();
    // Rows that may start a fold, each with its indent and the last deeper row seen so far.
    let mut open: Vec<(Row, usize, Option<Row>)> = Vec::new();
    let last = (rows.end + MAX_ROWS).min(text.last_row() + 1);
    let mut row = rows.start;
    while row < last && (row < rows.end || !open.is_empty()) {
        if let Some(indent) = indent_of(text, row) {
            while let Some(&(start, depth, end)) = open.last() {
                if indent > depth {
                    break;
                }
                open.pop();
                folds.extend(end.map(|end| fold(text, start, end)));
            }
            for entry in &mut open {
                entry.2 = Some(row);
            }
            if row < rows.end {
                open.push((row, indent, None));
            }
        }
        row += 1;
    }
    for (start, _, end) in open {
        folds.extend(end.map(|end| fold(text, start, end)));
    }
    folds.sort_by_key(|fold| fold.start);
    folds
}

fn fold(text: &Snapshot, start: Row, end: Row) -> Fold {
    Fold {
        start: text.row_end(start),
        end: text.row_end(end),
    }
}

/// The columns before a row's text; `None` for blank rows.
fn indent_of(text: &Snapshot, row: Row) -> Option<usize> {
    if text.row_len(row) == Column(0) {
        return None;
    }
    let mut columns = 0;
    for c in text.chars_at(text.row_start(row)).take(MAX_INDENT) {
        match c {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            '\n' | '\r' => return None,
            _ => break,
        }
    }
    Some(columns)
}
