//! Keys that remove text before or behind the caret.

use super::{join_next, join_to_previous};
use crate::chars;
use crate::error::{Done, Error};
use crate::lines::{Pos, cells_of, indent_len, next_grapheme, prev_grapheme};
use crate::vim::State;
use crate::vim::exec::Exec;

/// Whether text before a position may be removed.
fn may_remove(exec: &Exec, pos: Pos) -> bool {
    if exec.globals.options.backspace_anywhere {
        return true;
    }
    let limits = exec.vim.insert.as_ref().map(|insert| &insert.limits);
    let limit = limits.and_then(|limits| limits.get(exec.vim.active));
    limit.copied().flatten().is_none_or(|limit| pos >= limit)
}

/// Removes the character before the caret, or blanks of the indentation up to a stop.
pub(super) fn backspace(exec: &mut Exec) -> Done {
    let at = exec.pos();
    if matches!(exec.vim.state, State::Replace { .. }) {
        return restore(exec);
    }
    if at.col == 0 {
        return join_to_previous(exec);
    }
    let line = exec.lines.line(at.row).into_owned();
    let before = &line[..at.col];
    let in_indent = indent_len(&line) >= at.col;
    let start = if in_indent {
        indent_stop(exec, before)
    } else {
        prev_grapheme(&line, at.col)
    };
    let pair = exec.host.pair_behind(exec.lines.offset(at));
    if pair > 0 && may_remove(exec, Pos::new(at.row, start)) {
        exec.replace(at, Pos::new(at.row, at.col + pair), "")?;
    }
    remove_to(exec, &line, start, in_indent)
}

/// The column up to which backspace removes blanks of an indentation.
fn indent_stop(exec: &Exec, before: &str) -> usize {
    let tab_width = exec.lines.tab_width();
    let level = exec.globals.options.level();
    let cell = cells_of(before, before.len(), tab_width).0;
    let target = (cell - 1) / level * level;
    let mut start = before.len();
    while start > 0 && cells_of(before, start, tab_width).0 > target {
        start -= 1;
    }
    start
}

/// Removes the text from a column to the caret. In an indentation, blanks fill up a removed tab.
fn remove_to(exec: &mut Exec, line: &str, start: usize, in_indent: bool) -> Done {
    let at = exec.pos();
    let from = Pos::new(at.row, start);
    if !may_remove(exec, from) {
        return Err(Error::Beep);
    }
    let mut fill = String::new();
    if in_indent {
        let tab_width = exec.lines.tab_width();
        let level = exec.globals.options.level();
        let cell = cells_of(line, at.col, tab_width).0;
        let target = (cell - 1) / level * level;
        let reached = cells_of(line, start, tab_width).0;
        fill = " ".repeat(target.saturating_sub(reached) as usize);
    }
    exec.replace(from, at, &fill)?;
    exec.set_pos(Pos::new(at.row, start + fill.len()));
    note_start(exec);
    Ok(())
}

/// Moves the start of the insertion back to the caret if text before it was removed.
fn note_start(exec: &mut Exec) {
    let (active, pos) = (exec.vim.active, exec.pos());
    if let Some(insert) = &mut exec.vim.insert
        && let Some(start) = insert.starts.get_mut(active)
    {
        *start = (*start).min(pos);
    }
}

/// The place where the insertion began, at which `Ctrl-W` and `Ctrl-U` stop once.
fn limit(exec: &Exec) -> Option<Pos> {
    let insert = exec.vim.insert.as_ref()?;
    insert.limits.get(exec.vim.active).copied().flatten()
}

/// Removes the word before the caret.
pub(super) fn word(exec: &mut Exec) -> Done {
    if matches!(exec.vim.state, State::Replace { .. }) {
        return restore_word(exec);
    }
    break_undo(exec);
    let at = exec.pos();
    if at.col == 0 {
        return join_to_previous(exec);
    }
    let line = exec.lines.line(at.row).into_owned();
    let stop = stop_column(exec, at);
    let mut col = at.col;
    let class_before = |col: usize| {
        let start = prev_grapheme(&line, col);
        line[start..]
            .chars()
            .next()
            .map_or(chars::BLANK, chars::class)
    };
    while col > stop && class_before(col) == chars::BLANK {
        col = prev_grapheme(&line, col);
    }
    if col > stop {
        let class = class_before(col);
        while col > stop && class_before(col) == class {
            col = prev_grapheme(&line, col);
        }
    }
    remove_to(exec, &line, col, false)
}

