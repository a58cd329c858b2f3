//! Motions and commands that depend on the view: `H`, `Ctrl-D`, `zt`.

use super::exec::Exec;
use super::moving::{self, MotionCall};
use crate::command::ScrollPlace;
use crate::effect::{Effect, ScrollCommand};
use crate::error::{Done, Error};
use crate::lines::Pos;
use crate::motion::{Motion, Moved, ScrollMotion};

/// The last row in view.
fn bottom(exec: &Exec) -> u32 {
    let end = exec
        .viewport
        .top
        .saturating_add(exec.viewport.height.max(1));
    (end - 1).min(exec.lines.last())
}

/// The row at the top, in the middle or at the bottom of the view.
pub(super) fn screen_row(exec: &Exec, call: &MotionCall) -> Moved {
    let (top, bottom) = (exec.viewport.top.min(exec.lines.last()), bottom(exec));
    let away = call.count_or_one() - 1;
    // An operator takes the rows of the edges, too.
    let edge = if call.operator.is_some() {
        0
    } else {
        exec.globals.options.scroll_offset
    };
    let first = if top == 0 { 0 } else { top + edge };
    let last = if bottom == exec.lines.last() {
        bottom
    } else {
        bottom.saturating_sub(edge)
    };
    let row = match call.motion {
        Motion::ScreenTop => top.saturating_add(away).max(first).min(bottom),
        Motion::ScreenBottom => bottom.saturating_sub(away).min(last).max(top),
        _ => top + (bottom - top) / 2,
    };
    moving::row_keeping_column(exec, row).as_jump()
}

/// Scrolls by half or whole views, and moves the caret along.
pub(super) fn pages(exec: &mut Exec, motion: ScrollMotion, count: Option<u32>) -> Done<Moved> {
    let height = exec.viewport.height.max(1);
    let (is_down, rows) = match motion {
        ScrollMotion::HalfDown | ScrollMotion::HalfUp => {
            if let Some(count) = count {
                exec.vim.scroll_rows = count;
            }
            let rows = match exec.vim.scroll_rows {
                0 => (height / 2).max(1),
                rows => rows.min(height),
            };
            (motion == ScrollMotion::HalfDown, rows)
        }
        ScrollMotion::PageDown | ScrollMotion::PageUp => {
            let page = height.saturating_sub(2).max(1);
            let rows = page.saturating_mul(count.unwrap_or(1));
            (motion == ScrollMotion::PageDown, rows)
        }
    };
    let last = exec.lines.last();
    let at = exec.pos().row;
    let top = exec.viewport.top;
    let (row, new_top) = if is_down {
        (
            at.saturating_add(rows).min(last),
            top.saturating_add(rows).min(last),
        )
    } else {
        (at.saturating_sub(rows), top.saturating_sub(rows))
    };
    let is_half = matches!(motion, ScrollMotion::HalfDown | ScrollMotion::HalfUp);
    if row == at && (new_top == top || is_half && is_down) {
        return Err(Error::Beep);
    }
    scroll_to(exec, new_top);
    Ok(moving::row_keeping_column(exec, row))
}

fn scroll_to(exec: &mut Exec, top: u32) {
    exec.viewport.top = top;
    exec.effect(Effect::Scroll(ScrollCommand::RowToTop(top)));
}

/// Scrolls by lines, and moves the caret only as far as it must to stay in view.
pub(super) fn lines(exec: &mut Exec, down: bool, count: u32) -> Done {
    let last = exec.lines.last();
    let top = exec.viewport.top;
    let new_top = if down {
        top.saturating_add(count).min(last)
    } else {
        top.saturating_sub(count)
    };
    if new_top == top {
        return Err(Error::Beep);
    }
    scroll_to(exec, new_top);
    let edge = exec.globals.options.scroll_offset;
    let first = if new_top == 0 { 0 } else { new_top + edge };
    let bottom = bottom(exec);
    let final_row = if bottom == last {
        bottom
    } else {
        bottom.saturating_sub(edge)
    };
    let row = exec
        .pos()
        .row
        .max(first)
        .min(final_row.max(first))
        .min(last);
    if row != exec.pos().row {
        let want = exec.wanted_cell();
        let to = exec.pos_in_row(row, want);
        exec.set_pos_aiming(to, crate::motion::Aim::Same);
    }
    Ok(())
}

/// Scrolls the line of the caret, or a line by its number, to a place of the view.
pub(super) fn caret_line(
    exec: &mut Exec,
    place: ScrollPlace,
    to_text: bool,
    count: Option<u32>,
) -> Done {
    if let Some(number) = count {
        let row = number.clamp(1, exec.lines.count()) - 1;
        let want = exec.wanted_cell();
        let to = exec.pos_in_row(row, want);
        exec.note_jump();
        exec.set_pos_aiming(to, crate::motion::Aim::Same);
    }
    let height = exec.viewport.height.max(1);
    match place {
        ScrollPlace::NextPage if count.is_none() => {
            let row = (exec.viewport.top + height).min(exec.lines.last());
            exec.set_pos(Pos::new(row, 0));
        }
        ScrollPlace::PreviousPage if count.is_none() => {
            exec.set_pos(Pos::new(exec.viewport.top.saturating_sub(1), 0));
        }
        _ => {}
    }
    if to_text {
        exec.set_row(exec.pos().row);
    }
    let row = exec.pos().row;
    let (command, top) = match place {
        ScrollPlace::Top | ScrollPlace::NextPage => (ScrollCommand::RowToTop(row), row),
        ScrollPlace::Middle => {
            let top = row.saturating_sub(height / 2);
            (ScrollCommand::RowToMiddle(row), top)
        }
        ScrollPlace::Bottom | ScrollPlace::PreviousPage => {
            let top = (row + 1).saturating_sub(height);
            (ScrollCommand::RowToBottom(row), top)
        }
        ScrollPlace::CaretLeft => (ScrollCommand::CaretToLeft, exec.viewport.top),
        ScrollPlace::CaretRight => (ScrollCommand::CaretToRight, exec.viewport.top),
    };
    exec.viewport.top = top;
    exec.effect(Effect::Scroll(command));
    Ok(())
}
