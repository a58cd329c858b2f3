//! Undo, redo and the states of the undo tree.
//!
//! The caret goes to the changed line as in Vim: to its place before the change if it was there.

use text::Change;

use super::exec::Exec;
use super::{SavedLine, State, StepStart};
use crate::error::{Done, Error};
use crate::host::UndoMove;
use crate::lines::{Lines, Pos};
use crate::marks::PosMap;

/// Undoes steps.
pub(super) fn undo(exec: &mut Exec, count: u32) -> Done {
    travel_times(exec, UndoMove::Undo, count)
}

/// Redoes steps.
pub(super) fn redo(exec: &mut Exec, count: u32) -> Done {
    travel_times(exec, UndoMove::Redo, count)
}

fn travel_times(exec: &mut Exec, to: UndoMove, count: u32) -> Done {
    exec.close_step();
    for round in 0..count {
        match travel(exec, to) {
            Err(error) if round == 0 => return Err(error),
            Err(_) => break,
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Goes to an older or newer state by its number (`g-`, `g+`).
pub(super) fn travel_states(exec: &mut Exec, by: i64) -> Done {
    exec.close_step();
    let target = (i64::from(exec.host.undo_state()) + by).max(0);
    travel(exec, UndoMove::To(target.min(i64::from(u32::MAX)) as u32))
}

/// Goes to a state by its number (`:undo N`).
pub(super) fn travel_to(exec: &mut Exec, state: u32) -> Done {
    exec.close_step();
    travel(exec, UndoMove::To(state))
}

fn travel(exec: &mut Exec, to: UndoMove) -> Done {
    exec.vim.drop_other_carets();
    let before = exec.lines.clone();
    let state = exec.host.undo_state();
    let change = exec.host.travel(to).ok_or(Error::Beep)?;
    exec.refresh();
    exec.vim.is_emptied = false;
    let map = PosMap::new(&before, &exec.lines, &change);
    exec.vim.marks.follow(&map);
    exec.vim.follow_elsewhere(&map, Some(0));
    exec.vim.state = State::Normal;
    // The step between the states: the one left by undo, or the one reached.
    let step = match to {
        UndoMove::Undo => state,
        _ => exec.host.undo_state().max(1),
    };
    let noted = exec.vim.steps.get(&step).copied().unwrap_or_default();
    place_caret(exec, &before, &change, noted);
    Ok(())
}

/// Puts the caret on the first changed line.
fn place_caret(exec: &mut Exec, before: &Lines, change: &Change, step: StepStart) {
    let Some(rows) = changed_rows(before, &exec.lines, change) else {
        return;
    };
    let noted = step.caret;
    exec.set_change_marks(Pos::new(rows.first, 0), Pos::new(rows.last, 0));
    let mut row = rows.first;
    if let Some(noted) = noted {
        // The places from the line above the change to the one below it are taken as they were.
        let (first, last) = step.rows.unwrap_or((rows.first, rows.last));
        let (first, last) = (first.min(rows.first), last.max(rows.last));
        let is_inside = noted.row + 1 >= first && noted.row <= last + 1;
        if is_inside || noted.row + 1 == row {
            row = noted.row;
        }
    }
    let row = row.min(exec.lines.last());
    match noted.filter(|noted| noted.row == row) {
        Some(noted) => {
            let at = exec.lines.clamp(noted, false);
            exec.set_pos(at);
        }
        None => exec.set_row(row),
    }
}

struct ChangedRows {
    first: u32,
    last: u32,
}

/// The changed lines of the new text. Lines that are equal in both at the start do not count.
fn changed_rows(before: &Lines, after: &Lines, change: &Change) -> Option<ChangedRows> {
    let mut all: Option<ChangedRows> = None;
    for splice in &change.splices {
        let old = (
            row_of(before, splice.old.start),
            row_of(before, splice.old.end),
        );
        let new = (
            row_of(after, splice.new.start),
            row_of(after, splice.new.end),
        );
        let mut first = new.0;
        // A change that begins at the end of a line and goes on with a line break concerns the next.
        let at_end = splice.new.start == after.text().row_end(base::Row(first))
            && (old.1 > old.0 || new.1 > new.0);
        if at_end && before.line(old.0) == after.line(first) {
            first += 1;
        }
        let ends_at_start = splice.new.end == after.text().row_start(base::Row(new.1));
        let last = if ends_at_start && new.1 > first {
            new.1 - 1
        } else {
            new.1
        };
        let last = last.max(first);
        all = Some(match all {
            None => ChangedRows { first, last },
            Some(rows) => ChangedRows {
                first: rows.first.min(first),
                last: rows.last.max(last),
            },
        });
    }
    all
}

fn row_of(lines: &Lines, offset: base::ByteOffset) -> u32 {
    lines.text().point_at(offset).row.0
}

/// Undoes the latest changes in one line (`U`), as a change of its own.
pub(super) fn undo_line(exec: &mut Exec) -> Done {
    let saved = exec.vim.saved_line.clone().ok_or(Error::Beep)?;
    if saved.row > exec.lines.last() {
        return Err(Error::Beep);
    }
    let now = exec.lines.line(saved.row).into_owned();
    let (from, to) = (Pos::new(saved.row, 0), Pos::new(saved.row, now.len()));
    exec.replace(from, to, &saved.text)?;
    exec.vim.saved_line = Some(SavedLine {
        row: saved.row,
        text: now,
    });
    exec.set_pos(Pos::new(saved.row, 0));
    Ok(())
}
