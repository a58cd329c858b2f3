//! Ex commands for lines: `:d`, `:m`, `:t`, `:normal` and others.

use text::Edit;

use super::{ExCommand, settle_in_row};
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::key::Key;
use crate::lines::{Pos, cells_of, indent_len};
use crate::register::is_register;
use crate::vim::exec::Exec;
use crate::vim::region::Region;
use crate::vim::{indent as indenting, join as joining, marking, normal, put as putting};

/// Width to which lines are aligned without a text width.
const DEFAULT_WIDTH: u32 = 80;

/// Lines printed at most by one command.
const MAX_PRINTED: u32 = 10_000;

/// Reads a register and a count: `:d x 3`.
fn register_and_count(arguments: &str) -> Done<(Option<char>, Option<u32>)> {
    let mut register = None;
    let mut count = None;
    for word in arguments.split_whitespace() {
        let mut chars = word.chars();
        match (chars.next(), chars.as_str()) {
            (Some('0'..='9'), _) => {
                let number = word.parse::<u32>();
                count = Some(number.map_err(|_| Error::Trailing(word.to_owned()))?);
            }
            (Some(name), "") if register.is_none() && is_register(name) => register = Some(name),
            _ => return Err(Error::Trailing(word.to_owned())),
        }
    }
    Ok((register, count))
}

pub(super) fn delete(exec: &mut Exec, command: &ExCommand) -> Done {
    let (register, count) = register_and_count(command.arguments)?;
    let (first, last) = command.range.counted(count, exec).rows(exec);
    settle_in_row(exec, first);
    normal::delete_rows(exec, register, first, last)
}

pub(super) fn yank(exec: &mut Exec, command: &ExCommand) -> Done {
    let (register, count) = register_and_count(command.arguments)?;
    let (first, last) = command.range.counted(count, exec).rows(exec);
    let region = Region::lines(first, last);
    let text = region.text(exec);
    exec.store_yanked(register, text)?;
    exec.set_change_marks(region.start, region.last(&exec.lines));
    exec.effect(Effect::Yanked(vec![region.span(&exec.lines)]));
    Ok(())
}

pub(super) fn put(exec: &mut Exec, command: &ExCommand) -> Done {
    let (register, _) = register_and_count(command.arguments)?;
    let text = exec.read_register(register)?.text;
    let row = if command.has_bang || command.range.last == 0 {
        command.range.last.saturating_sub(1)
    } else {
        command.range.last
    };
    let rows = text.matches('\n').count() as u32;
    putting::insert_rows(exec, row, &text)?;
    exec.set_change_marks(Pos::new(row, 0), Pos::new(row + rows, 0));
    exec.set_row(row + rows);
    Ok(())
}

/// Reads the address behind `:m` and `:t`.
fn target(exec: &mut Exec, arguments: &str) -> Done<u32> {
    let (address, rest) = super::range::address(exec, arguments)?;
    if !rest.trim().is_empty() {
        return Err(Error::Trailing(rest.to_owned()));
    }
    let target = address.ok_or(Error::ArgumentRequired)?;
    if target > exec.lines.count() {
        return Err(Error::InvalidRange);
    }
    Ok(target)
}

pub(super) fn move_rows(exec: &mut Exec, command: &ExCommand) -> Done {
    let target = target(exec, command.arguments)?;
    let (first, last) = command.range.rows(exec);
    if target > first && target <= last {
        return Err(Error::MoveIntoItself);
    }
    let count = last - first + 1;
    if target == first || target == last + 1 {
        let row = if target == first { last } else { target - 1 };
        settle_in_row(exec, row);
        return Ok(());
    }
    let text = rows_text(exec, first, last);
    let want = exec.wanted_cell();
    if target > last {
        putting::insert_rows(exec, target, &text)?;
        remove(exec, first, last)?;
    } else {
        remove(exec, first, last)?;
        putting::insert_rows(exec, target, &text)?;
    }
    let end = if target > last {
        target - 1
    } else {
        target + count - 1
    };
    exec.set_change_marks(Pos::new(end + 1 - count, 0), Pos::new(end, 0));
    let to = exec.pos_in_row(end, want);
    exec.set_pos_aiming(to, crate::motion::Aim::Same);
    Ok(())
}

fn rows_text(exec: &Exec, first: u32, last: u32) -> String {
    let text = exec
        .lines
        .text()
        .text(Region::lines(first, last).span(&exec.lines));
    text.replace("\r\n", "\n")
}

fn remove(exec: &mut Exec, first: u32, last: u32) -> Done {
    let span = exec.whole_rows(first, last);
    exec.edit(vec![Edit::new(span, "")])
}

