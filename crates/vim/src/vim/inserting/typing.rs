//! Keys that insert or remove text.
//!
//! Start at `key`.

use base::Span;
use text::{Edit, Selection, SelectionSet};

use super::removing;
use super::session::ReplacedChar;
use crate::chars;
use crate::error::{Done, Error};
use crate::key::Key;
use crate::lines::{Pos, cells_of, indent_len, next_grapheme};
use crate::vim::exec::Exec;
use crate::vim::{Caret, State};

/// Carries out a key that changes text. A key without a meaning does nothing.
pub(super) fn key(exec: &mut Exec, key: Key) -> Done {
    match key {
        Key::Char(char) => char_key(exec, char),
        Key::Enter | Key::Ctrl('j') => enter(exec),
        Key::Tab => exec.each_caret(tab),
        Key::Backspace => exec.each_caret(removing::backspace),
        Key::Delete => exec.each_caret(removing::delete),
        Key::Ctrl('w') => exec.each_caret(removing::word),
        Key::Ctrl('u') => exec.each_caret(removing::to_start),
        Key::Ctrl('t') => exec.each_caret(|exec| shift(exec, 1)),
        Key::Ctrl('d') => exec.each_caret(unshift),
        Key::Ctrl('e') => exec.each_caret(|exec| copy_char(exec, 1)),
        Key::Ctrl('y') => exec.each_caret(|exec| copy_char(exec, -1)),
        Key::Ctrl('a') => {
            let text = exec.globals.registers.inserted.clone();
            literal(exec, &text)
        }
        _ => Ok(()),
    }
}

fn char_key(exec: &mut Exec, char: char) -> Done {
    if let State::Replace { is_virtual } = exec.vim.state {
        return exec.each_caret(|exec| replace_char(exec, char, is_virtual));
    }
    let mut buffer = [0; 4];
    let text = char.encode_utf8(&mut buffer);
    insert_typed(exec, text)?;
    if exec.globals.options.text_width > 0 && !chars::is_blank(char) {
        exec.each_caret(wrap)?;
    }
    Ok(())
}

/// Breaks the line as the editor plans it, or with the indentation of the options.
fn enter(exec: &mut Exec) -> Done {
    if exec.vim.state != State::Insert || !is_planned(exec, "\n")? {
        return exec.each_caret(line_break);
    }
    let at = exec.pos();
    let is_blank = at.col > 0 && exec.lines.is_blank(at.row);
    if let Some(insert) = &mut exec.vim.insert {
        insert.has_auto_indent = is_blank;
    }
    Ok(())
}

/// Inserts typed text, with what the editor adds to it.
fn insert_typed(exec: &mut Exec, text: &str) -> Done {
    if is_planned(exec, text)? {
        return Ok(());
    }
    literal(exec, text)
}

/// Inserts typed text as the editor plans it. Returns `false` if it has no plan.
fn is_planned(exec: &mut Exec, text: &str) -> Done<bool> {
    let carets = SelectionSet::new(
        exec.vim
            .carets
            .iter()
            .map(|caret| Selection::caret(exec.lines.offset(caret.pos)))
            .collect(),
        exec.vim.primary,
    );
    if let Some((edits, after)) = exec.host.plan_typing(&carets, text) {
        forget_auto_indent(exec);
        exec.edit_at_carets(edits)?;
        for (caret, selection) in exec.vim.carets.iter_mut().zip(after.iter()) {
            *caret = Caret::at(exec.lines.pos(selection.head));
        }
        return Ok(true);
    }
    Ok(false)
}

/// Inserts a text at every caret as it is.
pub(super) fn literal(exec: &mut Exec, text: &str) -> Done {
    forget_auto_indent(exec);
    let at = |caret: &Caret| exec.lines.offset(caret.pos);
    let edits = exec
        .vim
        .carets
        .iter()
        .map(|caret| Edit::new(Span::at(at(caret)), text))
        .collect();
    exec.edit_at_carets(edits)?;
    for caret in &mut exec.vim.carets {
        caret.want = crate::vim::Want::Here;
    }
    Ok(())
}

/// Puts a completion in place of characters before every caret.
pub(super) fn completion(exec: &mut Exec, removed: usize, text: &str) -> Done {
    exec.each_caret(|exec| {
        let at = exec.pos();
        let line = exec.lines.line(at.row);
        let mut start = at.col;
        for _ in 0..removed {
            start = crate::lines::prev_grapheme(&line, start);
        }
        let from = Pos::new(at.row, start);
        exec.replace(from, at, text)?;
        exec.set_pos(crate::vim::put::behind_text(from, text));
        Ok(())
    })
}

