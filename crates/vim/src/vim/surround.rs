//! Surroundings: adding, changing and deleting pairs around a text.

use base::Span;
use text::Edit;

use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::command::{SurroundPair, SurroundTarget};
use crate::error::{Done, Error};
use crate::lines::{Pos, indent_len};
use crate::motion::brackets;
use crate::object::{ObjectRequest, TextObject, enclosing_tag};

/// Puts a pair around a text; around lines, on lines of its own with the text indented.
pub(super) fn add(exec: &mut Exec, region: &Region, pair: &SurroundPair, on_lines: bool) -> Done {
    let start = region.start;
    match region.shape {
        RegionShape::Lines => around_lines(exec, region, pair)?,
        RegionShape::Chars if on_lines => around_chars_on_lines(exec, region, pair)?,
        RegionShape::Chars => {
            let end = without_final_blanks(exec, region);
            let (first, last) = (exec.lines.offset(start), exec.lines.offset(end));
            exec.edit(vec![
                Edit::new(Span::at(first), pair.open.clone()),
                Edit::new(Span::at(last), pair.close.clone()),
            ])?;
        }
        RegionShape::Block(cells) => {
            let mut edits = Vec::new();
            for row in start.row..=region.end.row {
                let line = exec.lines.line(row);
                let part = super::block::BlockPart::of(&line, cells, exec.lines.tab_width());
                if part.from < part.to {
                    let at = |col| Span::at(exec.lines.offset(Pos::new(row, col)));
                    edits.push(Edit::new(at(part.from), pair.open.clone()));
                    edits.push(Edit::new(at(part.to), pair.close.clone()));
                }
            }
            exec.edit(edits)?;
        }
    }
    exec.set_change_marks(start, start);
    if region.shape == RegionShape::Lines {
        exec.set_row(start.row);
    } else {
        exec.set_pos(start);
    }
    Ok(())
}

/// The end of a text without blanks at the end of a line, as after `ysw`.
fn without_final_blanks(exec: &Exec, region: &Region) -> Pos {
    if region.is_visual || region.start.row != region.end.row {
        return region.end;
    }
    let line = exec.lines.line(region.end.row);
    let text = &line[region.start.col..region.end.col.min(line.len())];
    let trimmed = text.trim_end_matches([' ', '\t']);
    if trimmed.is_empty() {
        return region.end;
    }
    Pos::new(region.end.row, region.start.col + trimmed.len())
}

fn around_lines(exec: &mut Exec, region: &Region, pair: &SurroundPair) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    let line = exec.lines.line(first);
    let indent = line[..indent_len(&line)].to_owned();
    let level = exec.globals.options.level();
    let mut edits = Vec::new();
    for row in first..=last {
        let start = Pos::new(row, 0);
        let line = exec.lines.line(row);
        let old = indent_len(&line);
        let mut new = String::new();
        if row == first {
            new = format!("{indent}{}\n", pair.open.trim_end());
        }
        if !line.is_empty() {
            let cells = exec.lines.indent_cells(row) + level;
            new.push_str(&exec.globals.options.indent_text(cells));
        }
        edits.push(Edit::new(exec.lines.span(start, Pos::new(row, old)), new));
    }
    let end = exec.lines.offset(Pos::new(last, exec.lines.len(last)));
    let close = format!("\n{indent}{}", pair.close.trim_start());
    match edits.last_mut() {
        Some(edit) if edit.span.end == end && edit.span.end == edit.span.start => {
            edit.text.push_str(&close);
        }
        _ => edits.push(Edit::new(Span::at(end), close)),
    }
    exec.edit(edits)
}

fn around_chars_on_lines(exec: &mut Exec, region: &Region, pair: &SurroundPair) -> Done {
    let row = region.start.row;
    let line = exec.lines.line(row);
    let indent = line[..indent_len(&line).min(region.start.col)].to_owned();
    let cells = exec.lines.indent_cells(row) + exec.globals.options.level();
    let inner = exec.globals.options.indent_text(cells);
    let text = exec
        .lines
        .text()
        .text(region.span(&exec.lines))
        .into_owned();
    let new = format!(
        "{}\n{inner}{}\n{indent}{}",
        pair.open.trim_end(),
        text.trim(),
        pair.close.trim_start()
    );
    exec.replace(region.start, region.end, &new)
}