pub(super) fn copy(exec: &mut Exec, command: &ExCommand) -> Done {
    let target = target(exec, command.arguments)?;
    let (first, last) = command.range.rows(exec);
    let text = rows_text(exec, first, last);
    let count = last - first + 1;
    let want = exec.wanted_cell();
    putting::insert_rows(exec, target, &text)?;
    let end = target + count - 1;
    exec.set_change_marks(Pos::new(target, 0), Pos::new(end, 0));
    let to = exec.pos_in_row(end, want);
    exec.set_pos_aiming(to, crate::motion::Aim::Same);
    Ok(())
}

pub(super) fn join(exec: &mut Exec, command: &ExCommand) -> Done {
    let (_, count) = register_and_count(command.arguments)?;
    let range = command.range.counted(count, exec);
    let (first, mut last) = range.rows(exec);
    if count.is_some() {
        last = (last + 1).min(exec.lines.last());
    } else if first == last {
        if command.range.addresses >= 2 {
            return Ok(());
        }
        last += 1;
    }
    if last > exec.lines.last() {
        return Err(Error::InvalidRange);
    }
    exec.set_pos(Pos::new(first, 0));
    joining::join(exec, first, last - first + 1, !command.has_bang)?;
    exec.set_row(first);
    Ok(())
}

pub(super) fn shift(exec: &mut Exec, command: &ExCommand, sign: i64) -> Done {
    let repeated = if sign > 0 { '>' } else { '<' };
    let rest = command.arguments.trim_start_matches(repeated);
    let levels = 1 + (command.arguments.len() - rest.len()) as i64;
    let (_, count) = register_and_count(rest)?;
    let (first, last) = command.range.counted(count, exec).rows(exec);
    settle_in_row(exec, first);
    let caret = *exec.caret();
    let before = exec.lines.clone();
    indenting::shift(exec, &Region::lines(first, last), sign * levels)?;
    exec.caret_mut().want = caret.want;
    exec.caret_mut().pos = caret.pos;
    settle_in_row(exec, last);
    let mut rows = (first..=last).rev();
    let changed = rows.find(|row| exec.lines.line(*row) != before.line(*row));
    if let Some(row) = changed
        && !exec.globals.options.start_of_line
    {
        // Behind the indentation of the last line that moved; vertical motions aim as before.
        let col = indent_len(&exec.lines.line(row));
        let to = exec.lines.clamp(Pos::new(exec.pos().row, col), false);
        exec.caret_mut().pos = to;
    }
    Ok(())
}

pub(super) fn mark(exec: &mut Exec, command: &ExCommand) -> Done {
    let name = command
        .arguments
        .chars()
        .next()
        .ok_or(Error::ArgumentRequired)?;
    let (_, row) = command.range.rows(exec);
    marking::set_at(exec, name, Pos::new(row, exec.lines.first_non_blank(row)))
}

pub(super) fn print(exec: &mut Exec, command: &ExCommand) -> Done {
    let (_, count) = register_and_count(command.arguments)?;
    let (first, last) = command.range.counted(count, exec).rows(exec);
    let shown = first..=last.min(first.saturating_add(MAX_PRINTED));
    let lines = shown.map(|row| format!("{:4} {}", row + 1, exec.lines.line(row)));
    let lines = lines.collect();
    exec.effect(Effect::Listing(lines));
    exec.set_row(last);
    Ok(())
}

pub(super) fn line_number(exec: &mut Exec, command: &ExCommand) -> Done {
    let number = if command.range.addresses == 0 {
        exec.lines.count()
    } else {
        command.range.last
    };
    exec.message(number.to_string());
    Ok(())
}

/// Runs keys of normal mode, with a range on each line.
pub(super) fn normal(exec: &mut Exec, command: &ExCommand) -> Done {
    if command.arguments.is_empty() {
        return Err(Error::ArgumentRequired);
    }
    let keys = Key::from_text(command.arguments);
    let is_mappable = !command.has_bang;
    if command.range.addresses == 0 {
        return exec.run_nested(&keys, is_mappable);
    }
    let (first, last) = command.range.rows(exec);
    let was_held = std::mem::replace(&mut exec.holds_step, false);
    exec.open_step_for_all();
    let mut done = Ok(());
    for row in first..=last {
        exec.set_pos(Pos::new(row.min(exec.lines.last()), 0));
        done = exec.run_nested(&keys, is_mappable);
        if done.is_err() {
            break;
        }
    }
    exec.holds_step = was_held;
    done
}