/// The column at which removing stops: the start of the insertion, unless the caret is there.
fn stop_column(exec: &Exec, at: Pos) -> usize {
    match limit(exec) {
        Some(limit) if limit.row == at.row && limit.col < at.col => limit.col,
        _ => 0,
    }
}

/// Removes the text before the caret up to the start of the insertion or the indentation.
pub(super) fn to_start(exec: &mut Exec) -> Done {
    if matches!(exec.vim.state, State::Replace { .. }) {
        return restore_all(exec);
    }
    break_undo(exec);
    let at = exec.pos();
    if at.col == 0 {
        return join_to_previous(exec);
    }
    let line = exec.lines.line(at.row).into_owned();
    let mut stop = stop_column(exec, at);
    if exec.globals.options.auto_indent {
        let indent = indent_len(&line);
        if indent < at.col {
            stop = stop.max(indent);
        }
    }
    remove_to(exec, &line, stop, false)
}

/// Starts a new undo step, as Neovim does for `Ctrl-W` and `Ctrl-U`.
pub(super) fn break_undo(exec: &mut Exec) {
    exec.close_step();
    let starts = exec.vim.carets.iter().map(|caret| caret.pos).collect();
    if let Some(insert) = &mut exec.vim.insert {
        insert.starts = starts;
    }
}

/// Removes the character behind the caret, or the line break.
pub(super) fn delete(exec: &mut Exec) -> Done {
    if let Some(insert) = &mut exec.vim.insert {
        insert.has_auto_indent = false;
    }
    let at = exec.pos();
    let line = exec.lines.line(at.row).into_owned();
    if at.col >= line.len() {
        return join_next(exec);
    }
    let end = next_grapheme(&line, at.col);
    exec.replace(at, Pos::new(at.row, end), "")?;
    exec.set_pos(at);
    Ok(())
}

/// Goes back in replace mode, and restores the character that was replaced.
fn restore(exec: &mut Exec) -> Done {
    let at = exec.pos();
    let active = exec.vim.active;
    let stack = exec
        .vim
        .insert
        .as_mut()
        .and_then(|insert| insert.replaced.get_mut(active));
    if let Some(replaced) = stack.and_then(Vec::pop) {
        let from = Pos::new(at.row, at.col.saturating_sub(replaced.new_len));
        exec.replace(from, at, &replaced.old)?;
        exec.set_pos(from);
        return Ok(());
    }
    if at.col > 0 {
        let line = exec.lines.line(at.row);
        let col = prev_grapheme(&line, at.col);
        exec.set_pos(Pos::new(at.row, col));
        return Ok(());
    }
    let row = at.row.checked_sub(1).ok_or(Error::Beep)?;
    exec.set_pos(Pos::new(row, exec.lines.len(row)));
    Ok(())
}

/// Restores the characters of a replaced word.
fn restore_word(exec: &mut Exec) -> Done {
    let class_before = |exec: &Exec| {
        let at = exec.pos();
        let line = exec.lines.line(at.row);
        let start = prev_grapheme(&line, at.col);
        line[start..at.col]
            .chars()
            .next()
            .map_or(chars::BLANK, chars::class)
    };
    if exec.pos().col == 0 {
        return restore(exec);
    }
    let stop = stop_column(exec, exec.pos());
    while exec.pos().col > stop && class_before(exec) == chars::BLANK {
        restore(exec)?;
    }
    let class = class_before(exec);
    while exec.pos().col > stop && class_before(exec) == class {
        restore(exec)?;
    }
    Ok(())
}

/// Restores all replaced characters of the line.
fn restore_all(exec: &mut Exec) -> Done {
    let stop = stop_column(exec, exec.pos());
    if exec.pos().col == 0 {
        return restore(exec);
    }
    while exec.pos().col > stop {
        restore(exec)?;
    }
    Ok(())
}
