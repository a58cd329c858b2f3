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
    let old: Vec<String> = (first..=last)
        .map(|row| exec.lines.line(row).into_owned())
        .collect();
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
            let at = followed(first, &old, &new, pos);
            let at = exec.lines.clamp(at, false);
            exec.set_pos(at);
        }
        // After a motion that ended in the line before its own, `.` goes on with the next lines.
        None => exec.set_row(end + u32::from(region.is_adjusted)),
    }
    Ok(())
}

/// The place of a position in formatted lines: at the same character, because only blanks change.
fn followed(first: u32, old: &[String], new: &[String], pos: Pos) -> Pos {
    let is_text = |char: &char| !chars::is_blank(*char);
    if pos.row < first || old == new {
        return pos;
    }
    let row = (pos.row - first) as usize;
    let from_end = |row: usize| (new.len() + row).saturating_sub(old.len()) as u32;
    let Some(line) = old
        .get(row)
        .filter(|line| line.chars().any(|char| is_text(&char)))
    else {
        // Lines behind and blank ones keep their distance from the end.
        return Pos::new(first + from_end(row), pos.col);
    };
    let before: usize = old[..row]
        .iter()
        .map(|line| line.chars().filter(is_text).count())
        .sum();
    let own = &line[..pos.col.min(line.len())];
    let blanks = own.len() - own.trim_end_matches([' ', '\t']).len();
    let is_on_text = line[own.len()..]
        .chars()
        .next()
        .is_some_and(|char| is_text(&char));
    // The character at the caret, or else the one before its blanks; in an indentation, the first.
    let is_in_indent = own.len() == blanks && !is_on_text;
    let target =
        before + own.chars().filter(is_text).count() + usize::from(is_on_text || is_in_indent);
    if target == 0 {
        return pos;
    }
    let mut seen = 0;
    for (ix, line) in new.iter().enumerate() {
        for (col, char) in line.char_indices().filter(|(_, char)| is_text(char)) {
            seen += 1;
            if seen == target && is_in_indent {
                let starts_line = line[..col].chars().all(chars::is_blank);
                // In a joined line, the blank before the text.
                let col = if starts_line {
                    col.min(pos.col)
                } else {
                    col - 1
                };
                return Pos::new(first + ix as u32, col);
            }
            if seen == target {
                let behind = if is_on_text {
                    0
                } else {
                    char.len_utf8() + blanks
                };
                return Pos::new(first + ix as u32, col + behind);
            }
        }
    }
    pos
}

/// The part of a line that is repeated on each line of a comment: a marker with the blanks around
/// it.
fn leader<'t>(line: &'t str, markers: &[String]) -> Option<&'t str> {
    let indent = indent_len(line);
    let rest = &line[indent..];
    let marker = markers
        .iter()
        .find(|marker| rest.starts_with(marker.as_str()))?;
    let behind = &rest[marker.len()..];
    let blanks = indent_len(behind);
    Some(&line[..indent + marker.len() + blanks])
}

/// A paragraph under construction: joined lines.
struct JoinedLines {
    /// The marker of the comment, without blanks.
    marker: String,
    text: String,
    /// The start of each broken line: that of the second line, or else of the first.
    lead: String,
}

fn formatted(exec: &Exec, lines: &[String]) -> Vec<String> {
    let markers: Vec<String> = exec
        .host
        .comment_markers(0)
        .into_iter()
        .filter(|(_, close)| close.is_empty())
        .map(|(open, _)| open.trim().to_owned())
        .chain(["//", "#", ">", "%"].map(str::to_owned))
        .collect();
    let mut new = Vec::new();
    let mut paragraph: Option<JoinedLines> = None;
    for line in lines {
        let lead = leader(line, &markers);
        let body = &line[lead.map_or(0, str::len)..];
        if body.trim_matches([' ', '\t']).is_empty() {
            new.extend(
                paragraph
                    .take()
                    .into_iter()
                    .flat_map(|joined| broken(exec, &joined)),
            );
            new.push(line.clone());
            continue;
        }
        let marker = lead.unwrap_or_default().trim().to_owned();
        match &mut paragraph {
            Some(joined) if joined.marker == marker => {
                joined.add(line, lead);
            }
            _ => {
                new.extend(
                    paragraph
                        .take()
                        .into_iter()
                        .flat_map(|joined| broken(exec, &joined)),
                );
                let line = &retabbed(exec, line);
                let start = leader(line, &markers).map_or(indent_len(line), str::len);
                paragraph = Some(JoinedLines {
                    marker,
                    text: line.clone(),
                    lead: line[..start].to_owned(),
                });
            }
        }
    }
    new.extend(
        paragraph
            .into_iter()
            .flat_map(|joined| broken(exec, &joined)),
    );
    new
}

/// A line whose indentation has the tabs and spaces of the options.
fn retabbed(exec: &Exec, line: &str) -> String {
    let indent = indent_len(line);
    let cells = crate::lines::cells_of(line, indent, exec.lines.tab_width()).0;
    exec.globals.options.indent_text(cells) + &line[indent..]
}

impl JoinedLines {
    /// Joins another line with one blank, as `J` does.
    fn add(&mut self, line: &str, lead: Option<&str>) {
        let start = lead.map_or(indent_len(line), str::len);
        let text = line[start..].trim_start_matches([' ', '\t']);
        let ends_blank = self.text.ends_with([' ', '\t']);
        if !ends_blank && !text.starts_with(')') {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }
}

/// Breaks a paragraph into lines.
fn broken(exec: &Exec, joined: &JoinedLines) -> Vec<String> {
    let limit = match exec.globals.options.text_width {
        0 => DEFAULT_WIDTH,
        width => width,
    };
    let tab_width = exec.lines.tab_width();
    let mut lines = Vec::new();
    let mut rest = joined.text.clone();
    while let Some((end, start)) = break_of(&rest, limit, tab_width, joined.lead.len()) {
        lines.push(rest[..end].to_owned());
        rest = joined.lead.clone() + &rest[start..];
    }
    lines.push(rest);
    lines
}

/// The end of the first line of a text that is too long, and the start of the rest. `None` for a
/// text that fits or has no blank to break at.
fn break_of(text: &str, limit: u32, tab_width: u32, lead: usize) -> Option<(usize, usize)> {
    let mut cell = 0;
    let mut found = None;
    for (ix, char) in text.char_indices() {
        if chars::is_blank(char) && ix > lead {
            let end = text[..ix].trim_end_matches([' ', '\t']).len();
            let start = ix + indent_len(&text[ix..]);
            let fits = cell <= limit;
            if end > lead && start < text.len() && (fits || found.is_none()) {
                found = Some((end, start));
            }
        }
        cell += chars::cells(char, cell, tab_width);
        let is_long = cell > limit && !chars::is_blank(char);
        if is_long && found.is_some() {
            return found;
        }
    }
    None
}
