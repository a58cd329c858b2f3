//! Insert and replace mode.
//!
//! Start at `start` and `key`; `session` holds the state, `typing` the keys.

mod finish;
mod removing;
mod session;
mod special;
mod typing;

use super::exec::Exec;
use super::{State, join, put};
use crate::command::{Action, InsertPlace, NormalCommand};
use crate::error::{Done, Error};
use crate::globals::{InsertKey, Repeat};
use crate::key::Key;
use crate::lines::{Pos, indent_len, next_grapheme, prev_grapheme};

pub(super) use session::{BlockInsertion, InsertSession, InsertStart};

use session::Waiting;

/// Begins an insertion at a place.
pub(super) fn start(exec: &mut Exec, place: InsertPlace, count: u32) -> Done {
    if exec.host.is_read_only() {
        return Err(Error::ReadOnly);
    }
    exec.vim.state = State::Insert;
    let opened = match place {
        InsertPlace::NewLineBelow => Some(false),
        InsertPlace::NewLineAbove => Some(true),
        _ => None,
    };
    let done = exec.each_caret(|exec| match opened {
        Some(above) => open_line(exec, above),
        None => {
            let at = place_of(exec, place);
            exec.set_pos(at);
            Ok(())
        }
    });
    begin(exec, InsertStart::Typed(count));
    if let Some(insert) = &mut exec.vim.insert {
        insert.opened_above = opened;
    }
    if opened.is_some() {
        note_auto_indent(exec);
    }
    done
}

fn place_of(exec: &Exec, place: InsertPlace) -> Pos {
    let at = exec.pos();
    let line = exec.lines.line(at.row);
    let col = match place {
        InsertPlace::Behind => next_grapheme(&line, at.col),
        InsertPlace::FirstNonBlank => indent_len(&line),
        InsertPlace::LineStart => 0,
        InsertPlace::LineEnd => line.len(),
        InsertPlace::LastInsertion => {
            let last = exec.vim.marks.insertion.unwrap_or(at);
            return exec.lines.clamp(last, true);
        }
        _ => at.col,
    };
    Pos::new(at.row, col)
}

/// Opens a line below or above the caret's, with the indentation of the options.
pub(super) fn open_line(exec: &mut Exec, above: bool) -> Done {
    let at = exec.pos();
    let row = match (exec.host.closed_fold(at.row), above) {
        (Some(rows), true) => rows.start,
        (Some(rows), false) => rows.end - 1,
        (None, _) => at.row,
    };
    let indent = indent_of_new_line(exec, row);
    let new_row = if above { row } else { row + 1 };
    put::insert_rows(exec, new_row, &indent)?;
    let mut col = indent.len();
    if exec.globals.options.auto_indent
        && let Some(by_language) = exec.host.indent_for(new_row)
        && by_language != indent
    {
        exec.replace(Pos::new(new_row, 0), Pos::new(new_row, col), &by_language)?;
        col = by_language.len();
    }
    let start = Pos::new(new_row, 0);
    exec.set_change_marks(start, start);
    exec.set_pos(Pos::new(new_row, col));
    Ok(())
}

/// The indentation of a line that follows a row.
fn indent_of_new_line(exec: &Exec, row: u32) -> String {
    if !exec.globals.options.auto_indent {
        return String::new();
    }
    exec.globals
        .options
        .indent_text(exec.lines.indent_cells(row))
}

/// Begins to replace text.
pub(super) fn start_replacing(exec: &mut Exec, is_virtual: bool, count: u32) {
    exec.vim.state = State::Replace { is_virtual };
    begin(exec, InsertStart::Typed(count));
}

/// Begins a session at the carets.
pub(super) fn begin(exec: &mut Exec, start: InsertStart) {
    let starts = exec.vim.carets.iter().map(|caret| caret.pos).collect();
    let count = match start {
        InsertStart::Typed(count) => count,
        InsertStart::Changed => 1,
    };
    exec.vim.insert = Some(InsertSession::new(count, starts));
}

/// Goes on inserting after a command of normal mode (`Ctrl-O`).
pub(super) fn resume(exec: &mut Exec) {
    exec.vim.is_insert_normal = false;
    exec.vim.state = State::Insert;
    begin(exec, InsertStart::Typed(1));
    set_origin(
        exec,
        Repeat {
            command: NormalCommand::new(Action::Insert(InsertPlace::Here)),
            visual: None,
            inserted: Vec::new(),
        },
    );
}

