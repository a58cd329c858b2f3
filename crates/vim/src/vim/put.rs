//! Putting registers.
//!
//! Start at `put`.

use text::Edit;

use super::exec::Exec;
use super::region::{BlockCells, Region, RegionShape};
use super::{State, block, delete};
use crate::chars;
use crate::command::{NormalCommand, PutStyle};
use crate::error::{Done, Error};
use crate::lines::{Pos, next_grapheme};
use crate::register::{RegisterShape, RegisterText};

/// Largest text that a count may produce.
const MAX_BYTES: usize = 256 << 20;

/// Puts a register at the caret (`p`, `P`, `gp`, `]p`).
pub(super) fn put(exec: &mut Exec, command: &NormalCommand, style: PutStyle) -> Done {
    let text = exec.read_register(command.register)?;
    put_text(exec, &text, style, command.count_or_one())
}

/// Puts a text at the caret.
pub(super) fn put_text(exec: &mut Exec, text: &RegisterText, style: PutStyle, count: u32) -> Done {
    let bytes = text
        .text
        .len()
        .saturating_add(1 + size_of::<&str>())
        .saturating_mul(count as usize);
    if bytes > MAX_BYTES {
        return Err(Error::Unsupported(
            "the text to put would be too large".to_owned(),
        ));
    }
    match text.shape {
        RegisterShape::Chars if style.reindents => {
            // The first line goes into the caret's, which keeps its indentation.
            let text = match text.text.split_once('\n') {
                Some((first, rest)) => format!("{first}\n{}", reindented(exec, rest)),
                None => text.text.clone(),
            };
            put_chars(exec, &text, style, count)
        }
        RegisterShape::Chars => put_chars(exec, &text.text, style, count),
        RegisterShape::Lines => {
            let row = exec.pos().row;
            let text = if style.reindents {
                reindented(exec, &text.text)
            } else {
                text.text.clone()
            };
            put_lines(exec, &text, row, style, count)
        }
        RegisterShape::Block(width) => put_block(exec, &text.text, width, style, count),
    }
}

fn put_chars(exec: &mut Exec, text: &str, style: PutStyle, count: u32) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row);
    let at = if style.before || line.is_empty() {
        at
    } else {
        Pos::new(at.row, next_grapheme(&line, at.col))
    };
    let whole = text.repeat(count as usize);
    if whole.is_empty() {
        exec.set_change_marks(at, at);
        return Ok(());
    }
    exec.insert_at(at, &whole)?;
    let end = behind_text(at, &whole);
    let last = exec.lines.clamp(before(exec, end), true);
    exec.set_change_marks(at, last);
    let is_one_line = !whole.contains('\n');
    let to = if style.caret_behind {
        end
    } else if is_one_line {
        last
    } else {
        at
    };
    exec.set_pos(to);
    Ok(())
}

/// The position behind a text that was inserted at a position.
pub(super) fn behind_text(at: Pos, text: &str) -> Pos {
    match text.rsplit_once('\n') {
        None => Pos::new(at.row, at.col + text.len()),
        Some((before, last)) => {
            let rows = before.matches('\n').count() as u32 + 1;
            Pos::new(at.row + rows, last.len())
        }
    }
}

/// The character before a position; the position itself at the start of a line.
fn before(exec: &Exec, pos: Pos) -> Pos {
    let line = exec.lines.line(pos.row);
    Pos::new(pos.row, crate::lines::prev_grapheme(&line, pos.col))
}

/// Puts lines above or below a row.
pub(super) fn put_lines(
    exec: &mut Exec,
    text: &str,
    row: u32,
    style: PutStyle,
    count: u32,
) -> Done {
    let whole = vec![text; count as usize].join("\n");
    let rows = whole.matches('\n').count() as u32 + 1;
    let row = if style.before {
        exec.host.closed_fold(row).map_or(row, |rows| rows.start)
    } else {
        exec.host.closed_fold(row).map_or(row, |rows| rows.end - 1)
    };
    let first = if style.before { row } else { row + 1 };
    insert_rows(exec, first, &whole)?;
    let last = first + rows - 1;
    exec.set_change_marks(Pos::new(first, 0), Pos::new(last, 0));
    if style.caret_behind {
        exec.set_pos(Pos::new((last + 1).min(exec.lines.last()), 0));
    } else {
        exec.set_row(first);
    }
    Ok(())
}

