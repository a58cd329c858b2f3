//! Selection of cells.
//!
//! `alacritty_terminal` keeps a selection on its lines when they scroll. `SelectionGuard` removes the selection when the
//! program overwrites a selected cell.

use std::hash::{DefaultHasher, Hash, Hasher};

use alacritty_terminal::Term;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::selection::SelectionRange;

use crate::grid_text::text_between;
use crate::lines::LineTracker;
use crate::position::{CellPosition, CellSpan, LineNumber, SelectedCells};

/// The unit in which a selection grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionKind {
    /// Single cells.
    Cells,
    /// A rectangle.
    Block,
    /// Words; brackets select their contents.
    Words,
    /// Logical lines.
    Lines,
}

/// The contents of the selected cells on the screen, where they may still change.
#[derive(Debug, Default)]
pub(crate) struct SelectionGuard {
    rows: Vec<(LineNumber, u64)>,
}

impl SelectionGuard {
    /// Remembers the cells of a selection.
    pub(crate) fn new<T>(term: &Term<T>, lines: &LineTracker, range: &SelectionRange) -> Self {
        let first = range.start.line.max(Line(0)).0;
        let last = range.end.line.min(term.bottommost_line()).0;
        let rows = (first..=last).map(Line);
        let rows = rows.map(|line| (lines.number(term, line), hash_row(term, line, range)));
        Self {
            rows: rows.collect(),
        }
    }

    /// Returns whether the cells of the selection, which may have moved, are unchanged.
    pub(crate) fn holds<T>(
        &self,
        term: &Term<T>,
        lines: &LineTracker,
        range: &SelectionRange,
    ) -> bool {
        self.rows.iter().all(|(number, hash)| {
            let line = lines.line(term, *number);
            line.is_none_or(|line| hash_row(term, line, range) == *hash)
        })
    }
}

/// Returns a hash of the selected characters of a row.
fn hash_row<T>(term: &Term<T>, line: Line, range: &SelectionRange) -> u64 {
    let columns = columns_in_row(range, line, term.columns());
    let mut hasher = DefaultHasher::new();
    let row = &term.grid()[line];
    for column in columns {
        let cell = &row[Column(column)];
        cell.c.hash(&mut hasher);
        cell.zerowidth().hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the selected columns of a row.
fn columns_in_row(
    range: &SelectionRange,
    line: Line,
    columns: usize,
) -> std::ops::RangeInclusive<usize> {
    let is_edge = |edge: Line| range.is_block || edge == line;
    let first = if is_edge(range.start.line) {
        range.start.column.0
    } else {
        0
    };
    let last = if is_edge(range.end.line) {
        range.end.column.0
    } else {
        columns - 1
    };
    first..=last.min(columns - 1)
}

/// Returns a selection of the core in positions.
pub(crate) fn selected_cells<T>(
    term: &Term<T>,
    lines: &LineTracker,
    range: &SelectionRange,
) -> SelectedCells {
    let position =
        |point: Point| CellPosition::new(lines.number(term, point.line), point.column.0 as u16);
    SelectedCells {
        span: CellSpan {
            start: position(range.start),
            last: position(range.end),
        },
        is_block: range.is_block,
    }
}

/// Returns the selected text. The lines of a rectangle are trimmed and joined by newlines.
pub(crate) fn selected_text<T>(
    term: &Term<T>,
    lines: &LineTracker,
    selected: &SelectedCells,
) -> String {
    let CellSpan { start, last } = selected.span;
    let text = |start: CellPosition, last: CellPosition| {
        let end = CellPosition::new(last.line, last.column.saturating_add(1));
        text_between(term, lines, start, end, usize::MAX).text
    };
    if !selected.is_block {
        return text(start, last);
    }
    let rows = (start.line.0..=last.line.0).map(LineNumber);
    let rows = rows.map(|line| {
        text(
            CellPosition::new(line, start.column),
            CellPosition::new(line, last.column),
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}
