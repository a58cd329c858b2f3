//! The text of the core's grid as logical lines: rows that wrapped are joined, blanks at the ends of lines are trimmed.

use alacritty_terminal::Term;
use alacritty_terminal::grid::{Dimensions, Row};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};

use crate::commands::{OutputEnd, OutputText};
use crate::lines::LineTracker;
use crate::links::LogicalLine;
use crate::position::{CellPosition, LineNumber};

/// Distance between tab stops, by default.
const TAB: usize = 8;
/// Rows above and below a row that are joined with it, for links.
const MAX_JOINED_ROWS: usize = 64;

/// Flags of cells that hold no character.
pub(crate) const SPACERS: Flags = Flags::WIDE_CHAR_SPACER.union(Flags::LEADING_WIDE_CHAR_SPACER);

/// Returns whether the text of a row goes on in the next one.
pub(crate) fn is_wrapped(row: &Row<Cell>) -> bool {
    row.last()
        .is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
}

/// Returns the text from `start` to `end`, exclusive; it is cut after the row in which it exceeds `cap` bytes. Lines that
/// were trimmed are skipped.
pub(crate) fn text_between<T>(
    term: &Term<T>,
    lines: &LineTracker,
    start: CellPosition,
    end: CellPosition,
    cap: usize,
) -> OutputText {
    let start = start.max(CellPosition::new(
        lines.number(term, term.topmost_line()),
        0,
    ));
    let mut text = String::new();
    let mut line_start = 0;
    let mut rest = None;
    for number in start.line.0..=end.line.0 {
        let number = LineNumber(number);
        let Some(line) = lines.line(term, number) else {
            break;
        };
        let row = &term.grid()[line];
        let first = if number == start.line {
            start.column
        } else {
            0
        };
        let is_last = number == end.line;
        let stop = if is_last {
            end.column.into()
        } else {
            row.len()
        };
        push_cells(row, first.into(), stop, &mut text, &mut |_, _| {});
        if is_last {
            trim_blanks(&mut text, line_start);
        } else if !is_wrapped(row) {
            trim_blanks(&mut text, line_start);
            text.push('\n');
            line_start = text.len();
        }
        if text.len() > cap && !is_last {
            rest = Some(CellPosition::new(number.below(1), 0));
            break;
        }
    }
    if text.ends_with('\n') {
        text.pop();
    }
    OutputText { text, rest }
}

/// Returns the last rows of the text from `start` to `end`, exclusive: as many as fit in `cap` bytes, and the row of `end`.
pub(crate) fn last_text<T>(
    term: &Term<T>,
    lines: &LineTracker,
    start: CellPosition,
    end: CellPosition,
    cap: usize,
) -> OutputEnd {
    let oldest = start.line.max(lines.number(term, term.topmost_line()));
    let (mut first, mut room) = (end.line, cap);
    let mut text = String::new();
    while first > oldest {
        let before = first.above(1);
        let Some(line) = lines.line(term, before) else {
            break;
        };
        let row = &term.grid()[line];
        text.clear();
        push_cells(row, 0, row.len(), &mut text, &mut |_, _| {});
        let Some(left) = room.checked_sub(text.trim_end().len() + 1) else {
            break;
        };
        (first, room) = (before, left);
    }
    let from = if first > start.line {
        CellPosition::new(first, 0)
    } else {
        start
    };
    OutputEnd {
        text: text_between(term, lines, from, end, usize::MAX).text,
        omitted_rows: first.0.saturating_sub(start.line.0),
    }
}

/// Removes blanks at the end of the line that starts at byte `from`.
fn trim_blanks(text: &mut String, from: usize) {
    let kept = text[from..].trim_end_matches([' ', '\t']).len();
    text.truncate(from + kept);
}

/// Appends the characters of the cells from column `from` to `to`, exclusive. `visit` receives the column and the byte of
/// each character.
fn push_cells(
    row: &Row<Cell>,
    from: usize,
    to: usize,
    text: &mut String,
    visit: &mut dyn FnMut(usize, usize),
) {
    let to = to.min(row.len());
    let mut column = from;
    while column < to {
        let cell = &row[Column(column)];
        column += 1;
        if cell.flags.intersects(SPACERS) {
            continue;
        }
        visit(column - 1, text.len());
        text.push(cell.c);
        text.extend(cell.zerowidth().into_iter().flatten());
        if cell.c == '\t' {
            // The cells that the tab skipped are blank.
            while column < to && !column.is_multiple_of(TAB) && row[Column(column)].c == ' ' {
                column += 1;
            }
        }
    }
}

/// Returns the first row of the logical line that contains a row; at most `limit` rows above it.
pub(crate) fn first_row<T>(term: &Term<T>, line: Line, limit: usize) -> Line {
    let mut first = line;
    while first > term.topmost_line()
        && (line.0 - first.0) < limit as i32
        && is_wrapped(&term.grid()[first - 1_i32])
    {
        first -= 1_i32;
    }
    first
}

/// Returns the last row of the logical line that contains a row; at most `limit` rows below it.
pub(crate) fn last_row<T>(term: &Term<T>, line: Line, limit: usize) -> Line {
    let mut last = line;
    while last < term.bottommost_line()
        && (last.0 - line.0) < limit as i32
        && is_wrapped(&term.grid()[last])
    {
        last += 1_i32;
    }
    last
}

/// Returns the logical line that contains a line, joined from a bounded number of rows.
pub(crate) fn logical_line<T>(
    term: &Term<T>,
    lines: &LineTracker,
    number: LineNumber,
) -> Option<LogicalLine> {
    let line = lines.line(term, number)?;
    let first = first_row(term, line, MAX_JOINED_ROWS);
    let last = last_row(term, line, MAX_JOINED_ROWS);
    let mut text = String::new();
    let mut cells = Vec::new();
    for line in first.0..=last.0 {
        let row = &term.grid()[Line(line)];
        let number = lines.number(term, Line(line));
        push_cells(row, 0, row.len(), &mut text, &mut |column, byte| {
            cells.push((byte, CellPosition::new(number, column as u16)));
        });
    }
    trim_blanks(&mut text, 0);
    cells.retain(|(byte, _)| *byte < text.len());
    Some(LogicalLine {
        first: lines.number(term, first),
        text,
        cells,
    })
}
