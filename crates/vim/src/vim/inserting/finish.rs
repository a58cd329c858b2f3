//! The end of an insertion: counts, blocks, marks, and the memory for `.`.
//!
//! Start at `finish`.

use base::Span;
use text::Edit;

use super::session::{BlockInsertion, InsertSession};
use crate::error::{Done, Error};
use crate::globals::InsertKey;
use crate::lines::{Pos, prev_grapheme};
use crate::vim::exec::Exec;
use crate::vim::{State, visual};

/// Ends insert mode.
pub(super) fn finish(exec: &mut Exec) -> Done {
    let done = repeat_count(exec).and_then(|()| copy_block(exec));
    let block_start = block_start(exec);
    remove_auto_indent(exec)?;
    close_session(exec);
    exec.vim.state = State::Normal;
    for ix in 0..exec.vim.carets.len() {
        exec.vim.active = ix;
        let at = exec.pos();
        let line = exec.lines.line(at.row);
        let col = prev_grapheme(&line, at.col);
        exec.set_pos(Pos::new(at.row, col));
    }
    exec.vim.active = exec.vim.primary;
    if let Some(start) = block_start {
        exec.set_pos(start);
    }
    let primary = exec.vim.carets[exec.vim.primary];
    exec.vim.merge_carets(primary);
    done
}

/// The place of the caret after a block insertion.
fn block_start(exec: &Exec) -> Option<Pos> {
    let insert = exec.vim.insert.as_ref()?;
    if insert.record.is_empty() {
        return None;
    }
    insert.block.as_ref()?.caret
}

/// Stores marks and the inserted text, without moving carets.
pub(super) fn close_session(exec: &mut Exec) {
    let Some(insert) = exec.vim.insert.take() else {
        return;
    };
    let pos = exec.vim.carets[exec.vim.primary].pos;
    let copied = insert
        .block
        .as_ref()
        .filter(|block| block.caret.is_some() && !insert.record.is_empty());
    let last_row = copied.and_then(|block| block.rows.last().copied());
    let start = insert.starts.get(exec.vim.primary).copied().unwrap_or(pos);
    exec.set_change_marks(start, Pos::new(last_row.unwrap_or(pos.row), pos.col));
    exec.vim.marks.insertion = Some(pos);
    remember(exec, insert);
}

/// Keeps what was inserted for `.` and the register `.`.
fn remember(exec: &mut Exec, insert: InsertSession) {
    let text = insert.text();
    if !text.is_empty() {
        exec.globals.registers.inserted = text;
    }
    if exec.is_repeating || insert.is_restarted && insert.record.is_empty() {
        return;
    }
    if let Some(mut origin) = insert.origin {
        origin.inserted = insert.record;
        exec.globals.repeat = Some(origin);
    }
}

/// Maximum number of keys that a count repeats.
const MAX_REPEATED: usize = 200_000;

/// Inserts the text again as often as the count says.
fn repeat_count(exec: &mut Exec) -> Done {
    let Some(insert) = &exec.vim.insert else {
        return Ok(());
    };
    let (count, opened) = (insert.count, insert.opened_above);
    let record: Vec<InsertKey> = insert.record.clone();
    if record.is_empty() && opened.is_none() {
        return Ok(());
    }
    if record.len().max(1).saturating_mul(count as usize) > MAX_REPEATED {
        let sentence = "the count of the insertion is too large";
        return Err(Error::Unsupported(sentence.to_owned()));
    }
    for _ in 1..count {
        if opened.is_some() {
            super::carry_out(exec, &InsertKey::Key(crate::key::Key::Enter))?;
        }
        for key in &record {
            super::carry_out(exec, key)?;
        }
    }
    Ok(())
}

/// Copies the text of a block insertion into the other lines.
fn copy_block(exec: &mut Exec) -> Done {
    let Some(insert) = &exec.vim.insert else {
        return Ok(());
    };
    let Some(block) = insert.block.clone() else {
        return Ok(());
    };
    let Some(start) = insert.limits.get(exec.vim.active).copied().flatten() else {
        return Ok(());
    };
    let at = exec.pos();
    if start.row != at.row || at <= start {
        return Ok(());
    }
    let text = exec
        .lines
        .text()
        .text(exec.lines.span(start, at))
        .into_owned();
    let mut edits = Vec::new();
    for row in &block.rows {
        if let Some(col) = column_for(exec, *row, &block)? {
            let offset = exec.lines.offset(Pos::new(*row, col));
            edits.push(Edit::new(Span::at(offset), text.clone()));
        }
    }
    exec.edit(edits)
}

/// The column of a line at which the text of a block goes in; `None` for a line that is too short.
fn column_for(exec: &mut Exec, row: u32, block: &BlockInsertion) -> Done<Option<usize>> {
    if row > exec.lines.last() {
        return Ok(None);
    }
    let length = exec.lines.len(row);
    if block.to_ends {
        return Ok(Some(length));
    }
    let width = exec.lines.cells(Pos::new(row, length)).0;
    let is_short = width < block.cell;
    if is_short && !block.pads {
        return Ok(None);
    }
    visual::split_at(exec, row, block.cell, block.pads).map(Some)
}

/// Removes an automatic indentation that nothing follows.
fn remove_auto_indent(exec: &mut Exec) -> Done {
    let is_left = exec
        .vim
        .insert
        .as_mut()
        .is_some_and(|it| std::mem::take(&mut it.has_auto_indent));
    if !is_left {
        return Ok(());
    }
    exec.each_caret(|exec| {
        let at = exec.pos();
        let line = exec.lines.line(at.row);
        let text = line[..at.col].trim_end_matches([' ', '\t']).len();
        if text == at.col || at.col < line.len() {
            return Ok(());
        }
        let from = Pos::new(at.row, text);
        exec.replace(from, at, "")?;
        exec.set_pos(from);
        Ok(())
    })
}
