//! Joining lines.

use text::Edit;

use super::exec::Exec;
use crate::error::{Done, Error};
use crate::lines::{Pos, indent_len};

/// Joins a number of lines from a row on (`J`, `gJ`). Fails without a line to join.
pub(super) fn join(exec: &mut Exec, row: u32, count: u32, with_spaces: bool) -> Done {
    if row >= exec.lines.last() {
        if count <= 2 {
            return Err(Error::Beep);
        }
        // A count joins the line with nothing, which moves the caret.
        exec.set_pos(Pos::new(row, 0));
        return Ok(());
    }
    let count = count.max(2);
    let marker = comment_marker(exec, row).filter(|_| with_spaces);
    let first_length = exec.lines.len(row);
    let last = row.saturating_add(count - 1).min(exec.lines.last());
    let mut edits = Vec::new();
    let mut length = exec.lines.len(row);
    let mut caret = length;
    let mut end = exec.lines.line(row).chars().next_back();
    for next in row + 1..=last {
        let line = exec.lines.line(next);
        let removed = removed_len(&line, with_spaces, marker.as_deref());
        let rest = &line[removed..];
        let needs_space = with_spaces
            && !rest.is_empty()
            && !rest.starts_with(')')
            && length > 0
            && end != Some('\t')
            && end != Some(' ');
        let glue = if needs_space { " " } else { "" };
        let from = Pos::new(next - 1, exec.lines.len(next - 1));
        let span = exec.lines.span(from, Pos::new(next, removed));
        edits.push(Edit::new(span, glue));
        caret = length;
        length += glue.len() + rest.len();
        end = rest.chars().next_back();
    }
    exec.edit(edits)?;
    exec.set_change_marks(Pos::new(row, first_length), Pos::new(row, length));
    exec.set_pos(Pos::new(row, caret));
    let at = exec.lines.clamp(exec.pos(), exec.may_pass_end());
    exec.set_pos(at);
    Ok(())
}

/// The marker of line comments, if a line is a comment.
fn comment_marker(exec: &Exec, row: u32) -> Option<String> {
    let (open, close) = exec.host.comment_markers(row)?;
    let line = exec.lines.line(row);
    let is_comment = close.is_empty() && line.trim_start().starts_with(&open);
    is_comment.then_some(open)
}

/// The bytes that go from the start of a joined line: blanks, and the marker of a comment.
fn removed_len(line: &str, with_spaces: bool, marker: Option<&str>) -> usize {
    if !with_spaces {
        return 0;
    }
    let indent = indent_len(line);
    match marker.and_then(|marker| line[indent..].strip_prefix(marker)) {
        Some(rest) => line.len() - rest.trim_start_matches([' ', '\t']).len(),
        None => indent,
    }
}
