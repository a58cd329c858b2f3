//! Lines of one indentation.

use super::{ObjectRequest, Selected};
use crate::lines::Lines;

/// Selects the lines around the caret that are indented at least as far. Blank lines between them
/// belong to them. Around, the line above is taken in, too. A selection of the same lines grows to
/// the next level.
pub(super) fn select(lines: &Lines, request: &ObjectRequest) -> Selected {
    let row = request.head.row;
    let levels = request.count;
    let mut found = level(lines, row, lines.indent_cells(reference(lines, row)));
    let anchor = request.anchor.filter(|anchor| anchor.row != row);
    let selected = anchor.map(|anchor| (anchor.row.min(row), anchor.row.max(row)));
    let mut left = levels - 1 + u32::from(selected == Some(with_head(lines, request, found)));
    while left > 0 && found.0 > 0 {
        let above = reference(lines, found.0 - 1);
        found = level(lines, above, lines.indent_cells(above));
        left -= 1;
    }
    let (first, last) = with_head(lines, request, found);
    Selected::lines(first, last)
}

fn with_head(lines: &Lines, request: &ObjectRequest, (first, last): (u32, u32)) -> (u32, u32) {
    let mut head = first;
    if request.is_around {
        while head > 0 {
            head -= 1;
            if !lines.is_blank(head) {
                return (head, last);
            }
        }
    }
    (first, last)
}

/// The row itself, or the nearest one above that is not blank.
fn reference(lines: &Lines, row: u32) -> u32 {
    (0..=row)
        .rev()
        .find(|row| !lines.is_blank(*row))
        .unwrap_or(row)
}

fn level(lines: &Lines, row: u32, cells: u32) -> (u32, u32) {
    let belongs = |row: u32| lines.is_blank(row) || lines.indent_cells(row) >= cells;
    let (mut first, mut last) = (row, row);
    while first > 0 && belongs(first - 1) {
        first -= 1;
    }
    while last < lines.last() && belongs(last + 1) {
        last += 1;
    }
    while first < row && lines.is_blank(first) {
        first += 1;
    }
    while last > row && lines.is_blank(last) {
        last -= 1;
    }
    (first, last)
}