fn forget_auto_indent(exec: &mut Exec) {
    if let Some(insert) = &mut exec.vim.insert {
        insert.has_auto_indent = false;
    }
}

/// Breaks the line, and indents the new one.
fn line_break(exec: &mut Exec) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row).into_owned();
    let options = &exec.globals.options;
    let mut from = at.col;
    let mut to = at.col;
    let mut indent = String::new();
    if options.auto_indent {
        let own = indent_len(&line).min(at.col.max(indent_len(&line[..at.col])));
        let cells = cells_of(&line, own, options.tab_width).0;
        indent = options.indent_text(cells);
        to += indent_len(&line[at.col..]);
        let is_only_indent = exec
            .vim
            .insert
            .as_ref()
            .is_some_and(|it| it.has_auto_indent);
        if is_only_indent {
            from = line[..at.col].trim_end_matches([' ', '\t']).len();
        }
    }
    let active = exec.vim.active;
    let places = exec.vim.insert.as_ref().map(|insert| insert.place(active));
    exec.replace(
        Pos::new(at.row, from),
        Pos::new(at.row, to),
        &format!("\n{indent}"),
    )?;
    if let (Some(insert), Some(places)) = (&mut exec.vim.insert, places) {
        insert.set_place(active, places);
    }
    let row = at.row + 1;
    let mut col = indent.len();
    if exec.globals.options.auto_indent
        && let Some(by_language) = exec.host.indent_for(row)
        && by_language != indent
    {
        exec.replace(Pos::new(row, 0), Pos::new(row, col), &by_language)?;
        col = by_language.len();
    }
    if let Some(insert) = &mut exec.vim.insert {
        insert.has_auto_indent = exec.globals.options.auto_indent;
    }
    exec.set_pos(Pos::new(row, col));
    Ok(())
}

/// Inserts a tab, or blanks up to the next stop.
fn tab(exec: &mut Exec) -> Done {
    forget_auto_indent(exec);
    let at = exec.pos();
    let line = exec.lines.line(at.row).into_owned();
    let cell = cells_of(&line, at.col, exec.lines.tab_width()).0;
    let in_indent = indent_len(&line) >= at.col;
    let options = &exec.globals.options;
    let stop = if in_indent {
        options.level()
    } else {
        options.tab_width.max(1)
    };
    let target = cell + stop - cell % stop;
    let takes_tab = !options.expand_tab && (!in_indent || stop == options.tab_width);
    let blanks = if takes_tab {
        "\t".to_owned()
    } else {
        " ".repeat((target - cell) as usize)
    };
    if matches!(exec.vim.state, State::Replace { .. }) {
        return replace_with_blanks(exec, &blanks);
    }
    if takes_tab || options.expand_tab {
        exec.insert_at(at, &blanks)?;
        exec.set_pos(Pos::new(at.row, at.col + blanks.len()));
        return Ok(());
    }
    let indent = options.indent_text(target);
    exec.replace(Pos::new(at.row, 0), at, &indent)?;
    exec.set_pos(Pos::new(at.row, indent.len()));
    Ok(())
}

/// Replaces one character by blanks.
fn replace_with_blanks(exec: &mut Exec, blanks: &str) -> Done {
    let mut blanks = blanks.chars();
    if let Some(first) = blanks.next() {
        replace_char(exec, first, false)?;
    }
    for blank in blanks {
        let at = exec.pos();
        exec.insert_at(at, &blank.to_string())?;
        note_replaced(exec, String::new(), 1);
        exec.set_pos(Pos::new(at.row, at.col + 1));
    }
    Ok(())
}

/// Keeps a replaced text, so that backspace restores it.
fn note_replaced(exec: &mut Exec, old: String, new_len: usize) {
    let active = exec.vim.active;
    if let Some(insert) = &mut exec.vim.insert
        && let Some(stack) = insert.replaced.get_mut(active)
    {
        stack.push(ReplacedChar { old, new_len });
    }
}

