//! The text that an operator takes, from a motion or a visual selection.
//!
//! Start at `Region`.

use base::Span;

use super::exec::Exec;
use super::{Caret, Want};
use crate::command::{Operator, VisualShape};
use crate::lines::{Lines, Pos};
use crate::motion::{Aim, Extent, Moved};
use crate::register::{RegisterShape, RegisterText};

/// A text that an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The first character; the first column for lines.
    pub(super) start: Pos,
    /// Behind the last character; for lines, in the last one.
    pub(super) end: Pos,
    /// The last character of characters, as the mark `]` has it.
    pub(super) last_char: Pos,
    /// The earlier end of the motion, with its column also for lines.
    pub(super) caret: Pos,
    pub(super) shape: RegionShape,
    /// Whether the end is a character that belongs to it, or the end of an empty line.
    pub(super) is_inclusive: bool,
    pub(super) is_visual: bool,
    /// Whether `v`, `V` or `Ctrl-V` made its shape.
    pub(super) is_forced: bool,
    pub(super) uses_first_register: bool,
    /// Whether the motion of a forced block did not move, so that nothing is deleted.
    pub(super) takes_nothing: bool,
    /// Whether an exclusive motion became lines because it ended at the start of a line.
    pub(super) is_adjusted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionShape {
    Chars,
    Lines,
    Block(BlockCells),
}

/// The columns of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockCells {
    pub(super) left: u32,
    /// The last cell.
    pub(super) right: u32,
    /// Whether it extends to the ends of the lines.
    pub(super) to_ends: bool,
}

impl BlockCells {
    /// The block between two positions.
    pub(super) fn between(lines: &Lines, a: Pos, b: Pos) -> Self {
        let last_cell = |pos: Pos| {
            let (start, end) = lines.cells(pos);
            start.max(end.saturating_sub(1))
        };
        Self {
            left: lines.cells(a).0.min(lines.cells(b).0),
            right: last_cell(a).max(last_cell(b)),
            to_ends: false,
        }
    }

    /// The block up to the ends of the lines.
    fn extended(self, lines: &Lines, first: u32, last: u32) -> Self {
        let last_cell = |row: u32| {
            let end = Pos::new(row, lines.len(row));
            lines.cells(end).1.saturating_sub(1)
        };
        let right = (first..=last).map(last_cell).max().unwrap_or(0);
        Self {
            right: right.max(self.left),
            to_ends: true,
            ..self
        }
    }

    pub(super) fn width(&self) -> u32 {
        self.right.saturating_sub(self.left) + 1
    }
}

impl Region {
    pub(super) fn lines(first: u32, last: u32) -> Self {
        Self {
            start: Pos::new(first, 0),
            end: Pos::new(last, 0),
            last_char: Pos::new(last, 0),
            caret: Pos::new(first, 0),
            shape: RegionShape::Lines,
            is_inclusive: false,
            is_visual: false,
            is_forced: false,
            uses_first_register: false,
            takes_nothing: false,
            is_adjusted: false,
        }
    }

    pub(super) fn chars(lines: &Lines, start: Pos, end: Pos) -> Self {
        let mut last = crate::lines::Walker::new(lines, end);
        last.backward_over_end();
        Self {
            start,
            end,
            last_char: last.pos,
            caret: start,
            shape: RegionShape::Chars,
            ..Self::lines(0, 0)
        }
    }

    /// The text between a position and the place of a motion.
    pub(super) fn of_motion(
        exec: &Exec,
        from: Pos,
        moved: &Moved,
        force: Option<VisualShape>,
    ) -> Self {
        let (start, end) = (from.min(moved.to), from.max(moved.to));
        let extent = match (force, moved.extent) {
            (Some(VisualShape::Lines), _) => Extent::Lines,
            (Some(VisualShape::Chars), Extent::Exclusive) => Extent::Inclusive,
            (Some(VisualShape::Chars), _) => Extent::Exclusive,
            (Some(VisualShape::Block), _) => {
                let last = exec.lines.clamp(end, false);
                let mut cells = BlockCells::between(&exec.lines, start, last);
                if moved.aim == Aim::LineEnd {
                    cells = cells.extended(&exec.lines, start.row, end.row);
                }
                let col = exec.lines.col_at_cell(start.row, cells.left);
                return Self {
                    caret: Pos::new(start.row, col),
                    uses_first_register: moved.uses_first_register,
                    takes_nothing: start == end && moved.extent != Extent::Inclusive,
                    ..Self::block(start.row, end.row, cells).as_forced()
                };
            }
            (None, extent) => extent,
        };
        let region = match extent {
            Extent::Lines => Self::whole_lines(exec, start.row, end.row),
            Extent::Inclusive => Self {
                last_char: end,
                is_inclusive: true,
                ..Self::chars(&exec.lines, start, exec.lines.behind(end))
            },
            Extent::Exclusive => Self::exclusive(exec, start, end, moved.adjusts_end),
        };
        Self {
            uses_first_register: moved.uses_first_register,
            is_forced: force.is_some(),
            caret: start,
            ..region
        }
    }

