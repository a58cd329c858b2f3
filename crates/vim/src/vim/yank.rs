//! Yanking.

use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::effect::Effect;
use crate::error::Done;
use crate::lines::Pos;

/// Yanks a text, and moves the caret to its start as Vim does.
pub(super) fn yank(exec: &mut Exec, register: Option<char>, region: &Region) -> Done {
    let text = region.text(exec);
    exec.store_yanked(register, text)?;
    let start = region.start;
    let last = region.last(&exec.lines);
    if register != Some('_') {
        exec.set_change_marks(start, last);
        exec.effect(Effect::Yanked(vec![region.span(&exec.lines)]));
    }
    match region.shape {
        RegionShape::Chars => exec.set_pos(region.start),
        RegionShape::Lines => exec.set_pos(region.caret),
        RegionShape::Block(cells) => {
            let col = super::block::column(&exec.lines, start.row, cells.left);
            exec.set_pos(Pos::new(start.row, col));
        }
    }
    Ok(())
}
