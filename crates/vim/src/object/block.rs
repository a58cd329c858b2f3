//! Text between brackets.

use super::{ObjectRequest, Selected};
use crate::lines::{Advance, Lines, Pos, Walker, indent_len};
use crate::motion::brackets;

pub(super) fn select(
    lines: &Lines,
    request: &ObjectRequest,
    open: char,
    close: char,
) -> Option<Selected> {
    let head = request.head;
    let (mut old_start, mut old_end) = (head, head);
    let mut cursor = head;
    match request.extended() {
        None => cursor = inside_of_bracket(lines, head, open),
        Some(anchor) if anchor < head => {
            old_start = anchor;
            cursor = anchor;
        }
        Some(anchor) => old_end = anchor,
    }
    let enclosing = brackets::unmatched(lines, cursor, (open, close), true, false);
    // Outside of brackets, the next ones count.
    let is_back = enclosing.is_some();
    let mut start = cursor;
    for _ in 0..request.count {
        start = brackets::unmatched(lines, start, (open, close), is_back, false)?;
    }
    let mut end = closing(lines, start, open, close)?;
    if request.is_around {
        return Some(Selected::inclusive(start, end));
    }
    loop {
        let inner = inner(lines, start, end);
        let is_no_larger = inner.start >= old_start && inner.end <= old_end;
        if request.anchor.is_none() || !is_no_larger || inner.start == inner.end {
            // There is nothing to select between the brackets.
            if request.anchor.is_some() && inner.start > inner.end {
                return None;
            }
            return Some(finished(lines, request, &inner));
        }
        let mut before = Walker::new(lines, old_start);
        before.backward_over_end();
        start = brackets::unmatched(lines, before.pos, (open, close), true, true)?;
        end = closing(lines, start, open, close)?;
    }
}

fn closing(lines: &Lines, start: Pos, open: char, close: char) -> Option<Pos> {
    brackets::unmatched(lines, start, (close, open), false, true)
}

/// The position from which to search backward: behind an opening bracket at the caret, and for
/// braces behind the indentation.
fn inside_of_bracket(lines: &Lines, head: Pos, open: char) -> Pos {
    let mut walker = Walker::new(lines, head);
    if open == '{' {
        while indent_len(walker.line()) > walker.pos.col {
            if walker.forward() != Advance::Within {
                break;
            }
        }
    }
    if walker.char() == Some(open) {
        walker.pos.col += open.len_utf8();
    }
    walker.pos
}

struct InnerBlock {
    start: Pos,
    /// The last character.
    end: Pos,
    /// Whether only blanks precede the closing bracket in its line.
    ends_line: bool,
}

fn inner(lines: &Lines, open: Pos, close: Pos) -> InnerBlock {
    let mut start = Walker::new(lines, open);
    start.forward_over_end();
    let mut end = Walker::new(lines, close);
    let mut ends_line = close.col == 0;
    end.backward_over_end();
    let is_in_indent = |walker: &Walker| indent_len(walker.line()) > walker.pos.col;
    if is_in_indent(&end) {
        ends_line = true;
        while is_in_indent(&end) {
            if end.backward_over_end() != Advance::Within {
                break;
            }
        }
    }
    InnerBlock {
        start: start.pos,
        end: end.pos,
        ends_line,
    }
}

fn finished(lines: &Lines, request: &ObjectRequest, inner: &InnerBlock) -> Selected {
    let mut end = Walker::new(lines, inner.end);
    if request.anchor.is_some() {
        if inner.ends_line && end.char().is_some() {
            end.forward();
        }
        return Selected::inclusive(inner.start, end.pos);
    }
    if inner.ends_line {
        end.forward_over_end();
        return Selected::exclusive(inner.start, end.pos);
    }
    if inner.start <= inner.end {
        return Selected::inclusive(inner.start, inner.end);
    }
    Selected::exclusive(inner.start, inner.start)
}
