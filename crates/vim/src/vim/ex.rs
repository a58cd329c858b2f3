//! Ex commands: lines such as `:5,$s/a/b/g`.
//!
//! Start at `run_line`; `names` lists the commands, `range` reads addresses.

mod files;
mod global;
mod lines;
mod map;
mod names;
mod range;
mod set;
mod sort;
mod substitute;
mod vimrc;

use super::exec::Exec;
use super::{inserting, listing, undoing};
use crate::command::InsertPlace;
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::lines::Pos;

pub(super) use global::GlobalRows;
pub use vimrc::VimrcProblem;

use names::ExName;
use range::ExRange;

/// A parsed command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ExCommand<'a> {
    name: ExName,
    range: ExRange,
    /// Whether a `!` follows the name.
    has_bang: bool,
    /// Everything behind, without blanks at the start.
    arguments: &'a str,
}

/// Runs a line of commands.
pub(super) fn run_line(exec: &mut Exec, line: &str) -> Done {
    let mut rest = Some(line);
    while let Some(line) = rest {
        rest = run_first(exec, line)?;
    }
    Ok(())
}

/// Maximum number of times that a count repeats a command line.
const MAX_LINES: u32 = 10_000;

/// Runs the last line again (`@:`).
pub(super) fn repeat_line(exec: &mut Exec, count: u32) -> Done {
    let line = exec.globals.registers.command.clone();
    if line.is_empty() {
        return Err(Error::EmptyRegister(':'));
    }
    exec.globals.last_played = Some(':');
    for _ in 0..count.min(MAX_LINES) {
        run_line(exec, &line)?;
    }
    Ok(())
}

/// Runs the first command of a line, and returns the rest behind `|`.
fn run_first<'a>(exec: &mut Exec, line: &'a str) -> Done<Option<&'a str>> {
    let line = line.trim_start_matches([' ', '\t', ':']);
    if line.is_empty() || line.starts_with('"') {
        return Ok(None);
    }
    let (range, rest) = range::parse(exec, line)?;
    let rest = rest.trim_start_matches([' ', '\t', ':']);
    let (end, command) = match rest.strip_prefix('|') {
        Some(next) => (Some(next), ""),
        None => (None, rest),
    };
    if command.is_empty() {
        go_to(exec, &range)?;
        return Ok(end);
    }
    let Some((name, has_bang, arguments)) = names::parse(command) else {
        let unknown = command.split_whitespace().next().unwrap_or_default();
        exec.effect(Effect::Palette(unknown.to_owned()));
        return Err(Error::UnknownCommand(unknown.to_owned()));
    };
    let arguments = arguments.trim_start_matches([' ', '\t']);
    let (arguments, next) = if name.takes_rest() {
        (arguments, None)
    } else {
        split_bar(arguments)
    };
    let command = ExCommand {
        name,
        range,
        has_bang,
        arguments,
    };
    if let Some(next) = substitute::run(exec, &command)? {
        return Ok(next);
    }
    run(exec, &command)?;
    Ok(next)
}