impl super::Vim {
    /// Begins the insertion anew at carets that the host moved.
    pub(super) fn restart_insertion(&mut self) {
        let starts = self.carets.iter().map(|caret| caret.pos).collect();
        let mut session = InsertSession::new(1, starts);
        session.is_restarted = true;
        session.origin = Some(Repeat {
            command: NormalCommand::new(Action::Insert(InsertPlace::Here)),
            visual: None,
            inserted: Vec::new(),
        });
        self.insert = Some(session);
    }
}

/// Sets the command that began the session, which `.` repeats with the inserted text.
pub(super) fn set_origin(exec: &mut Exec, repeat: Repeat) {
    if let Some(insert) = &mut exec.vim.insert {
        insert.origin = Some(repeat);
    }
}

/// Makes the session copy the text of the first line into others when it ends.
pub(super) fn replicate(exec: &mut Exec, block: BlockInsertion) {
    if let Some(insert) = &mut exec.vim.insert {
        insert.block = Some(block);
    }
}

/// Notes that the carets are behind an automatic indentation, which goes if nothing follows.
pub(super) fn note_auto_indent(exec: &mut Exec) {
    let has_indent = exec.globals.options.auto_indent;
    if let Some(insert) = &mut exec.vim.insert {
        insert.has_auto_indent = has_indent;
    }
}

/// Carries out a pressed key.
pub(super) fn key(exec: &mut Exec, key: Key) -> Done {
    let Some(insert) = &mut exec.vim.insert else {
        exec.vim.state = State::Normal;
        return Ok(());
    };
    let waiting = std::mem::take(&mut insert.waiting);
    if waiting != Waiting::Nothing {
        return special::argument(exec, waiting, key);
    }
    match key {
        Key::Escape | Key::Ctrl('c') => finish::finish(exec),
        Key::Ctrl('o') => {
            interrupt(exec);
            Ok(())
        }
        _ if special::is_motion(key) => special::move_caret(exec, key),
        _ if special::begin(exec, key)? => Ok(()),
        Key::Ctrl('e' | 'y') if exec.vim.carets.len() == 1 => {
            typing::key(exec, key)?;
            // The character is repeated, not where it came from.
            let at = exec.pos();
            let line = exec.lines.line(at.row);
            let copied = line[prev_grapheme(&line, at.col)..at.col].to_owned();
            record(exec, InsertKey::Text(copied));
            Ok(())
        }
        _ => {
            record(exec, InsertKey::Key(key));
            let done = typing::key(exec, key);
            if done.is_err()
                && let Some(insert) = &mut exec.vim.insert
            {
                insert.record.pop();
            }
            done
        }
    }
}

/// Repeats a recorded key.
pub(super) fn replay(exec: &mut Exec, key: &InsertKey) -> Done {
    record(exec, key.clone());
    carry_out(exec, key)
}

/// Carries out a recorded key. One that is not possible here does nothing.
fn carry_out(exec: &mut Exec, key: &InsertKey) -> Done {
    let done = match key {
        InsertKey::Key(key) => typing::key(exec, *key),
        InsertKey::Text(text) => typing::literal(exec, text),
        InsertKey::Completion { removed, text } => typing::completion(exec, *removed, text),
    };
    match done {
        Err(Error::Beep) => Ok(()),
        done => done,
    }
}

/// Adds a key to those that `.` and a count repeat.
fn record(exec: &mut Exec, key: InsertKey) {
    if let Some(insert) = &mut exec.vim.insert {
        insert.record.push(key);
    }
}

/// Leaves insert mode for one command.
fn interrupt(exec: &mut Exec) {
    finish::close_session(exec);
    exec.close_step();
    exec.vim.state = State::Normal;
    exec.vim.is_insert_normal = true;
}

/// Joins the line of the caret to the one before; for backspace at the start of a line.
fn join_to_previous(exec: &mut Exec) -> Done {
    let at = exec.pos();
    let row = at.row.checked_sub(1).ok_or(Error::Beep)?;
    let end = Pos::new(row, exec.lines.len(row));
    let active = exec.vim.active;
    let place = exec.vim.insert.as_ref().map(|insert| insert.place(active));
    exec.replace(end, Pos::new(at.row, 0), "")?;
    exec.set_pos(end);
    if let (Some(insert), Some((start, limit))) = (&mut exec.vim.insert, place) {
        insert.has_auto_indent = false;
        insert.set_place(
            active,
            (start.min(end), limit.filter(|limit| limit.row < at.row)),
        );
    }
    Ok(())
}

/// Whether lines can be joined behind the caret.
fn join_next(exec: &mut Exec) -> Done {
    let at = exec.pos();
    join::join(exec, at.row, 2, false)?;
    exec.set_pos(at);
    Ok(())
}