/// Replaces the character at the caret, or appends at the end of the line.
fn replace_char(exec: &mut Exec, char: char, is_virtual: bool) -> Done {
    forget_auto_indent(exec);
    let at = exec.pos();
    let line = exec.lines.line(at.row);
    let mut end = next_grapheme(&line, at.col);
    if is_virtual && line[at.col..].starts_with('\t') {
        // A tab that covers more cells than the character stays.
        let (start, behind) = cells_of(&line, at.col, exec.lines.tab_width());
        if behind - start > chars::cells(char, start, exec.lines.tab_width()) {
            end = at.col;
        }
    }
    let old = line[at.col..end].to_owned();
    exec.replace(at, Pos::new(at.row, end), &char.to_string())?;
    note_replaced(exec, old, char.len_utf8());
    exec.set_pos(Pos::new(at.row, at.col + char.len_utf8()));
    Ok(())
}

/// Moves the line by a level, rounded, and the caret with its text.
fn shift(exec: &mut Exec, levels: i64) -> Done {
    let row = exec.pos().row;
    let level = i64::from(exec.globals.options.level());
    let cells = i64::from(exec.lines.indent_cells(row));
    let base = if levels < 0 {
        (cells + level - 1) / level
    } else {
        cells / level
    };
    set_indent(exec, ((base + levels) * level).max(0) as u32)
}

/// Moves the line back by a level; after a typed `0` or `^`, to the left edge.
fn unshift(exec: &mut Exec) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row).into_owned();
    let before = &line[..at.col];
    let sign = before
        .chars()
        .next_back()
        .filter(|char| matches!(char, '0' | '^'));
    let is_alone = sign.is_some() && before[..before.len() - 1].chars().all(chars::is_blank);
    if !is_alone {
        return shift(exec, -1);
    }
    exec.replace(Pos::new(at.row, 0), at, "")?;
    exec.set_pos(Pos::new(at.row, 0));
    Ok(())
}

/// Sets the indentation of the caret's line; the caret stays with its text.
fn set_indent(exec: &mut Exec, cells: u32) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row);
    let old = indent_len(&line);
    let Some(edit) = crate::vim::indent::indent_edit(exec, at.row, cells) else {
        return Ok(());
    };
    let new = edit.text.len();
    exec.edit(vec![edit])?;
    let col = if at.col >= old {
        at.col - old + new
    } else {
        at.col.min(new)
    };
    exec.set_pos(Pos::new(at.row, col));
    Ok(())
}

/// Inserts the character of the line below or above at the caret's cell.
fn copy_char(exec: &mut Exec, by: i64) -> Done {
    let at = exec.pos();
    let row = i64::from(at.row) + by;
    if row < 0 || row > i64::from(exec.lines.last()) {
        return Err(Error::Beep);
    }
    let cell = exec.lines.cells(at).0;
    let col = exec.lines.col_at_cell(row as u32, cell);
    let char = exec
        .lines
        .char_at(Pos::new(row as u32, col))
        .ok_or(Error::Beep)?;
    forget_auto_indent(exec);
    if matches!(exec.vim.state, State::Replace { .. }) {
        return replace_char(exec, char, false);
    }
    exec.insert_at(at, &char.to_string())?;
    exec.set_pos(Pos::new(at.row, at.col + char.len_utf8()));
    Ok(())
}

/// Breaks the caret's line where it passes the text width, at the last blank before it.
fn wrap(exec: &mut Exec) -> Done {
    let width = exec.globals.options.text_width;
    loop {
        let at = exec.pos();
        let line = exec.lines.line(at.row).into_owned();
        let tab_width = exec.lines.tab_width();
        if cells_of(&line, at.col, tab_width).0 <= width {
            return Ok(());
        }
        let indent = indent_len(&line);
        let fits = |ix: usize| cells_of(&line, ix, tab_width).0 <= width;
        let mut blanks = line[..at.col]
            .char_indices()
            .filter(|(ix, char)| *ix > indent && chars::is_blank(*char) && fits(*ix));
        let first_behind = || {
            line[..at.col]
                .char_indices()
                .find(|(ix, char)| *ix > indent && chars::is_blank(*char))
        };
        let Some((blank, _)) = blanks.next_back().or_else(first_behind) else {
            return Ok(());
        };
        let from = line[..blank].trim_end_matches([' ', '\t']).len();
        let to = blank + indent_len(&line[blank..]);
        if to > at.col {
            return Ok(());
        }
        let lead = if exec.globals.options.auto_indent {
            &line[..indent]
        } else {
            ""
        };
        let text = format!("\n{lead}");
        exec.replace(Pos::new(at.row, from), Pos::new(at.row, to), &text)?;
        exec.set_pos(Pos::new(at.row + 1, lead.len() + at.col - to));
    }
}
