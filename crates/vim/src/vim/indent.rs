//! Indenting: `>`, `<`, `=`.

use text::Edit;

use super::block::BlockPart;
use super::exec::Exec;
use super::region::{BlockCells, Region, RegionShape};
use crate::chars;
use crate::error::Done;
use crate::lines::{Pos, cells_of, indent_len};

/// Moves the lines of a text by levels to the right, or to the left for a negative number.
pub(super) fn shift(exec: &mut Exec, region: &Region, levels: i64) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    exec.note_rows(first, last);
    let mut edits = Vec::new();
    let block_col = match region.shape {
        RegionShape::Block(cells) => super::block::column(&exec.lines, first, cells.left),
        _ => 0,
    };
    for row in first..=last {
        let edit = match region.shape {
            RegionShape::Block(cells) => shifted_block(exec, row, cells, levels),
            _ => shifted_line(exec, row, levels),
        };
        edits.extend(edit);
    }
    exec.edit(edits)?;
    match region.shape {
        RegionShape::Block(_) => {
            let at = exec.lines.clamp(Pos::new(first, block_col), false);
            exec.set_pos(at);
        }
        _ => exec.set_row(first),
    }
    exec.set_change_marks(
        Pos::new(first, 0),
        Pos::new(last, exec.lines.last_col(last)),
    );
    Ok(())
}

fn shifted_line(exec: &Exec, row: u32, levels: i64) -> Option<Edit> {
    if exec.lines.is_empty(row) {
        return None;
    }
    let options = &exec.globals.options;
    let level = i64::from(options.level());
    let cells = i64::from(exec.lines.indent_cells(row));
    let new = if options.shift_round {
        rounded(cells, level, levels)
    } else {
        (cells + levels * level).max(0)
    };
    indent_edit(exec, row, new.min(1 << 20) as u32)
}

/// The next multiple of a level in a direction, as many levels away.
fn rounded(cells: i64, level: i64, levels: i64) -> i64 {
    let base = if levels < 0 {
        (cells + level - 1) / level
    } else {
        cells / level
    };
    ((base + levels) * level).max(0)
}

/// Returns the edit that indents a line by a number of cells; `None` if it is so already.
pub(super) fn indent_edit(exec: &Exec, row: u32, cells: u32) -> Option<Edit> {
    let line = exec.lines.line(row);
    let old = &line[..indent_len(&line)];
    let new = exec.globals.options.indent_text(cells);
    if old == new {
        return None;
    }
    let span = exec.lines.span(Pos::new(row, 0), Pos::new(row, old.len()));
    Some(Edit::new(span, new))
}

/// Returns the edit that moves the text of a line behind the left edge of a block.
fn shifted_block(exec: &Exec, row: u32, block: BlockCells, levels: i64) -> Option<Edit> {
    let line = exec.lines.line(row);
    let tab_width = exec.lines.tab_width();
    let part = BlockPart::of(&line, block, tab_width);
    let by = levels * i64::from(exec.globals.options.level());
    if block.to_ends && part.from >= line.len() && !line.is_empty() && by > 0 {
        let end = cells_of(&line, line.len(), tab_width).0;
        let at = Pos::new(row, line.len());
        let blanks = blanks_between(exec, end, end + by as u32);
        return Some(Edit::new(exec.lines.span(at, at), blanks));
    }
    if part.is_short(block) || part.from >= line.len() {
        return None;
    }
    let is_blank = |char: char| chars::is_blank(char);
    let behind_start = if part.lead > 0 {
        part.inner_from
    } else {
        part.from
    };
    let behind = &line[behind_start..];
    let text_start = behind_start + behind.len() - behind.trim_start_matches(is_blank).len();
    let text_cell = cells_of(&line, text_start, tab_width).0;
    if by >= 0 {
        let before = &line[..behind_start];
        let blanks_start = before.trim_end_matches(is_blank).len();
        let from_cell = cells_of(&line, blanks_start, tab_width).0;
        let total = text_cell - from_cell + by as u32;
        let new = blanks_between(exec, from_cell, from_cell + total);
        let span = exec
            .lines
            .span(Pos::new(row, blanks_start), Pos::new(row, text_start));
        return Some(Edit::new(span, new));
    }
    let room = text_cell.saturating_sub(block.left);
    let target = text_cell - room.min(by.unsigned_abs() as u32);
    let (mut kept, mut cell) = (0, 0);
    for (ix, char) in line.char_indices() {
        let end = cell + chars::cells(char, cell, tab_width);
        if end > target || ix >= text_start {
            break;
        }
        cell = end;
        kept = ix + char.len_utf8();
    }
    let span = exec
        .lines
        .span(Pos::new(row, kept), Pos::new(row, text_start));
    Some(Edit::new(span, " ".repeat((target - cell) as usize)))
}

/// Blanks from one cell to another, with tabs if the options ask for them.
fn blanks_between(exec: &Exec, from: u32, to: u32) -> String {
    if exec.globals.options.expand_tab {
        return " ".repeat((to - from) as usize);
    }
    let tab_width = exec.lines.tab_width();
    let mut blanks = String::new();
    let mut cell = from;
    while cell < to {
        let next = cell + tab_width - cell % tab_width;
        if next > to {
            break;
        }
        blanks.push('\t');
        cell = next;
    }
    blanks + &" ".repeat((to - cell) as usize)
}

/// Indents lines as the language says (`=`); without a language, as the line before.
pub(super) fn reindent(exec: &mut Exec, region: &Region) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    for row in first..=last {
        let line = exec.lines.line(row);
        let old = line[..indent_len(&line)].to_owned();
        let new = if exec.lines.is_blank(row) {
            String::new()
        } else {
            match exec.host.indent_for(row) {
                Some(indent) => indent,
                None => previous_indent(exec, row),
            }
        };
        if new != old {
            let (from, to) = (Pos::new(row, 0), Pos::new(row, old.len()));
            exec.replace(from, to, &new)?;
        }
    }
    exec.set_row(first);
    exec.set_change_marks(
        Pos::new(first, 0),
        Pos::new(last, exec.lines.last_col(last)),
    );
    Ok(())
}

/// The indentation of the nearest line above that is not blank.
pub(super) fn previous_indent(exec: &Exec, row: u32) -> String {
    let above = (0..row).rev().find(|row| !exec.lines.is_blank(*row));
    let Some(above) = above else {
        return String::new();
    };
    let line = exec.lines.line(above);
    line[..indent_len(&line)].to_owned()
}