    /// An exclusive text that ends at the start of a line ends in the line before, and becomes
    /// lines if it begins at or before the first character of its own.
    fn exclusive(exec: &Exec, start: Pos, end: Pos, adjusts_end: bool) -> Self {
        if end.col > 0 || end.row == start.row || !adjusts_end {
            return Self::chars(&exec.lines, start, end);
        }
        let row = end.row - 1;
        if exec.lines.is_in_indent(start) {
            return Self {
                is_adjusted: true,
                ..Self::whole_lines(exec, start.row, row)
            };
        }
        Self {
            is_adjusted: true,
            ..Self::chars(&exec.lines, start, Pos::new(row, exec.lines.len(row)))
        }
    }

    /// Lines, with those of closed folds at both ends.
    pub(super) fn whole_lines(exec: &Exec, first: u32, last: u32) -> Self {
        let first = exec
            .host
            .closed_fold(first)
            .map_or(first, |rows| rows.start);
        let last = exec
            .host
            .closed_fold(last)
            .map_or(last, |rows| rows.end - 1);
        Self::lines(first, last.min(exec.lines.last()))
    }

    pub(super) fn block(first: u32, last: u32, cells: BlockCells) -> Self {
        Self {
            shape: RegionShape::Block(cells),
            ..Self::lines(first, last)
        }
    }

    fn as_forced(self) -> Self {
        Self {
            is_forced: true,
            ..self
        }
    }

    /// The visual selection of the caret, for an operator.
    pub(super) fn of_visual(exec: &Exec, shape: VisualShape, by_lines: bool) -> Self {
        let mut caret = *exec.caret();
        if shape == VisualShape::Lines {
            caret.anchor.col = 0;
        }
        let (start, end) = ends(&caret);
        let region = match shape {
            VisualShape::Lines => Self::whole_lines(exec, start.row, end.row),
            VisualShape::Block => {
                let mut cells = BlockCells::between(&exec.lines, start, end);
                if caret.want == Want::LineEnd {
                    cells = cells.extended(&exec.lines, start.row, end.row);
                }
                Self::block(start.row, end.row, cells)
            }
            VisualShape::Chars => {
                let is_at_end = end.col >= exec.lines.len(end.row);
                if is_at_end && !by_lines && end.row < exec.lines.last() {
                    Self::chars(&exec.lines, start, Pos::new(end.row + 1, 0))
                } else {
                    Self::chars(&exec.lines, start, exec.lines.behind(end))
                }
            }
        };
        let caret = match region.shape {
            RegionShape::Block(cells) => {
                Pos::new(start.row, exec.lines.col_at_cell(start.row, cells.left))
            }
            _ => start,
        };
        Self {
            is_visual: true,
            caret,
            ..region
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shape == RegionShape::Chars && self.start == self.end && !self.is_inclusive
    }

    pub(super) fn rows(&self) -> u32 {
        self.end.row - self.start.row + 1
    }

    /// The bytes of characters; the whole lines without the last ending otherwise.
    pub(super) fn span(&self, lines: &Lines) -> Span {
        match self.shape {
            RegionShape::Chars => lines.span(self.start, self.end),
            _ => {
                let end = Pos::new(self.end.row, lines.len(self.end.row));
                lines.span(Pos::new(self.start.row, 0), end)
            }
        }
    }

    /// The text as a register holds it.
    pub(super) fn text(&self, exec: &Exec) -> RegisterText {
        let shape = match self.shape {
            RegionShape::Chars => RegisterShape::Chars,
            RegionShape::Lines => RegisterShape::Lines,
            RegionShape::Block(cells) => {
                return super::block::text(&exec.lines, self.start.row, self.end.row, cells);
            }
        };
        let text = exec.lines.text().text(self.span(&exec.lines));
        let text = if text.contains('\r') {
            text.replace("\r\n", "\n")
        } else {
            text.into_owned()
        };
        RegisterText::new(text, shape)
    }

    /// The last character, for the mark `]`.
    pub(super) fn last(&self, lines: &Lines) -> Pos {
        match self.shape {
            RegionShape::Chars => self.last_char,
            RegionShape::Lines => Pos::new(self.end.row, lines.last_col(self.end.row)),
            RegionShape::Block(cells) => {
                let col = lines.col_at_cell(self.end.row, cells.right);
                lines.clamp(Pos::new(self.end.row, col), false)
            }
        }
    }
}

/// The earlier and the later end of a selection.
pub(super) fn ends(caret: &Caret) -> (Pos, Pos) {
    (caret.anchor.min(caret.pos), caret.anchor.max(caret.pos))
}

/// Whether an operator takes no line break at the end of a selection in.
pub(super) fn is_by_lines(operator: &Operator) -> bool {
    operator.is_by_lines()
}
