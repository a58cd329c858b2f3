//! Paragraphs and the blank lines around them.

use super::{ObjectRequest, Selected};
use crate::lines::{Lines, Pos};
use crate::motion::Extent;
use crate::motion::paragraphs::starts_paragraph;

pub(super) fn select(lines: &Lines, request: &ObjectRequest) -> Option<Selected> {
    let row = request.head.row;
    if let Some(anchor) = request.anchor
        && anchor.row != row
    {
        return extend(lines, request, anchor);
    }
    let is_white = lines.is_blank(row);
    let first = first_row(lines, row, is_white);
    let (last, has_white_end) = last_row(lines, first, is_white, request)?;
    let mut first = first;
    if !is_white && !has_white_end && request.is_around {
        while first > 0 && lines.is_blank(first - 1) {
            first -= 1;
        }
    }
    if let Some(anchor) = request.anchor
        && request.is_lines
        && first == last
    {
        return extend(lines, request, anchor);
    }
    Some(Selected::lines(first, last))
}

/// The first line of the paragraph or of the blank lines at a row.
fn first_row(lines: &Lines, row: u32, is_white: bool) -> u32 {
    let mut first = row;
    while first > 0 {
        let is_border = if is_white {
            !lines.is_blank(first - 1)
        } else {
            lines.is_blank(first - 1) || starts_paragraph(lines, first)
        };
        if is_border {
            break;
        }
        first -= 1;
    }
    first
}

/// The last line of the object that starts at a row, and whether that line is blank.
fn last_row(
    lines: &Lines,
    first: u32,
    is_white: bool,
    request: &ObjectRequest,
) -> Option<(u32, bool)> {
    let around = request.is_around;
    let count = lines.count();
    // One line more than the last of the object, because that may be the line before the first.
    let mut end = first;
    while end < count && lines.is_blank(end) {
        end += 1;
    }
    let rounds = request.count - u32::from(!around && is_white);
    for left in (0..rounds).rev() {
        if end == count {
            return None;
        }
        let takes_white = !around && lines.is_blank(end);
        if around || !takes_white {
            end += 1;
            while end < count && !lines.is_blank(end) && !starts_paragraph(lines, end) {
                end += 1;
            }
        }
        if left == 0 && is_white && around {
            break;
        }
        if around || takes_white {
            while end < count && lines.is_blank(end) {
                end += 1;
            }
        }
    }
    let last = end.checked_sub(1)?;
    Some((last, lines.is_blank(last)))
}

/// Extends a visual selection by paragraphs or blank lines.
fn extend(lines: &Lines, request: &ObjectRequest, anchor: Pos) -> Option<Selected> {
    let is_back = request.head.row < anchor.row;
    let border = if is_back { 0 } else { lines.last() };
    let next = |row: u32| if is_back { row - 1 } else { row + 1 };
    let mut row = request.head.row;
    for _ in 0..request.count {
        if row == border {
            return None;
        }
        let mut before = None;
        for _ in 0..2 {
            let start = next(row);
            let is_white = lines.is_blank(start);
            if before == Some(is_white) {
                break;
            }
            row = start;
            while row != border {
                let is_start = starts_paragraph(lines, row + u32::from(!is_back));
                if is_white != lines.is_blank(next(row)) || !is_white && is_start {
                    break;
                }
                row = next(row);
            }
            if !request.is_around || row == border {
                break;
            }
            before = Some(is_white);
        }
    }
    Some(Selected::new(anchor, Pos::new(row, 0), Extent::Lines))
}
