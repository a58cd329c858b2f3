//! Case, `g?` and `r`.

use text::Edit;

use super::block;
use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::command::Operator;
use crate::error::{Done, Error};
use crate::lines::{Pos, next_grapheme};

/// Maps each character of a text.
fn mapped(text: &str, operator: &Operator) -> String {
    text.chars()
        .flat_map(|char| letters(char, operator))
        .collect()
}

fn letters(char: char, operator: &Operator) -> Vec<char> {
    match operator {
        Operator::LowerCase => char.to_lowercase().collect(),
        Operator::UpperCase => upper(char),
        Operator::SwapCase if char.is_uppercase() => char.to_lowercase().collect(),
        Operator::SwapCase => upper(char),
        Operator::Rot13 => vec![rot13(char)],
        _ => vec![char],
    }
}

/// The upper-case letter; one that has none or several stays, except for the sharp s.
fn upper(char: char) -> Vec<char> {
    if char == 'ß' {
        return vec!['ẞ'];
    }
    let upper: Vec<char> = char.to_uppercase().collect();
    if upper.len() == 1 { upper } else { vec![char] }
}

fn rot13(char: char) -> char {
    let turned = |base: u8| char::from((char as u8 - base + 13) % 26 + base);
    match char {
        'a'..='z' => turned(b'a'),
        'A'..='Z' => turned(b'A'),
        _ => char,
    }
}

/// Changes the case of a text (`gu`, `gU`, `g~`, `g?`).
pub(super) fn change(exec: &mut Exec, operator: &Operator, region: &Region) -> Done {
    let mut region = *region;
    if region.is_empty() && region.start.col == 0 {
        // Vim goes back by a character to exclude it: it takes the rest of the line, or the first
        // character of the text, before which there is none.
        region.end = if region.start.row == 0 {
            exec.lines.behind(region.start)
        } else {
            Pos::new(region.start.row, exec.lines.len(region.start.row))
        };
    }
    let last = region.last(&exec.lines);
    exec.note_rows(region.start.row, region.end.row);
    if let RegionShape::Block(cells) = region.shape {
        block::map(exec, region.start.row, region.end.row, cells, |text| {
            mapped(text, operator)
        })?;
        let at = exec.lines.clamp(region.caret, false);
        exec.set_pos(at);
    } else {
        map_lines(exec, &region, |text| mapped(text, operator))?;
        exec.set_pos(region.caret);
    }
    exec.set_change_marks(region.start, last);
    Ok(())
}

/// Maps the parts of lines in a text.
fn map_lines(exec: &mut Exec, region: &Region, map: impl Fn(&str) -> String) -> Done {
    let mut edits = Vec::new();
    for row in region.start.row..=region.end.row {
        let line = exec.lines.line(row);
        let is_part = region.shape == RegionShape::Chars;
        let from = if is_part && row == region.start.row {
            region.start.col
        } else {
            0
        };
        let to = if is_part && row == region.end.row {
            region.end.col
        } else {
            line.len()
        };
        let Some(old) = line.get(from..to.min(line.len())) else {
            continue;
        };
        let new = map(old);
        if new != old {
            let span = exec.lines.span(Pos::new(row, from), Pos::new(row, to));
            edits.push(Edit::new(span, new));
        }
    }
    exec.edit(edits)
}

/// Swaps the case of characters at the caret and moves on (`~`).
pub(super) fn swap_here(exec: &mut Exec, count: u32) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row);
    if line.is_empty() {
        return Err(Error::Beep);
    }
    let mut end = at.col;
    for _ in 0..count {
        if end >= line.len() {
            break;
        }
        end = next_grapheme(&line, end);
    }
    let old = line[at.col..end].to_owned();
    let new = mapped(&old, &Operator::SwapCase);
    let to = Pos::new(at.row, at.col + new.len());
    if new != old {
        exec.replace(at, Pos::new(at.row, end), &new)?;
    }
    exec.set_change_marks(at, to);
    exec.set_pos(to);
    Ok(())
}

/// Replaces characters at the caret by one (`r`); Enter breaks the line.
pub(super) fn replace_here(exec: &mut Exec, char: char, count: u32) -> Done {
    let at = exec.pos();
    let line = exec.lines.line(at.row);
    let mut end = at.col;
    for _ in 0..count {
        if end >= line.len() {
            return Err(Error::Beep);
        }
        end = next_grapheme(&line, end);
    }
    if char == '\r' {
        return break_line(exec, at, end);
    }
    let text: String = std::iter::repeat_n(char, count as usize).collect();
    exec.replace(at, Pos::new(at.row, end), &text)?;
    let last = Pos::new(at.row, at.col + text.len() - char.len_utf8());
    exec.set_change_marks(at, last);
    exec.set_pos(last);
    Ok(())
}

fn break_line(exec: &mut Exec, at: Pos, end: usize) -> Done {
    let line = exec.lines.line(at.row).into_owned();
    let indent = if exec.globals.options.auto_indent {
        let indent = crate::lines::indent_len(&line).min(at.col);
        line[..indent].to_owned()
    } else {
        String::new()
    };
    let behind = &line[end..];
    let blanks = if exec.globals.options.auto_indent {
        crate::lines::indent_len(behind)
    } else {
        0
    };
    let to = Pos::new(at.row, end + blanks);
    exec.replace(at, to, &format!("\n{indent}"))?;
    let landing = Pos::new(at.row + 1, indent.len());
    exec.set_change_marks(at, landing);
    exec.set_pos(landing);
    Ok(())
}

/// Replaces each character of a selection by one; line breaks stay.
pub(super) fn replace_region(exec: &mut Exec, char: char, region: &Region) -> Done {
    let last = region.last(&exec.lines);
    if let RegionShape::Block(cells) = region.shape {
        if char == '\r' {
            return Err(Error::Beep);
        }
        exec.note_rows(region.start.row, region.end.row);
        block::replace(exec, region.start.row, region.end.row, cells, char)?;
        exec.set_change_marks(region.caret, last);
        return Ok(());
    }
    exec.set_pos(region.start);
    exec.note_rows(region.start.row, region.end.row);
    map_lines(exec, region, |text| {
        let mut new = String::new();
        let mut at = 0;
        while at < text.len() {
            at = next_grapheme(text, at);
            new.push(if char == '\r' { '\n' } else { char });
        }
        new
    })?;
    exec.set_change_marks(region.start, last);
    exec.set_pos(region.start);
    Ok(())
}
