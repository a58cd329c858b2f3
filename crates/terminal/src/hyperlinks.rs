//! Hyperlinks (OSC 8) of the core's cells.

use alacritty_terminal::Term;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::Hyperlink;

use crate::lines::LineTracker;
use crate::position::{CellPosition, CellSpan};

/// Rows above and below a cell in which its hyperlink is followed.
const MAX_ROWS: i32 = 64;

/// Returns the target of the hyperlink at a cell, and the cells that belong to it: one span for each row.
pub(crate) fn hyperlink_at<T>(
    term: &Term<T>,
    lines: &LineTracker,
    position: CellPosition,
) -> Option<(String, Vec<CellSpan>)> {
    let line = lines.line(term, position.line)?;
    let column = usize::from(position.column);
    let cell = (column < term.columns()).then(|| &term.grid()[line][Column(column)])?;
    let link = cell.hyperlink()?;
    let has_link = |line: Line, column: usize| {
        term.grid()[line][Column(column)].hyperlink().as_ref() == Some(&link)
    };
    let (first, last) = ends(term, Point::new(line, Column(column)), &has_link);
    let spans = (first.line.0..=last.line.0).map(|row| {
        let number = lines.number(term, Line(row));
        let start = if row == first.line.0 {
            first.column.0
        } else {
            0
        };
        let end = if row == last.line.0 {
            last.column.0
        } else {
            term.columns() - 1
        };
        CellSpan {
            start: CellPosition::new(number, start as u16),
            last: CellPosition::new(number, end as u16),
        }
    });
    Some((target(&link), spans.collect()))
}

fn target(link: &Hyperlink) -> String {
    link.uri().to_owned()
}

/// Returns the first and last cell of the adjacent cells around `at` that have the hyperlink.
fn ends<T>(term: &Term<T>, at: Point, has_link: &dyn Fn(Line, usize) -> bool) -> (Point, Point) {
    let columns = term.columns();
    let top = term.topmost_line().max(at.line - MAX_ROWS);
    let bottom = term.bottommost_line().min(at.line + MAX_ROWS);
    let (mut first, mut last) = (at, at);
    loop {
        let before = match first.column.0 {
            0 if first.line > top => Point::new(first.line - 1_i32, Column(columns - 1)),
            0 => break,
            column => Point::new(first.line, Column(column - 1)),
        };
        if !has_link(before.line, before.column.0) {
            break;
        }
        first = before;
    }
    loop {
        let after = match last.column.0 + 1 {
            column if column < columns => Point::new(last.line, Column(column)),
            _ if last.line < bottom => Point::new(last.line + 1_i32, Column(0)),
            _ => break,
        };
        if !has_link(after.line, after.column.0) {
            break;
        }
        last = after;
    }
    (first, last)
}
