//! Motions by sentences: they end with `.`, `!` or `?`, closing signs, and a blank or a line end.

use super::paragraphs::starts_paragraph;
use crate::lines::{Advance, Lines, Pos, Walker};

fn is_end(char: Option<char>) -> bool {
    matches!(char, Some('.' | '!' | '?'))
}

fn is_closing(char: Option<char>) -> bool {
    matches!(char, Some(')' | ']' | '"' | '\''))
}

fn is_paragraph_start(lines: &Lines, pos: Pos) -> bool {
    pos.col == 0 && starts_paragraph(lines, pos.row)
}

/// Goes to the start of a sentence. `None` if the count is too large.
pub(crate) fn travel(lines: &Lines, at: Pos, count: u32, is_forward: bool) -> Option<Pos> {
    let mut walker = Walker::new(lines, at);
    let mut left = count;
    while left > 0 {
        left -= 1;
        let before = walker.pos;
        once(lines, &mut walker, is_forward, left > 0)?;
        if walker.pos != before {
            continue;
        }
        // A sentence that does not move is tried again from the next character.
        if step(&mut walker, is_forward) != Advance::Blocked {
            left += 1;
        } else if left > 0 {
            return None;
        } else {
            break;
        }
    }
    Some(walker.pos)
}

fn step(walker: &mut Walker, is_forward: bool) -> Advance {
    if is_forward {
        walker.forward_over_end()
    } else {
        walker.backward_over_end()
    }
}

fn once(lines: &Lines, walker: &mut Walker, is_forward: bool, must_go_on: bool) -> Option<()> {
    let mut skips_blanks = true;
    let is_found = if walker.char().is_none() {
        while step(walker, is_forward) != Advance::Blocked && walker.char().is_none() {}
        is_forward
    } else if is_forward && is_paragraph_start(lines, walker.pos) {
        if walker.is_on_last_line() {
            return None;
        }
        walker.go_to(Pos::new(walker.pos.row + 1, 0));
        true
    } else {
        if !is_forward {
            walker.backward_over_end();
        }
        false
    };
    if !is_found {
        skip_punctuation_back(walker, is_forward);
        skips_blanks = find_end(lines, walker, is_forward, must_go_on)?;
    }
    while skips_blanks && walker.is_blank() {
        if walker.forward_over_end() == Advance::Blocked {
            break;
        }
    }
    Some(())
}

/// Goes back to the last character that is neither blank nor punctuation.
fn skip_punctuation_back(walker: &mut Walker, is_forward: bool) {
    let mut has_end = false;
    while walker.is_blank() || is_end(walker.char()) || is_closing(walker.char()) {
        let char = walker.char();
        let mut before = walker.clone();
        if before.backward_over_end() == Advance::Blocked || before.is_on_empty_line() && is_forward
        {
            break;
        }
        if has_end {
            break;
        }
        has_end |= is_end(char);
        let is_punctuation = is_end(before.char()) || is_closing(before.char());
        if is_closing(char) && !is_punctuation {
            break;
        }
        *walker = before;
    }
}

/// Goes to the end of the sentence. Returns whether blanks follow that are to be skipped; `None`
/// if the text ends although the count goes on.
fn find_end(
    lines: &Lines,
    walker: &mut Walker,
    is_forward: bool,
    must_go_on: bool,
) -> Option<bool> {
    let start_row = walker.pos.row;
    loop {
        if walker.char().is_none() || is_paragraph_start(lines, walker.pos) {
            if !is_forward && walker.pos.row != start_row {
                let next = (walker.pos.row + 1).min(lines.last());
                walker.go_to(Pos::new(next, walker.pos.col));
            }
            return Some(true);
        }
        if is_end(walker.char()) {
            let mut behind = walker.clone();
            let mut is_blocked = false;
            loop {
                if behind.forward() == Advance::Blocked {
                    is_blocked = true;
                    break;
                }
                if !is_closing(behind.char()) {
                    break;
                }
            }
            if is_blocked || behind.is_blank() || behind.char().is_none() {
                *walker = behind;
                if walker.char().is_none() {
                    walker.forward();
                }
                return Some(true);
            }
        }
        if step(walker, is_forward) == Advance::Blocked {
            return (!must_go_on).then_some(false);
        }
    }
}
