//! Commenting lines out and in (`gc`).

use text::Edit;

use super::exec::Exec;
use super::region::Region;
use crate::error::{Done, Error};
use crate::lines::{Pos, indent_len};
use crate::motion::Extent;
use crate::object::Selected;

/// The markers of a comment, with and without the blanks inside.
struct Markers {
    open: String,
    close: String,
}

impl Markers {
    fn at(exec: &Exec, row: u32) -> Option<Self> {
        let (open, close) = exec.host.comment_markers(row)?;
        Some(Self {
            open: open.trim().to_owned(),
            close: close.trim().to_owned(),
        })
    }

    /// The text between the markers of a commented line, without its indentation.
    fn inside<'t>(&self, text: &'t str) -> Option<&'t str> {
        let inner = text.strip_prefix(&self.open)?;
        let inner = inner.strip_suffix(&self.close)?;
        let inner = inner.strip_prefix(' ').unwrap_or(inner);
        if self.close.is_empty() {
            return Some(inner);
        }
        Some(inner.strip_suffix(' ').unwrap_or(inner))
    }

    fn around(&self, text: &str) -> String {
        if self.close.is_empty() {
            return format!("{} {text}", self.open);
        }
        format!("{} {text} {}", self.open, self.close)
    }
}

/// Comments lines, or uncomments them if all are comments. Blank lines stay as they are.
pub(super) fn toggle(exec: &mut Exec, region: &Region) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    let Some(markers) = Markers::at(exec, first) else {
        let message = "this language has no comments";
        return Err(Error::Unsupported(message.to_owned()));
    };
    let rows: Vec<u32> = (first..=last)
        .filter(|row| !exec.lines.is_blank(*row))
        .collect();
    let is_commented = |row: &u32| {
        let line = exec.lines.line(*row);
        markers.inside(line.trim_start()).is_some()
    };
    let uncomments = rows.iter().all(is_commented);
    let least = rows
        .iter()
        .map(|row| indent_len(&exec.lines.line(*row)))
        .min()
        .unwrap_or(0);
    let mut edits = Vec::new();
    for row in rows {
        let line = exec.lines.line(row);
        let from = if uncomments { indent_len(&line) } else { least };
        let text = &line[from..];
        let new = if uncomments {
            markers.inside(text).unwrap_or(text).to_owned()
        } else {
            markers.around(text)
        };
        let span = exec
            .lines
            .span(Pos::new(row, from), Pos::new(row, line.len()));
        edits.push(Edit::new(span, new));
    }
    exec.edit(edits)?;
    exec.set_change_marks(
        Pos::new(first, 0),
        Pos::new(last, exec.lines.last_col(last)),
    );
    let at = exec.lines.clamp(region.caret, false);
    exec.set_pos(at);
    Ok(())
}

/// The commented lines around the caret.
pub(super) fn lines_at(exec: &Exec) -> Option<Selected> {
    let row = exec.pos().row;
    let markers = Markers::at(exec, row)?;
    let is_comment = |row: u32| markers.inside(exec.lines.line(row).trim_start()).is_some();
    if !is_comment(row) {
        return None;
    }
    let (mut first, mut last) = (row, row);
    while first > 0 && is_comment(first - 1) {
        first -= 1;
    }
    while last < exec.lines.last() && is_comment(last + 1) {
        last += 1;
    }
    Some(Selected::new(
        Pos::new(first, 0),
        Pos::new(last, 0),
        Extent::Lines,
    ))
}
