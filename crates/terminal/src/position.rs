//! Positions in the text of a terminal.

/// A line of the primary screen or its scrollback, counted from the first line that the terminal ever held.
///
/// Scrolling and trimming of the scrollback keep the number of a line. A change of the width renumbers lines; positions
/// that the engine keeps (commands, selection) are renumbered with them. The rows of the alternate screen have the
/// numbers that the rows of the primary screen have at that time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(pub u64);

/// A cell of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellPosition {
    /// The line of the cell.
    pub line: LineNumber,
    /// The column, counted from 0.
    pub column: u16,
}

/// A range of cells in reading order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSpan {
    /// The first cell.
    pub start: CellPosition,
    /// The last cell, which is part of the span.
    pub last: CellPosition,
}

/// The selected cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedCells {
    /// From the first to the last cell; the corners of a rectangle.
    pub span: CellSpan,
    /// Whether the cells form a rectangle.
    pub is_block: bool,
}

/// The half of a cell that the pointer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellHalf {
    /// The left half: a selection that ends here excludes the cell.
    Left,
    /// The right half: a selection that starts here excludes the cell.
    Right,
}

impl LineNumber {
    /// Returns the line `count` lines below.
    pub fn below(self, count: u64) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// Returns the line `count` lines above, at least the first one.
    pub fn above(self, count: u64) -> Self {
        Self(self.0.saturating_sub(count))
    }
}

impl CellPosition {
    /// Creates a position.
    pub fn new(line: LineNumber, column: u16) -> Self {
        Self { line, column }
    }
}

impl CellSpan {
    /// Returns whether `position` is in the span.
    pub fn contains(&self, position: CellPosition) -> bool {
        self.start <= position && position <= self.last
    }
}

impl SelectedCells {
    /// Returns whether the cell is selected.
    pub fn contains(&self, position: CellPosition) -> bool {
        let CellSpan { start, last } = self.span;
        if self.is_block {
            (start.line..=last.line).contains(&position.line)
                && (start.column..=last.column).contains(&position.column)
        } else {
            self.span.contains(position)
        }
    }
}
