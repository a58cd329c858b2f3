//! Blocks of columns: their parts in each line, with tabs and wide characters that they split.
//!
//! Start at `BlockPart`.

use text::Edit;

use super::exec::Exec;
use super::region::BlockCells;
use crate::chars;
use crate::error::Done;
use crate::lines::{Lines, Pos, next_grapheme};
use crate::register::{RegisterShape, RegisterText};

/// The part of a line in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPart {
    /// Bytes of the characters that the block touches.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Cells of the first character before the block.
    pub(super) lead: u32,
    /// Cells of the last character behind the block.
    pub(super) trail: u32,
    /// Bytes of the characters wholly inside.
    pub(super) inner_from: usize,
    pub(super) inner_to: usize,
    /// Cells of a split first character inside the block.
    pub(super) lead_inside: u32,
    /// Cells of a split last character inside the block.
    pub(super) trail_inside: u32,
    /// Cells of the line up to the block, less than its left edge for a shorter line.
    pub(super) reached: u32,
}

impl BlockPart {
    pub(super) fn of(line: &str, cells: BlockCells, tab_width: u32) -> Self {
        let right = if cells.to_ends {
            u32::MAX - 1
        } else {
            cells.right
        };
        let mut part = Self {
            from: line.len(),
            to: line.len(),
            lead: 0,
            trail: 0,
            inner_from: line.len(),
            inner_to: line.len(),
            lead_inside: 0,
            trail_inside: 0,
            reached: 0,
        };
        let mut cell = 0;
        let mut is_inside = false;
        let mut ix = 0;
        while ix < line.len() {
            let start = ix;
            let behind = next_grapheme(line, ix);
            let end = line[ix..behind].chars().fold(cell, |cell, char| {
                cell + chars::cells(char, cell, tab_width)
            });
            ix = behind;
            if !is_inside {
                if end <= cells.left {
                    cell = end;
                    part.reached = cell;
                    continue;
                }
                is_inside = true;
                part.from = start;
                part.to = start;
                part.inner_from = start;
                part.inner_to = start;
            }
            if cell > right {
                break;
            }
            part.to = behind;
            let is_split_left = cell < cells.left;
            let is_split_right = end > right + 1;
            if is_split_left {
                part.lead = cells.left - cell;
                part.lead_inside = end.min(right + 1) - cells.left;
                part.inner_from = behind;
                part.inner_to = behind;
            } else if is_split_right {
                part.trail_inside = right + 1 - cell;
            } else {
                part.inner_to = behind;
            }
            if is_split_right {
                part.trail = end - right - 1;
            }
            cell = end;
        }
        if !is_inside {
            part.reached = cell;
        }
        part
    }

    /// Whether the line ends before the block.
    pub(super) fn is_short(&self, cells: BlockCells) -> bool {
        self.from == self.to && self.reached < cells.left
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// The text of the block in a line; blanks stand for parts of split characters.
    fn text(&self, line: &str) -> String {
        let mut text = " ".repeat(self.lead_inside as usize);
        text.push_str(&line[self.inner_from..self.inner_to]);
        text.push_str(&" ".repeat(self.trail_inside as usize));
        text
    }
}

/// The text of a block as a register holds it. A line that ends before the block is blank there.
pub(super) fn text(lines: &Lines, first: u32, last: u32, cells: BlockCells) -> RegisterText {
    let mut rows = Vec::new();
    for row in first..=last {
        let line = lines.line(row);
        let part = BlockPart::of(&line, cells, lines.tab_width());
        let mut text = part.text(&line);
        if part.is_short(cells) {
            let width = cells.width() + u32::from(cells.to_ends);
            text = " ".repeat(width as usize);
        }
        rows.push(text);
    }
    let width = cells.width();
    RegisterText::new(rows.join("\n"), RegisterShape::Block(width))
}

/// Deletes a block. Returns whether anything was deleted.
pub(super) fn delete(exec: &mut Exec, first: u32, last: u32, cells: BlockCells) -> Done {
    let mut edits = Vec::new();
    for row in first..=last {
        let line = exec.lines.line(row);
        let part = BlockPart::of(&line, cells, exec.lines.tab_width());
        if part.is_empty() {
            continue;
        }
        let span = exec
            .lines
            .span(Pos::new(row, part.from), Pos::new(row, part.to));
        edits.push(Edit::new(
            span,
            " ".repeat((part.lead + part.trail) as usize),
        ));
    }
    let start = Pos::new(first, column(&exec.lines, first, cells.left));
    exec.caret_mut().pos = start;
    exec.edit(edits)?;
    let col = column(&exec.lines, first, cells.left);
    exec.set_pos(Pos::new(first, col));
    Ok(())
}

/// The column at a cell of a line.
pub(super) fn column(lines: &Lines, row: u32, cell: u32) -> usize {
    lines.col_at_cell(row, cell)
}

/// Replaces each character of a block by one.
pub(super) fn replace(
    exec: &mut Exec,
    first: u32,
    last: u32,
    cells: BlockCells,
    char: char,
) -> Done {
    let mut edits = Vec::new();
    for row in first..=last {
        let line = exec.lines.line(row);
        let part = BlockPart::of(&line, cells, exec.lines.tab_width());
        if part.is_empty() {
            continue;
        }
        let inner = &line[part.inner_from..part.inner_to];
        let start = exec.lines.cells(Pos::new(row, part.inner_from)).0;
        let width = inner.chars().fold(start, |cell, char| {
            cell + chars::cells(char, cell, exec.lines.tab_width())
        }) - start;
        let width = width + part.lead_inside + part.trail_inside;
        let char_width = chars::cells(char, 0, 1).max(1);
        let mut text = " ".repeat(part.lead as usize);
        text.extend(std::iter::repeat_n(char, (width / char_width) as usize));
        // A wide character that does not fit is a blank.
        text.push_str(&" ".repeat((width % char_width + part.trail) as usize));
        let span = exec
            .lines
            .span(Pos::new(row, part.from), Pos::new(row, part.to));
        edits.push(Edit::new(span, text));
    }
    let start = Pos::new(first, column(&exec.lines, first, cells.left));
    exec.edit(edits)?;
    let at = exec.lines.clamp(start, false);
    exec.set_pos(at);
    Ok(())
}

/// Maps the characters wholly inside a block.
pub(super) fn map(
    exec: &mut Exec,
    first: u32,
    last: u32,
    cells: BlockCells,
    map: impl Fn(&str) -> String,
) -> Done {
    let mut edits = Vec::new();
    for row in first..=last {
        let line = exec.lines.line(row);
        let part = BlockPart::of(&line, cells, exec.lines.tab_width());
        let inner = &line[part.inner_from..part.inner_to];
        let mapped = map(inner);
        if mapped != inner {
            let from = Pos::new(row, part.inner_from);
            let span = exec.lines.span(from, Pos::new(row, part.inner_to));
            edits.push(Edit::new(span, mapped));
        }
    }
    exec.edit(edits)
}