/// Inserts whole lines so that the first of them has the number `row`.
pub(super) fn insert_rows(exec: &mut Exec, row: u32, text: &str) -> Done {
    if row == 0 {
        return exec.insert_at(Pos::new(0, 0), &format!("{text}\n"));
    }
    if row < exec.lines.count() {
        return exec.insert_at(Pos::new(row, 0), &format!("{text}\n"));
    }
    let last = exec.lines.last();
    let end = exec.lines.text().len();
    if exec.lines.text().row_end(base::Row(last)) < end {
        // Behind the final line ending, so that marks of the last line stay.
        return exec.edit(vec![Edit::new(base::Span::at(end), format!("{text}\n"))]);
    }
    let end = Pos::new(last, exec.lines.len(last));
    exec.insert_at(end, &format!("\n{text}"))
}

/// Gives lines the indentation of the caret's line: all move by the difference of the first.
fn reindented(exec: &Exec, text: &str) -> String {
    let target = i64::from(exec.lines.indent_cells(exec.pos().row));
    let tab_width = exec.lines.tab_width();
    let cells = |line: &str| {
        let indent = crate::lines::indent_len(line);
        i64::from(crate::lines::cells_of(line, indent, tab_width).0)
    };
    let first = text.split('\n').next().map_or(0, cells);
    let lines = text.split('\n').map(|line| {
        let inner = line.trim_start_matches([' ', '\t']);
        if inner.is_empty() {
            return String::new();
        }
        let indent = (cells(line) + target - first).max(0) as u32;
        exec.globals.options.indent_text(indent) + inner
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Puts a block: each line into the next row at the same column.
fn put_block(exec: &mut Exec, text: &str, width: u32, style: PutStyle, count: u32) -> Done {
    let at = exec.pos();
    let (start, end) = exec.lines.cells(at);
    let is_empty = exec.lines.is_empty(at.row);
    let cell = if style.before || is_empty { start } else { end };
    let rows: Vec<&str> = text.split('\n').collect();
    let missing = (at.row + rows.len() as u32).saturating_sub(exec.lines.count());
    if missing > 0 {
        let empty = vec![""; missing as usize].join("\n");
        insert_rows(exec, exec.lines.count(), &empty)?;
    }
    let tab_width = exec.lines.tab_width();
    let mut edits = Vec::new();
    let mut last_end = at;
    for (ix, text) in rows.iter().enumerate() {
        let row = at.row + ix as u32;
        let line = exec.lines.line(row);
        let split = SplitLine::of(&line, cell, tab_width);
        let text_cells = text.chars().fold(cell, |cell, char| {
            cell + chars::cells(char, cell, tab_width)
        }) - cell;
        let pad = " ".repeat(width.saturating_sub(text_cells) as usize);
        let mut new = " ".repeat(split.before as usize);
        for round in 0..count {
            new.push_str(text);
            // No blanks at the end of a line.
            if round + 1 < count || split.to < line.len() || split.behind > 0 {
                new.push_str(&pad);
            }
        }
        last_end = Pos::new(row, split.from + new.len());
        new.push_str(&" ".repeat(split.behind as usize));
        let span = exec
            .lines
            .span(Pos::new(row, split.from), Pos::new(row, split.to));
        edits.push(Edit::new(span, new));
    }
    exec.edit(edits)?;
    let first = Pos::new(at.row, exec.lines.col_at_cell(at.row, cell));
    let last = before(exec, last_end);
    exec.set_change_marks(first, last);
    if style.caret_behind {
        exec.set_pos(last_end);
    } else {
        exec.set_pos(first);
    }
    Ok(())
}

/// A place in a line by its cell: bytes to replace, and blanks on both sides of the insertion.
struct SplitLine {
    from: usize,
    to: usize,
    before: u32,
    behind: u32,
}

impl SplitLine {
    fn of(line: &str, target: u32, tab_width: u32) -> Self {
        let mut cell = 0;
        for (ix, char) in line.char_indices() {
            if cell >= target && chars::cells(char, cell, tab_width) > 0 {
                return Self {
                    from: ix,
                    to: ix,
                    before: 0,
                    behind: 0,
                };
            }
            let end = cell + chars::cells(char, cell, tab_width);
            if end > target {
                return Self {
                    from: ix,
                    to: ix + char.len_utf8(),
                    before: target - cell,
                    behind: end - target,
                };
            }
            cell = end;
        }
        Self {
            from: line.len(),
            to: line.len(),
            before: target - cell,
            behind: 0,
        }
    }
}

/// Puts a register in place of the visual selection. `P` keeps the register.
pub(super) fn put_over(exec: &mut Exec, command: &NormalCommand, style: PutStyle) -> Done {
    let read = exec.read_register(command.register);
    let Some(shape) = exec.visual_shape() else {
        return Err(Error::Beep);
    };
    let region = Region::of_visual(exec, shape, false);
    let head_row = exec.pos().row;
    exec.vim.remember_visual(shape);
    exec.vim.state = State::Normal;
    let takes_all = region.shape == RegionShape::Lines
        && region.start.row == 0
        && region.end.row == exec.lines.last();
    exec.set_pos(region.start);
    let deleted_into = if style.before { Some('_') } else { None };
    delete::delete(exec, deleted_into, &region)?;
    // An empty register deletes the selection all the same.
    let text = read?;
    let start = exec.vim.marks.start.unwrap_or(region.start);
    exec.clamp_carets();
    let at = exec.pos();
    let is_behind = match region.shape {
        RegionShape::Lines => at.row < region.start.row,
        _ => at.col < start.col,
    };
    let was_before = style.before;
    let style = PutStyle {
        before: !is_behind,
        ..style
    };
    if let (RegionShape::Block(_), RegisterShape::Lines) = (region.shape, text.shape) {
        // `p` puts lines below the caret's line of the block, `P` above the block.
        let row = if was_before {
            region.start.row
        } else {
            head_row
        };
        let style = PutStyle {
            before: was_before && !is_behind,
            ..style
        };
        put_lines(exec, &text.text, row, style, command.count_or_one())?;
    } else {
        put_replacing(
            exec,
            &text,
            &region,
            style,
            command.count_or_one(),
            takes_all,
        )?;
    }
    if let (Some(start), Some(end)) = (exec.vim.marks.start, exec.vim.marks.end) {
        exec.vim.visual = exec.vim.visual.map(|visual| super::VisualMemory {
            anchor: start,
            head: end,
            ..visual
        });
    }
    Ok(())
}

/// Puts a text where a selection was deleted, and keeps lines and characters apart.
fn put_replacing(
    exec: &mut Exec,
    text: &RegisterText,
    region: &Region,
    style: PutStyle,
    count: u32,
    takes_all: bool,
) -> Done {
    match (region.shape, text.shape) {
        (RegionShape::Lines, RegisterShape::Chars | RegisterShape::Block(_)) => {
            let as_lines = RegisterText::new(text.text.clone(), RegisterShape::Lines);
            put_text(exec, &as_lines, style, count)?;
        }
        (RegionShape::Chars, RegisterShape::Lines) => {
            return split_lines(exec, &text.text, style, count);
        }
        (RegionShape::Block(cells), RegisterShape::Chars) if !text.text.contains('\n') => {
            let rows = (region.start.row, region.end.row);
            put_in_rows(exec, &text.text.repeat(count as usize), rows, cells, style)?;
        }
        _ => put_text(exec, text, style, count)?,
    }
    if takes_all && region.shape == RegionShape::Lines {
        remove_leftover(exec)?;
    }
    Ok(())
}

/// Puts a text into each line of a block; lines that are too short are left out.
fn put_in_rows(
    exec: &mut Exec,
    text: &str,
    (first, last): (u32, u32),
    cells: BlockCells,
    style: PutStyle,
) -> Done {
    let at = exec.pos();
    let cell = if style.before {
        cells.left
    } else {
        exec.lines.cells(at).1
    };
    let mut edits = Vec::new();
    let mut end = at;
    for row in first..=last.min(exec.lines.last()) {
        let length = exec.lines.len(row);
        let col = exec.lines.col_at_cell(row, cell);
        if exec.lines.cells(Pos::new(row, length)).0 < cell {
            continue;
        }
        let place = Pos::new(row, col);
        edits.push(Edit::new(base::Span::at(exec.lines.offset(place)), text));
        if row == first {
            end = Pos::new(row, col + text.len());
        }
    }
    exec.edit(edits)?;
    let start = Pos::new(first, exec.lines.col_at_cell(first, cell));
    let last = before(exec, end);
    exec.set_change_marks(start, last);
    exec.set_pos(last);
    Ok(())
}

/// Removes the empty line that is left when all lines were replaced.
fn remove_leftover(exec: &mut Exec) -> Done {
    let last = exec.lines.last();
    if last == 0 || !exec.lines.is_empty(last) {
        return Ok(());
    }
    let at = exec.pos();
    let (start, end) = (exec.vim.marks.start, exec.vim.marks.end);
    delete::remove_rows(exec, last, last)?;
    exec.set_pos(exec.lines.clamp(at, false));
    exec.vim.marks.start = start;
    exec.vim.marks.end = end;
    Ok(())
}

/// Puts lines into the middle of a line, which is split there.
fn split_lines(exec: &mut Exec, text: &str, style: PutStyle, count: u32) -> Done {
    let at = exec.pos();
    let at = if style.before {
        at
    } else {
        Pos::new(at.row, next_grapheme(&exec.lines.line(at.row), at.col))
    };
    let whole = vec![text; count as usize].join("\n");
    exec.insert_at(at, &format!("\n{whole}\n"))?;
    let rows = whole.matches('\n').count() as u32 + 1;
    let last = at.row + rows;
    exec.set_change_marks(Pos::new(at.row + 1, 0), Pos::new(last, 0));
    if style.caret_behind {
        exec.set_pos(Pos::new(last + 1, 0));
    } else {
        exec.set_row(at.row + 1);
    }
    Ok(())
}

/// Replaces a text by a register without changing registers (`gr`).
pub(super) fn replace_region(exec: &mut Exec, command: &NormalCommand, region: &Region) -> Done {
    let text = exec.read_register(command.register)?;
    match region.shape {
        RegionShape::Chars => {
            let text = match text.shape {
                RegisterShape::Lines => text.text.trim().to_owned(),
                _ => text.text,
            };
            exec.set_pos(region.start);
            exec.replace(region.start, region.end, &text)?;
            let end = behind_text(region.start, &text);
            let last = before(exec, end);
            exec.set_change_marks(region.start, last);
            exec.set_pos(region.start);
        }
        RegionShape::Lines => {
            let span = region.span(&exec.lines);
            exec.set_pos(region.start);
            exec.edit(vec![Edit::new(span, text.text.clone())])?;
            let rows = text.text.matches('\n').count() as u32;
            let last = Pos::new(region.start.row + rows, 0);
            exec.set_change_marks(region.start, last);
            exec.set_row(region.start.row);
        }
        RegionShape::Block(cells) => {
            block::delete(exec, region.start.row, region.end.row, cells)?;
            let style = PutStyle {
                before: true,
                caret_behind: false,
                reindents: false,
            };
            put_text(exec, &text, style, 1)?;
        }
    }
    Ok(())
}
