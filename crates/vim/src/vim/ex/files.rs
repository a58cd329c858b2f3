//! Ex commands that the host carries out: files, views, folds, programs.

use super::{ExCommand, ExName};
use crate::effect::{
    BufferCommand, Effect, FoldCommand, NavigationTarget, OpenTarget, WindowCommand, WriteCondition,
};
use crate::error::{Done, Error};
use crate::vim::exec::Exec;

/// Runs a command by effects.
// tidy: table
pub(super) fn run(exec: &mut Exec, command: &ExCommand) -> Done {
    let is_forced = command.has_bang;
    let argument = command.arguments.trim();
    let path = (!argument.is_empty()).then(|| argument.to_owned());
    let count = argument
        .parse::<u32>()
        .ok()
        .or((command.range.addresses > 0).then_some(command.range.last));
    let effect = match command.name {
        ExName::Write => return write(exec, command),
        ExName::WriteAll => Effect::WriteAll,
        ExName::WriteQuit | ExName::Exit => {
            let condition = match (command.name, is_forced) {
                (_, true) => WriteCondition::Forced,
                (ExName::Exit, false) => WriteCondition::IfChanged,
                (_, false) => WriteCondition::Always,
            };
            exec.effect(Effect::Write { path, condition });
            Effect::Quit { is_forced: false }
        }
        ExName::WriteQuitAll => {
            exec.effect(Effect::WriteAll);
            Effect::QuitAll { is_forced }
        }
        ExName::Quit => Effect::Quit { is_forced },
        ExName::QuitAll => Effect::QuitAll { is_forced },
        ExName::Edit => open(path, is_forced, OpenTarget::Here),
        ExName::New => Effect::Window(WindowCommand::NewTab),
        ExName::Split if path.is_none() => Effect::Window(WindowCommand::SplitBelow),
        ExName::VSplit if path.is_none() => Effect::Window(WindowCommand::SplitBeside),
        ExName::Split => open(path, false, OpenTarget::Below),
        ExName::VSplit | ExName::VNew => open(path, false, OpenTarget::Beside),
        ExName::TabEdit if path.is_none() => Effect::Window(WindowCommand::NewTab),
        ExName::TabEdit => open(path, false, OpenTarget::NewTab),
        ExName::TabNext => {
            Effect::Window(count.map_or(WindowCommand::NextTab(1), WindowCommand::GoToTab))
        }
        ExName::TabPrevious => Effect::Window(WindowCommand::PreviousTab(count.unwrap_or(1))),
        ExName::TabClose => Effect::Window(WindowCommand::CloseTab),
        ExName::TabOnly => Effect::Window(WindowCommand::OnlyTab),
        ExName::Buffer => match path {
            Some(name) => Effect::Buffer(BufferCommand::Named(name)),
            None => return Ok(()),
        },
        ExName::BufferNext => Effect::Buffer(BufferCommand::Next(count.unwrap_or(1))),
        ExName::BufferPrevious => Effect::Buffer(BufferCommand::Previous(count.unwrap_or(1))),
        ExName::BufferFirst => Effect::Buffer(BufferCommand::First),
        ExName::BufferLast => Effect::Buffer(BufferCommand::Last),
        ExName::BufferDelete => Effect::Buffer(BufferCommand::Delete { is_forced }),
        ExName::Buffers => Effect::Buffer(BufferCommand::List),
        ExName::Close => Effect::Window(WindowCommand::Close),
        ExName::Only => Effect::Window(WindowCommand::Only),
        ExName::Read => return read(exec, command),
        ExName::Bang => return bang(exec, command),
        ExName::Fold => fold(exec, command, FoldCommand::Create),
        ExName::FoldOpen if is_forced => fold(exec, command, FoldCommand::OpenDeep),
        ExName::FoldOpen => fold(exec, command, FoldCommand::Open),
        ExName::FoldClose if is_forced => fold(exec, command, FoldCommand::CloseDeep),
        ExName::FoldClose => fold(exec, command, FoldCommand::Close),
        ExName::NextResult => navigate(NavigationTarget::NextResult, count),
        ExName::PreviousResult => navigate(NavigationTarget::PreviousResult, count),
        _ => return Ok(()),
    };
    exec.effect(effect);
    Ok(())
}

fn open(path: Option<String>, is_forced: bool, target: OpenTarget) -> Effect {
    Effect::Open {
        path,
        is_forced,
        target,
    }
}

fn navigate(target: NavigationTarget, count: Option<u32>) -> Effect {
    Effect::Navigate {
        target,
        count: count.unwrap_or(1),
    }
}

fn fold(
    exec: &Exec,
    command: &ExCommand,
    fold: impl Fn(std::ops::Range<u32>) -> FoldCommand,
) -> Effect {
    let (first, last) = command.range.rows(exec);
    Effect::Fold(fold(first..last + 1))
}

/// Writes the text. Parts of it cannot be written.
fn write(exec: &mut Exec, command: &ExCommand) -> Done {
    let argument = command.arguments.trim();
    let all = command.range.or_all(exec);
    let is_part = all.first > 1 || all.last < exec.lines.count();
    if argument.starts_with('!') || argument.starts_with(">>") || is_part {
        let message = "only whole texts can be written, and only to files";
        return Err(Error::Unsupported(message.to_owned()));
    }
    exec.effect(Effect::Write {
        path: (!argument.is_empty()).then(|| argument.to_owned()),
        condition: if command.has_bang {
            WriteCondition::Forced
        } else {
            WriteCondition::Always
        },
    });
    Ok(())
}

/// Inserts a file, or the output of a program.
fn read(exec: &mut Exec, command: &ExCommand) -> Done {
    let argument = command.arguments.trim();
    if argument.is_empty() {
        return Err(Error::ArgumentRequired);
    }
    if let Some(program) = argument.strip_prefix('!') {
        let row = command.range.last.min(exec.lines.count());
        exec.effect(Effect::Filter {
            rows: row..row,
            command: program.to_owned(),
        });
        return Ok(());
    }
    exec.effect(Effect::ReadFile {
        path: argument.to_owned(),
        below: command.range.last.checked_sub(1),
    });
    Ok(())
}

/// Runs a program; with a range, on the lines.
fn bang(exec: &mut Exec, command: &ExCommand) -> Done {
    let mut program = String::new();
    let mut chars = command.arguments.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '!' => program.push_str(&exec.globals.last_shell),
            '\\' if chars.next_if_eq(&'!').is_some() => program.push('!'),
            _ => program.push(char),
        }
    }
    if program.trim().is_empty() {
        return Err(Error::ArgumentRequired);
    }
    exec.globals.last_shell.clone_from(&program);
    if command.range.addresses == 0 {
        exec.effect(Effect::Shell(program));
        return Ok(());
    }
    let (first, last) = command.range.rows(exec);
    exec.effect(Effect::Filter {
        rows: first..last + 1,
        command: program,
    });
    Ok(())
}