/// The bytes of the two sides of a surrounding.
struct SurroundSpans {
    open: Span,
    close: Span,
}

/// Deletes a surrounding (`ds`).
pub(super) fn remove(exec: &mut Exec, target: SurroundTarget, count: u32) -> Done {
    let spans = find(exec, target, count)?;
    let start = exec.lines.pos(spans.open.start);
    exec.edit(vec![Edit::new(spans.open, ""), Edit::new(spans.close, "")])?;
    finish(exec, start);
    Ok(())
}

/// Replaces a surrounding by another (`cs`).
pub(super) fn replace(
    exec: &mut Exec,
    target: SurroundTarget,
    pair: &SurroundPair,
    count: u32,
) -> Done {
    // The blanks inside stay unless the typed bracket asks for its own.
    let target = match target {
        SurroundTarget::Brackets { open, close, .. } if !pair.open.ends_with(' ') => {
            let with_blanks = matches!(
                target,
                SurroundTarget::Brackets {
                    with_blanks: true,
                    ..
                }
            );
            SurroundTarget::Brackets {
                open,
                close,
                with_blanks,
            }
        }
        target => target,
    };
    let spans = find(exec, target, count)?;
    let start = exec.lines.pos(spans.open.start);
    exec.edit(vec![
        Edit::new(spans.open, pair.open.clone()),
        Edit::new(spans.close, pair.close.clone()),
    ])?;
    finish(exec, start);
    Ok(())
}

fn finish(exec: &mut Exec, start: Pos) {
    exec.set_change_marks(start, start);
    let at = exec.lines.clamp(start, false);
    exec.set_pos(at);
}

fn find(exec: &Exec, target: SurroundTarget, count: u32) -> Done<SurroundSpans> {
    match target {
        SurroundTarget::Brackets {
            open,
            close,
            with_blanks,
        } => brackets_around(exec, (open, close), with_blanks, count),
        SurroundTarget::Sign(sign) => signs_around(exec, sign),
        SurroundTarget::Tag => {
            let at = Span::at(exec.lines.offset(exec.pos()));
            let pairs = enclosing_tag(&exec.lines, at);
            let pair = pairs
                .into_iter()
                .nth(count as usize - 1)
                .ok_or(Error::Beep)?;
            Ok(SurroundSpans {
                open: pair.start,
                close: pair.end,
            })
        }
    }
}

fn brackets_around(
    exec: &Exec,
    (open, close): (char, char),
    with_blanks: bool,
    count: u32,
) -> Done<SurroundSpans> {
    let lines = &exec.lines;
    let mut start = exec.pos();
    if lines.char_at(start) == Some(open) {
        start.col += open.len_utf8();
    }
    for _ in 0..count {
        start = brackets::unmatched(lines, start, (open, close), true, false).ok_or(Error::Beep)?;
    }
    let end = brackets::unmatched(lines, start, (close, open), false, true).ok_or(Error::Beep)?;
    let (first, last) = (lines.offset(start), lines.offset(end));
    let mut spans = SurroundSpans {
        open: Span::new(first, first + open.len_utf8()),
        close: Span::new(last, last + close.len_utf8()),
    };
    if with_blanks {
        let inner = lines
            .text()
            .text(Span::new(spans.open.end, spans.close.start));
        let blanks = [' ', '\t'];
        let lead = inner.len() - inner.trim_start_matches(blanks).len();
        let trail = inner.len() - inner.trim_end_matches(blanks).len();
        spans.open.end += lead;
        if lead < inner.len() {
            spans.close.start -= trail;
        }
    }
    Ok(spans)
}

/// The signs around the caret in its line, as a string has them.
fn signs_around(exec: &Exec, sign: char) -> Done<SurroundSpans> {
    let request = ObjectRequest {
        anchor: None,
        head: exec.pos(),
        is_lines: false,
        count: 2,
        is_around: false,
    };
    let selected = TextObject::Quote(sign)
        .select(&exec.lines, &request)
        .map_err(|_| Error::Beep)?;
    let start = exec.lines.offset(selected.anchor);
    let end = exec.lines.offset(selected.head);
    let length = sign.len_utf8();
    Ok(SurroundSpans {
        open: Span::new(start, start + length),
        close: Span::new(end - length, end),
    })
}