/// Runs a register as ex commands (`:@a`).
pub(super) fn execute(exec: &mut Exec, command: &ExCommand) -> Done {
    let name = command.arguments.chars().next().unwrap_or('@');
    if name == ':' {
        return super::repeat_line(exec, 1);
    }
    let name = match name {
        '@' => exec.globals.last_played.ok_or(Error::Beep)?,
        name => name,
    };
    if exec.depth >= crate::vim::keys::MAX_DEPTH {
        return Err(Error::TooDeep);
    }
    let text = exec.read_register(Some(name))?;
    exec.globals.last_played = Some(name);
    exec.depth += 1;
    let mut done = Ok(());
    for line in text.text.lines() {
        done = super::run_line(exec, line);
        if done.is_err() {
            break;
        }
    }
    exec.depth -= 1;
    done
}

/// Converts blanks of lines to the tabs or spaces of the options.
pub(super) fn retab(exec: &mut Exec, command: &ExCommand) -> Done {
    let width = match command.arguments.trim() {
        "" => None,
        number => {
            let invalid = Error::InvalidArgument(number.to_owned());
            Some(number.parse::<u32>().map_err(|_| invalid)?.clamp(1, 1000))
        }
    };
    let (first, last) = command.range.or_all(exec).rows(exec);
    let old_width = exec.lines.tab_width();
    let mut edits = Vec::new();
    let mut options = exec.globals.options.clone();
    options.tab_width = width.unwrap_or(options.tab_width);
    for row in first..=last {
        let line = exec.lines.line(row);
        let new = retabbed(&line, old_width, &options, command.has_bang);
        if new != line {
            let (from, to) = (Pos::new(row, 0), Pos::new(row, line.len()));
            edits.push(Edit::new(exec.lines.span(from, to), new));
        }
    }
    exec.edit(edits)?;
    exec.globals.options.tab_width = options.tab_width;
    exec.refresh();
    Ok(())
}

fn retabbed(
    line: &str,
    old_width: u32,
    options: &crate::options::VimOptions,
    converts_spaces: bool,
) -> String {
    let mut new = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let blanks = indent_len(rest);
        if blanks == 0 {
            let text = rest.find([' ', '\t']).unwrap_or(rest.len());
            new.push_str(&rest[..text]);
            rest = &rest[text..];
            continue;
        }
        let run = &rest[..blanks];
        let start = line.len() - rest.len();
        let from = cells_of(line, start, old_width).0;
        let to = cells_of(line, start + blanks, old_width).0;
        if run.contains('\t') || converts_spaces && blanks > 1 {
            let mut cell = from;
            let tab = options.tab_width.max(1);
            while !options.expand_tab && cell + tab - cell % tab <= to {
                new.push('\t');
                cell += tab - cell % tab;
            }
            new.push_str(&" ".repeat((to - cell) as usize));
        } else {
            new.push_str(run);
        }
        rest = &rest[blanks..];
    }
    new
}

/// The side at which lines are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alignment {
    Left,
    Right,
    Center,
}

/// Aligns lines to a width; to the left, by an indentation.
pub(super) fn align(exec: &mut Exec, command: &ExCommand, alignment: Alignment) -> Done {
    let number = match command.arguments.trim() {
        "" => None,
        number => {
            let invalid = Error::InvalidArgument(number.to_owned());
            Some(number.parse::<u32>().map_err(|_| invalid)?.min(10_000))
        }
    };
    let default = match exec.globals.options.text_width {
        0 => DEFAULT_WIDTH,
        width => width,
    };
    let width = number.filter(|width| *width > 0).unwrap_or(default);
    let (first, last) = command.range.rows(exec);
    let mut edits = Vec::new();
    for row in first..=last {
        let line = exec.lines.line(row);
        if alignment != Alignment::Left && exec.lines.is_blank(row) {
            continue;
        }
        let text = if alignment == Alignment::Left {
            line.trim_start_matches([' ', '\t'])
        } else {
            line.trim_matches([' ', '\t'])
        };
        let cells = cells_of(text, text.len(), exec.lines.tab_width()).0;
        let indent = match alignment {
            Alignment::Left if text.is_empty() => 0,
            Alignment::Left => number.unwrap_or(0),
            Alignment::Right => width.saturating_sub(cells),
            Alignment::Center => width.saturating_sub(cells) / 2,
        };
        let new = exec.globals.options.indent_text(indent) + text;
        let (from, to) = (Pos::new(row, 0), Pos::new(row, line.len()));
        if new != line {
            edits.push(Edit::new(exec.lines.span(from, to), new));
        }
    }
    exec.edit(edits)?;
    exec.set_row(exec.pos().row);
    Ok(())
}
