//! Marks: setting them, and motions to them and through the lists of jumps and changes.

use base::Point;

use super::exec::Exec;
use super::moving;
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::globals::FileMark;
use crate::host::FileName;
use crate::lines::Pos;
use crate::motion::Moved;

/// Sets a mark at the caret (`m`).
pub(super) fn set(exec: &mut Exec, name: char) -> Done {
    let pos = exec.pos();
    set_at(exec, name, pos)
}

/// Sets a mark at a position.
pub(super) fn set_at(exec: &mut Exec, name: char, pos: Pos) -> Done {
    match name {
        'a'..='z' => {
            exec.vim.marks.named.insert(name, pos);
        }
        'A'..='Z' => {
            let path = exec.host.file_name(FileName::Current);
            exec.globals.marks.insert(name, FileMark { path, pos });
        }
        '\'' | '`' => {
            exec.vim.marks.previous = pos;
            exec.vim.marks.jumps.push(pos);
        }
        '[' => exec.vim.marks.start = Some(pos),
        ']' => exec.vim.marks.end = Some(pos),
        '<' | '>' => {
            let Some(visual) = &mut exec.vim.visual else {
                return Err(Error::Beep);
            };
            if (name == '<') == (visual.anchor <= visual.head) {
                visual.anchor = pos;
            } else {
                visual.head = pos;
            }
        }
        _ => return Err(Error::Beep),
    }
    Ok(())
}

/// The place of a mark in this text.
pub(super) fn place(exec: &Exec, name: char) -> Done<Pos> {
    let marks = &exec.vim.marks;
    let visual = exec.vim.visual;
    let found = match name {
        'a'..='z' => marks.named.get(&name).copied(),
        '\'' | '`' => Some(marks.previous),
        '"' => Some(Pos::default()),
        '[' => marks.start,
        ']' => marks.end,
        '.' => marks.change,
        '^' => marks.insertion,
        '<' => visual.map(|visual| {
            let start = visual.anchor.min(visual.head);
            if visual.shape == crate::command::VisualShape::Lines {
                Pos::new(start.row, 0)
            } else {
                start
            }
        }),
        '>' => visual.map(|visual| {
            let end = visual.anchor.max(visual.head);
            if visual.shape == crate::command::VisualShape::Lines {
                Pos::new(end.row, usize::MAX)
            } else {
                end
            }
        }),
        _ => None,
    };
    let pos = found.ok_or(Error::MarkNotSet(name))?;
    Ok(exec.lines.clamp(pos, true))
}

/// Goes to a mark. One in another file is left to the host.
pub(super) fn motion(exec: &mut Exec, name: char, to_line: bool, keeps_jumps: bool) -> Done<Moved> {
    if name.is_ascii_uppercase() || name.is_ascii_digit() {
        return file_mark(exec, name, to_line, keeps_jumps);
    }
    if matches!(name, '(' | ')' | '{' | '}') {
        return edge_of_text(exec, name, to_line);
    }
    let pos = place(exec, name)?;
    Ok(to_mark(exec, pos, to_line, keeps_jumps))
}

fn to_mark(exec: &Exec, pos: Pos, to_line: bool, keeps_jumps: bool) -> Moved {
    let past_end = exec.may_pass_end();
    let pos = exec.lines.clamp(pos, past_end);
    let moved = if to_line {
        Moved::lines(Pos::new(pos.row, exec.lines.first_non_blank(pos.row)))
    } else {
        Moved::exclusive(pos)
    };
    Moved {
        is_jump: !keeps_jumps,
        ..moved.to_first_register()
    }
}

/// Goes to the start or the end of a sentence or a paragraph (`'(`).
fn edge_of_text(exec: &mut Exec, name: char, to_line: bool) -> Done<Moved> {
    use crate::motion::{Motion, paragraphs, sentences};
    let is_forward = matches!(name, ')' | '}');
    let is_sentence = matches!(name, '(' | ')');
    let motion = if is_sentence {
        Motion::Sentence { is_forward }
    } else {
        Motion::Paragraph { is_forward }
    };
    let at = exec.pos();
    let to = match motion {
        Motion::Sentence { .. } => sentences::travel(&exec.lines, at, 1, is_forward),
        _ => paragraphs::travel(&exec.lines, at, 1, is_forward, None, false).map(|end| end.pos),
    };
    Ok(to_mark(exec, to.ok_or(Error::Beep)?, to_line, false))
}

fn file_mark(exec: &mut Exec, name: char, to_line: bool, keeps_jumps: bool) -> Done<Moved> {
    let mark = exec.globals.marks.get(&name).cloned();
    let mark = mark.ok_or(Error::MarkNotSet(name))?;
    if mark.path == exec.host.file_name(FileName::Current) {
        return Ok(to_mark(exec, mark.pos, to_line, keeps_jumps));
    }
    let Some(path) = mark.path else {
        return Err(Error::MarkNotSet(name));
    };
    exec.effect(Effect::OpenMark {
        path,
        point: Point::new(mark.pos.row, mark.pos.col as u32),
    });
    Ok(Moved::exclusive(exec.pos()))
}

/// Goes through the jump list (`Ctrl-O`, `Ctrl-I`). The host goes on in other texts.
pub(super) fn travel_jumps(exec: &mut Exec, count: i64) -> Done {
    let from = exec.pos();
    match exec.vim.marks.jumps.travel(from, count) {
        Ok((pos, adds)) => {
            if adds {
                exec.vim.marks.previous = from;
            }
            let pos = exec.lines.clamp(pos, false);
            exec.set_pos(pos);
            Ok(())
        }
        Err(left) => {
            exec.effect(Effect::TravelJumps {
                is_forward: count > 0,
                count: left,
            });
            Err(Error::Beep)
        }
    }
}

/// Goes through the change list (`g;`, `g,`).
pub(super) fn travel_changes(exec: &mut Exec, count: i64) -> Done {
    let changes = &mut exec.vim.marks.changes;
    let Some(pos) = changes.travel(count) else {
        return Err(if changes.is_empty() {
            Error::NoChanges
        } else if count < 0 {
            Error::StartOfChanges
        } else {
            Error::EndOfChanges
        });
    };
    let from = exec.pos();
    let pos = exec.lines.clamp(pos, false);
    exec.set_pos(pos);
    if from.row != pos.row {
        moving::note_jump_from(exec, from);
    }
    Ok(())
}
