//! Keys of insert mode that take an argument or leave the line.

use super::session::{CharCode, InsertSession, Waiting};
use super::{finish, record, removing, set_origin, typing};
use crate::command::{Action, InsertPlace, NormalCommand};
use crate::digraph;
use crate::effect::{CompletionCommand, Effect};
use crate::error::{Done, Error};
use crate::globals::{InsertKey, Repeat};
use crate::key::Key;
use crate::motion::Motion;
use crate::vim::exec::Exec;
use crate::vim::{State, moving};

/// Begins a key with an argument, or hands a key to the host. Returns whether the key is taken.
pub(super) fn begin(exec: &mut Exec, key: Key) -> Done<bool> {
    let waiting = match key {
        Key::Ctrl('r') => Waiting::Register,
        Key::Ctrl('k') => Waiting::Digraph(None),
        Key::Ctrl('v' | 'q') => Waiting::Literal(None),
        Key::Ctrl('g') => Waiting::CtrlG,
        Key::Ctrl('x') => Waiting::CtrlX,
        Key::Ctrl('n') => {
            exec.effect(Effect::Completion(CompletionCommand::Next));
            return Ok(true);
        }
        Key::Ctrl('p') => {
            exec.effect(Effect::Completion(CompletionCommand::Previous));
            return Ok(true);
        }
        Key::Ctrl('@') => {
            record(exec, InsertKey::Key(Key::Ctrl('a')));
            typing::key(exec, Key::Ctrl('a'))?;
            finish::finish(exec)?;
            return Ok(true);
        }
        Key::Insert => {
            exec.vim.state = match exec.vim.state {
                State::Replace { .. } => State::Insert,
                _ => State::Replace { is_virtual: false },
            };
            return Ok(true);
        }
        _ => return Ok(false),
    };
    wait(exec, waiting);
    Ok(true)
}

fn wait(exec: &mut Exec, waiting: Waiting) {
    if let Some(insert) = &mut exec.vim.insert {
        insert.waiting = waiting;
    }
}

/// Takes the argument of a key.
pub(super) fn argument(exec: &mut Exec, waiting: Waiting, key: Key) -> Done {
    match waiting {
        Waiting::Nothing => Ok(()),
        Waiting::Register => register(exec, key),
        Waiting::LiteralRegister => literal_register(exec, key),
        Waiting::Digraph(first) => digraph_key(exec, first, key),
        Waiting::Literal(code) => literal_key(exec, code, key),
        Waiting::CtrlG => ctrl_g(exec, key),
        Waiting::CtrlX => {
            let command = match key {
                Key::Ctrl('p') => CompletionCommand::Previous,
                Key::Ctrl('e') => CompletionCommand::Cancel,
                Key::Ctrl('y') => CompletionCommand::Accept,
                Key::Ctrl(_) => CompletionCommand::Next,
                _ => return super::key(exec, key),
            };
            exec.effect(Effect::Completion(command));
            Ok(())
        }
    }
}

/// Inserts a register.
fn register(exec: &mut Exec, key: Key) -> Done {
    let name = match key {
        Key::Ctrl('r' | 'o' | 'p') => {
            wait(exec, Waiting::LiteralRegister);
            return Ok(());
        }
        Key::Ctrl('w') => {
            let word = crate::vim::searching::word_at(&exec.lines, exec.pos());
            let (_, word, _) = word.ok_or(Error::NoWord)?;
            return insert_text(exec, word);
        }
        Key::Char(name) => name,
        _ => return Err(Error::Beep),
    };
    let text = exec.read_register(Some(name))?.flat();
    insert_as_typed(exec, &text)
}

/// Inserts a register without indenting its lines.
fn literal_register(exec: &mut Exec, key: Key) -> Done {
    let Key::Char(name) = key else {
        return Err(Error::Beep);
    };
    let text = exec.read_register(Some(name))?.flat();
    insert_text(exec, text)
}

/// Inserts a text with line breaks and tabs as if they were typed.
fn insert_as_typed(exec: &mut Exec, text: &str) -> Done {
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let key = match char {
            '\n' => Key::Enter,
            '\t' => Key::Tab,
            _ => {
                let end = rest.find(['\n', '\t']).unwrap_or(rest.len());
                insert_text(exec, rest[..end].to_owned())?;
                rest = &rest[end..];
                continue;
            }
        };
        record(exec, InsertKey::Key(key));
        typing::key(exec, key)?;
        rest = &rest[1..];
    }
    Ok(())
}

fn insert_text(exec: &mut Exec, text: String) -> Done {
    if matches!(exec.vim.state, State::Replace { .. }) {
        for key in Key::from_text(&text) {
            record(exec, InsertKey::Key(key));
            typing::key(exec, key)?;
        }
        return Ok(());
    }
    record(exec, InsertKey::Text(text.clone()));
    typing::literal(exec, &text)
}

fn insert_char(exec: &mut Exec, char: char) -> Done {
    if matches!(exec.vim.state, State::Replace { .. }) && char != '\t' {
        record(exec, InsertKey::Key(Key::Char(char)));
        return typing::key(exec, Key::Char(char));
    }
    insert_text(exec, char.to_string())
}

