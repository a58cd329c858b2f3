//! The operator `c`: deletes a text and inserts another.

use text::Edit;

use super::block;
use super::exec::Exec;
use super::inserting::{self, BlockInsertion, InsertStart};
use super::region::{BlockCells, Region, RegionShape};
use super::{State, delete};
use crate::error::Done;
use crate::lines::{Pos, indent_len};

/// Deletes a text, and begins an insertion in its place.
pub(super) fn change(exec: &mut Exec, register: Option<char>, region: &Region) -> Done {
    exec.open_step();
    // While inserting, the caret may rest behind the last character.
    exec.vim.state = State::Insert;
    let done = match region.shape {
        RegionShape::Lines => lines(exec, register, region),
        RegionShape::Chars => chars(exec, register, region),
        RegionShape::Block(cells) => return columns(exec, register, region, cells),
    };
    inserting::begin(exec, InsertStart::Changed);
    if region.shape == RegionShape::Lines {
        inserting::note_auto_indent(exec);
    }
    done
}

fn chars(exec: &mut Exec, register: Option<char>, region: &Region) -> Done {
    if region.start == region.end {
        exec.set_pos(region.start);
        if region.is_inclusive {
            // The end of an empty line is stored, too.
            let text = region.text(exec);
            exec.store_deleted(register, region, text)?;
        }
        return Ok(());
    }
    // Unlike `d`, it never turns characters into lines.
    let exact = Region {
        is_forced: true,
        ..*region
    };
    delete::delete(exec, register, &exact)?;
    exec.set_pos(region.start);
    Ok(())
}

/// Removes lines but keeps the indentation of the first one.
fn lines(exec: &mut Exec, register: Option<char>, region: &Region) -> Done {
    let text = region.text(exec);
    exec.store_deleted(register, region, text)?;
    let row = region.start.row;
    let line = exec.lines.line(row);
    let kept = if exec.globals.options.auto_indent {
        indent_len(&line)
    } else {
        0
    };
    let start = Pos::new(row, kept);
    let end = Pos::new(region.end.row, exec.lines.len(region.end.row));
    exec.set_pos(start);
    let span = exec.lines.span(start, end);
    // The last selection stays as it was, although its lines are gone.
    let visual = exec.vim.visual;
    exec.edit(vec![Edit::new(span, "")])?;
    exec.vim.visual = visual;
    exec.set_change_marks(start, start);
    exec.set_pos(start);
    Ok(())
}

/// Changes a block: the text typed in the first line goes into the others, too.
fn columns(exec: &mut Exec, register: Option<char>, region: &Region, cells: BlockCells) -> Done {
    let rows = region.start.row..region.end.row + 1;
    let reaches = |row: u32| {
        let line = exec.lines.line(row);
        let part = block::BlockPart::of(&line, cells, exec.lines.tab_width());
        !part.is_short(cells)
    };
    let rows: Vec<u32> = rows.filter(|row| reaches(*row)).collect();
    let is_empty_line = region.rows() == 1 && exec.lines.is_empty(region.start.row);
    if is_empty_line && region.is_visual {
        let text = region.text(exec);
        exec.store_deleted(register, region, text)?;
    }
    delete::delete(exec, register, region)?;
    let first = region.start.row;
    let col = block::column(&exec.lines, first, cells.left);
    exec.vim.state = State::Insert;
    exec.set_pos(Pos::new(first, col));
    inserting::begin(exec, InsertStart::Changed);
    inserting::replicate(
        exec,
        BlockInsertion {
            rows: rows.into_iter().filter(|row| *row != first).collect(),
            cell: cells.left,
            to_ends: false,
            pads: false,
            caret: None,
        },
    );
    Ok(())
}
