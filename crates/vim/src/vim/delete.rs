//! Deleting.

use text::Edit;

use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::error::Done;
use crate::lines::Pos;

/// Deletes a text into registers.
pub(super) fn delete(exec: &mut Exec, register: Option<char>, region: &Region) -> Done {
    if region.is_empty() || region.takes_nothing || exec.vim.is_emptied {
        exec.set_pos(region.start);
        return Ok(());
    }
    let region = as_lines(exec, region);
    let is_empty_line = region.rows() == 1 && exec.lines.is_empty(region.start.row);
    if is_empty_line && region.shape != RegionShape::Lines {
        exec.set_pos(region.start);
        return Ok(());
    }
    let text = region.text(exec);
    exec.store_deleted(register, &region, text)?;
    match region.shape {
        RegionShape::Chars => chars(exec, &region),
        RegionShape::Lines => lines(exec, &region),
        RegionShape::Block(cells) => {
            let (first, last) = (region.start.row, region.end.row);
            super::block::delete(exec, first, last, cells)?;
            let start = exec.pos();
            exec.set_change_marks(start, Pos::new(last, start.col));
            Ok(())
        }
    }
}

/// A deletion of characters over several lines that leaves a blank line takes whole lines, as in
/// Vi.
pub(super) fn as_lines(exec: &Exec, region: &Region) -> Region {
    let may_widen = region.shape == RegionShape::Chars
        && !region.is_visual
        && !region.is_forced
        && region.rows() > 1;
    if may_widen && exec.ends_in_blanks(region.end) && exec.lines.is_in_indent(region.start) {
        let lines = Region::lines(region.start.row, region.end.row);
        return Region {
            uses_first_register: region.uses_first_register,
            ..lines
        };
    }
    *region
}

fn chars(exec: &mut Exec, region: &Region) -> Done {
    exec.set_pos(region.start);
    exec.replace(region.start, region.end, "")?;
    exec.set_change_marks(region.start, region.start);
    let past_end = exec.may_pass_end();
    let at = exec.lines.clamp(region.start, past_end);
    exec.set_pos(at);
    Ok(())
}

fn lines(exec: &mut Exec, region: &Region) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    if first != exec.pos().row {
        exec.set_pos(Pos::new(first, 0));
    }
    remove_rows(exec, first, last)?;
    let row = first.min(exec.lines.last());
    exec.set_row(row);
    exec.set_change_marks(Pos::new(first, 0), Pos::new(first, 0));
    Ok(())
}

/// Removes whole lines. The last remaining line becomes empty.
pub(super) fn remove_rows(exec: &mut Exec, first: u32, last: u32) -> Done {
    let takes_all = first == 0 && last >= exec.lines.last();
    if takes_all {
        let span = Region::lines(first, last).span(&exec.lines);
        exec.edit(vec![Edit::new(span, "")])?;
        exec.vim.is_emptied = true;
        return Ok(());
    }
    let span = exec.whole_rows(first, last);
    exec.edit(vec![Edit::new(span, "")])
}