fn digraph_key(exec: &mut Exec, first: Option<char>, key: Key) -> Done {
    let Key::Char(char) = key else {
        return Ok(());
    };
    match first {
        None => {
            wait(exec, Waiting::Digraph(Some(char)));
            Ok(())
        }
        Some(first) => insert_char(exec, digraph::lookup(first, char)),
    }
}

/// Takes a literal character, or a digit of its number.
fn literal_key(exec: &mut Exec, code: Option<CharCode>, key: Key) -> Done {
    let Some(mut code) = code else {
        let (radix, most, digits) = match key {
            Key::Char('x' | 'X') => (16, 2, String::new()),
            Key::Char('u') => (16, 4, String::new()),
            Key::Char('U') => (16, 8, String::new()),
            Key::Char('o' | 'O') => (8, 3, String::new()),
            Key::Char(digit @ '0'..='9') => (10, 3, digit.to_string()),
            Key::Ctrl('j') => return insert_char(exec, '\0'),
            _ => return insert_char(exec, key.to_char()),
        };
        let code = CharCode {
            radix,
            most,
            digits,
        };
        wait(exec, Waiting::Literal(Some(code)));
        return Ok(());
    };
    let digit = match key {
        Key::Char(char) if char.is_digit(code.radix) => Some(char),
        _ => None,
    };
    if let Some(digit) = digit {
        code.digits.push(digit);
        if code.digits.len() < code.most {
            wait(exec, Waiting::Literal(Some(code)));
            return Ok(());
        }
    }
    let number = u32::from_str_radix(&code.digits, code.radix).ok();
    if let Some(char) = number.and_then(char::from_u32) {
        insert_char(exec, char)?;
    }
    if digit.is_none() {
        return super::key(exec, key);
    }
    Ok(())
}

fn ctrl_g(exec: &mut Exec, key: Key) -> Done {
    match key {
        Key::Char('u') => {
            removing::break_undo(exec);
            Ok(())
        }
        Key::Char('j') | Key::Down | Key::Ctrl('j') => move_caret(exec, Key::Down),
        Key::Char('k') | Key::Up | Key::Ctrl('k') => move_caret(exec, Key::Up),
        _ => Err(Error::Beep),
    }
}

/// Whether a key moves the caret.
pub(super) fn is_motion(key: Key) -> bool {
    matches!(
        key,
        Key::Left
            | Key::Right
            | Key::Up
            | Key::Down
            | Key::WordLeft
            | Key::WordRight
            | Key::Home
            | Key::End
            | Key::FileStart
            | Key::FileEnd
            | Key::PageUp
            | Key::PageDown
    )
}

/// Moves the carets. The insertion begins anew there, for undo and for `.`.
pub(super) fn move_caret(exec: &mut Exec, key: Key) -> Done {
    let motion = match key {
        Key::Left => Motion::Left { wraps: false },
        Key::Right => Motion::Right { wraps: false },
        Key::Up => Motion::Up,
        Key::Down => Motion::Down,
        Key::WordLeft => Motion::WordBack { is_big: false },
        Key::WordRight => Motion::Word { is_big: false },
        Key::Home => Motion::LineStart,
        Key::End => Motion::LineEnd,
        Key::FileStart => Motion::ToFirstLine,
        Key::FileEnd => Motion::ToLastEnd,
        Key::PageUp => Motion::Scroll(crate::motion::ScrollMotion::PageUp),
        Key::PageDown => Motion::Scroll(crate::motion::ScrollMotion::PageDown),
        _ => return Ok(()),
    };
    // A motion that is not possible does not end a macro while inserting.
    let before: Vec<_> = exec.vim.carets.iter().map(|caret| caret.pos).collect();
    let done = exec.each_caret(|exec| moving::move_caret(exec, &motion, None));
    let always = matches!(key, Key::Home | Key::End | Key::FileStart | Key::FileEnd);
    let has_moved = !exec.vim.carets.iter().map(|caret| caret.pos).eq(before);
    if done.is_ok() && (has_moved || always) {
        restart(exec);
    }
    Ok(())
}

/// Ends the part of the session before a motion, and begins another.
fn restart(exec: &mut Exec) {
    let state = exec.vim.state;
    let (limits, has_text) = exec
        .vim
        .insert
        .as_ref()
        .map_or_else(Default::default, |insert| {
            (
                insert.limits.clone(),
                insert.has_text || !insert.record.is_empty(),
            )
        });
    finish::close_session(exec);
    exec.close_step();
    exec.vim.state = state;
    let starts: Vec<_> = exec.vim.carets.iter().map(|caret| caret.pos).collect();
    // To the right of its start, text of the whole insertion can be removed.
    let limits = starts.iter().enumerate().map(|(ix, start)| {
        let before = limits.get(ix).copied().flatten();
        before
            .filter(|limit| has_text && start.col > limit.col)
            .or(Some(*start))
    });
    let limits = limits.collect();
    exec.vim.insert = Some(InsertSession {
        is_restarted: true,
        has_text,
        limits,
        ..InsertSession::new(1, starts)
    });
    let action = match state {
        State::Replace { is_virtual } => Action::Replace { is_virtual },
        _ => Action::Insert(InsertPlace::Here),
    };
    set_origin(
        exec,
        Repeat {
            command: NormalCommand::new(action),
            visual: None,
            inserted: Vec::new(),
        },
    );
}
