//! Formatting paragraphs (`gq`, `gw`) to the width of the options.

use text::Edit;

use super::exec::Exec;
use super::region::Region;
use crate::chars;
use crate::error::Done;
use crate::lines::{Pos, indent_len};

/// Width of lines where the option says 0.
const DEFAULT_WIDTH: u32 = 79;

/// Joins the lines of each paragraph and breaks them at the width. The caret goes to the last line,
/// or keeps its place.
pub(super) fn format(exec: &mut Exec, region: &Region, keeps: Option<Pos>) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    let old: Vec<String> = (first..=last).map(|row| exec.lines.line(row).into_owned()).collect();
    let new = formatted(exec, &old);
    let rows = new.len() as u32;
    if new != old {
        let span = Region::lines(first, last).span(&exec.lines);
        exec.edit(vec![Edit::new(span, new.join("\n"))])?;
    }
    let end = first + rows.saturating_sub(1);
    exec.set_change_marks(Pos::new(first, 0), Pos::new(end, 0));
    match keeps {
        Some(pos) => {
            let at = exec.lines.clamp(pos, false);
            exec.set_pos(at);
        }
        None => exec.set_row(end),
    }
    Ok(())
}

/// The part of a line that is repeated on each line of a comment.
fn leader<'t>(line: &'t str, markers: &[String]) -> &'t str {
    let indent = indent_len(line);
    let rest = &line[indent..];
    let marker = markers.iter().find(|marker| rest.starts_with(marker.as_str()));
    let Some(marker) = marker else {
        return &line[..indent];
    };
    let behind = &rest[marker.len()..];
    let blanks = indent_len(behind);
    &line[..indent + marker.len() + blanks]
}

fn formatted(exec: &Exec, lines: &[String]) -> Vec<String> {
    let markers: Vec<String> = exec
        .host
        .comment_markers(0)
        .into_iter()
        .filter(|(_, close)| close.is_empty())
        .map(|(open, _)| open.trim().to_owned())
        .chain(["//", "#", ">", "*"].map(str::to_owned))
        .collect();
    let mut new = Vec::new();
    let mut paragraph: Option<(String, Vec<&str>)> = None;
    for line in lines {
        let lead = leader(line, &markers);
        let text = &line[lead.len()..];
        if text.trim().is_empty() {
            flush(exec, paragraph.take(), &mut new);
            new.push(line.clone());
            continue;
        }
        match &mut paragraph {
            // A different marker begins a paragraph; a different indentation does not.
            Some((first, words)) if first.trim() == lead.trim() => {
                words.extend(text.split([' ', '\t']).filter(|word| !word.is_empty()));
            }
            _ => {
                flush(exec, paragraph.take(), &mut new);
                let words = text.split([' ', '\t']).filter(|word| !word.is_empty());
                paragraph = Some((lead.to_owned(), words.collect()));
            }
        }
    }
    flush(exec, paragraph, &mut new);
    new
}

/// Breaks a paragraph into lines.
fn flush(exec: &Exec, paragraph: Option<(String, Vec<&str>)>, new: &mut Vec<String>) {
    let Some((lead, words)) = paragraph else {
        return;
    };
    let limit = match exec.globals.options.text_width {
        0 => DEFAULT_WIDTH,
        width => width,
    };
    let tab_width = exec.lines.tab_width();
    let cells = |text: &str, from: u32| {
        text.chars().fold(from, |cell, char| cell + chars::cells(char, cell, tab_width))
    };
    let mut line = lead.clone();
    let mut is_empty = true;
    for word in words {
        let glue = if is_empty { "" } else { " " };
        let width = cells(word, cells(glue, cells(&line, 0)));
        if width > limit && !is_empty {
            new.push(std::mem::replace(&mut line, lead.clone()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    new.push(line);
}
