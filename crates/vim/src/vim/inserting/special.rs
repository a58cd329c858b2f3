//! Keys of insert mode that take an argument or leave the line.

use super::session::{InsertSession, Waiting};
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
            wait(exec, Waiting::Register);
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
    insert_text(exec, text)
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
fn literal_key(exec: &mut Exec, code: Option<(u32, String)>, key: Key) -> Done {
    let Some((radix, mut digits)) = code else {
        let (radix, digits) = match key {
            Key::Char('x' | 'X' | 'u' | 'U') => (16, String::new()),
            Key::Char('o' | 'O') => (8, String::new()),
            Key::Char(digit @ '0'..='9') => (10, digit.to_string()),
            Key::Ctrl('j') => return insert_char(exec, '\0'),
            _ => return insert_char(exec, key.to_char()),
        };
        wait(exec, Waiting::Literal(Some((radix, digits))));
        return Ok(());
    };
    let most = match radix {
        16 => 4,
        _ => 3,
    };
    let digit = match key {
        Key::Char(char) if char.is_digit(radix) => Some(char),
        _ => None,
    };
    if let Some(digit) = digit {
        digits.push(digit);
        if digits.len() < most {
            wait(exec, Waiting::Literal(Some((radix, digits))));
            return Ok(());
        }
    }
    let number = u32::from_str_radix(&digits, radix).ok();
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
    finish::close_session(exec);
    exec.close_step();
    exec.vim.state = state;
    let starts = exec.vim.carets.iter().map(|caret| caret.pos).collect();
    exec.vim.insert = Some(InsertSession::new(1, starts));
    let action = match state {
        State::Replace { is_virtual } => Action::Replace { is_virtual },
        _ => Action::Insert(InsertPlace::Here),
    };
    set_origin(exec, Repeat {
        command: NormalCommand::new(action),
        visual: None,
        inserted: Vec::new(),
    });
}