/// Splits a line at the first bar that is not escaped.
fn split_bar(line: &str) -> (&str, Option<&str>) {
    let mut is_escaped = false;
    for (ix, char) in line.char_indices() {
        match char {
            '|' if !is_escaped => return (&line[..ix], Some(&line[ix + 1..])),
            '\\' | '\u{16}' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    (line, None)
}

/// Goes to the last line of a range.
fn go_to(exec: &mut Exec, range: &ExRange) -> Done {
    if range.addresses == 0 {
        return Ok(());
    }
    exec.note_jump();
    let row = range.last.saturating_sub(1).min(exec.lines.last());
    let want = exec.wanted_cell();
    if exec.globals.options.start_of_line {
        exec.set_row(row);
    } else {
        let to = exec.pos_in_row(row, want);
        exec.set_pos_aiming(to, crate::motion::Aim::Same);
    }
    Ok(())
}

/// Runs a command whose arguments end at a bar, or take the rest of the line.
// tidy: table
fn run(exec: &mut Exec, command: &ExCommand) -> Done {
    match command.name {
        ExName::Substitute | ExName::SubstituteAgain | ExName::SubstituteSearched => Ok(()),
        ExName::Global => global::run(exec, command, command.has_bang),
        ExName::Vglobal => global::run(exec, command, true),
        ExName::Normal => lines::normal(exec, command),
        ExName::Delete => lines::delete(exec, command),
        ExName::Yank => lines::yank(exec, command),
        ExName::Put => lines::put(exec, command),
        ExName::Move => lines::move_rows(exec, command),
        ExName::Copy => lines::copy(exec, command),
        ExName::Join => lines::join(exec, command),
        ExName::ShiftRight => lines::shift(exec, command, 1),
        ExName::ShiftLeft => lines::shift(exec, command, -1),
        ExName::Mark => lines::mark(exec, command),
        ExName::Print => lines::print(exec, command),
        ExName::LineNumber => lines::line_number(exec, command),
        ExName::Sort => sort::run(exec, command),
        ExName::Retab => lines::retab(exec, command),
        ExName::Left => lines::align(exec, command, lines::Alignment::Left),
        ExName::Right => lines::align(exec, command, lines::Alignment::Right),
        ExName::Center => lines::align(exec, command, lines::Alignment::Center),
        ExName::Execute => lines::execute(exec, command),
        ExName::DeleteMarks => delete_marks(exec, command),
        ExName::Undo => match command.arguments.trim() {
            "" => undoing::undo(exec, 1),
            number => {
                let invalid = Error::InvalidArgument(number.to_owned());
                let state = number.parse().map_err(|_| invalid)?;
                undoing::travel_to(exec, state)
            }
        },
        ExName::Redo => undoing::redo(exec, 1),
        ExName::Earlier => travel(exec, command.arguments, -1),
        ExName::Later => travel(exec, command.arguments, 1),
        ExName::NoHighlight => {
            exec.globals.search.is_highlighted = false;
            exec.effect(Effect::HighlightSearch(None));
            Ok(())
        }
        ExName::Registers => {
            listing::registers(exec, &command.arguments.replace(' ', ""));
            Ok(())
        }
        ExName::Marks => {
            listing::marks(exec);
            Ok(())
        }
        ExName::Jumps => {
            listing::jumps(exec);
            Ok(())
        }
        ExName::Changes => {
            listing::changes(exec);
            Ok(())
        }
        ExName::Set => set::run(exec, command.arguments),
        ExName::Map(modes) => map::run(exec, command, modes),
        ExName::StartInsert => {
            let place = if command.has_bang {
                InsertPlace::LineEnd
            } else {
                InsertPlace::Here
            };
            inserting::start(exec, place, 1)
        }
        _ => files::run(exec, command),
    }
}

fn travel(exec: &mut Exec, arguments: &str, sign: i64) -> Done {
    let count = match arguments.trim() {
        "" => 1,
        number => number
            .parse::<u32>()
            .map_err(|_| Error::Unsupported("times are not supported; give a count".to_owned()))?,
    };
    undoing::travel_states(exec, sign * i64::from(count))
}

fn delete_marks(exec: &mut Exec, command: &ExCommand) -> Done {
    if command.has_bang {
        exec.vim.marks.named.clear();
        return Ok(());
    }
    if command.arguments.is_empty() {
        return Err(Error::ArgumentRequired);
    }
    let chars: Vec<char> = command
        .arguments
        .chars()
        .filter(|char| *char != ' ')
        .collect();
    let mut ix = 0;
    while ix < chars.len() {
        let first = chars[ix];
        let last = match (chars.get(ix + 1), chars.get(ix + 2)) {
            (Some('-'), Some(last)) => {
                ix += 2;
                *last
            }
            _ => first,
        };
        for name in first..=last {
            exec.vim.marks.named.remove(&name);
            exec.globals.marks.remove(&name);
        }
        ix += 1;
    }
    Ok(())
}

/// Puts the caret into a line as line commands do: in its column, or at its first character.
fn settle_in_row(exec: &mut Exec, row: u32) {
    let row = row.min(exec.lines.last());
    if exec.globals.options.start_of_line {
        exec.set_row(row);
        return;
    }
    let want = exec.wanted_cell();
    let to: Pos = exec.pos_in_row(row, want);
    exec.set_pos_aiming(to, crate::motion::Aim::Same);
}
