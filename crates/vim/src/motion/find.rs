//! Searches for a character within a line.

use super::CharFind;
use crate::lines::{Lines, Pos, next_grapheme, prev_grapheme};

/// Returns the place of the character, or the one before it. With `skips_next`, the nearest
/// character does not count, because a repeated search would not move. `None` if there are too few.
pub(crate) fn find(
    lines: &Lines,
    at: Pos,
    find: CharFind,
    count: u32,
    skips_next: bool,
) -> Option<Pos> {
    let line = lines.line(at.row);
    let mut col = at.col;
    let mut may_stop = !(skips_next && find.is_till && count == 1);
    for _ in 0..count {
        loop {
            if find.is_forward {
                col = next_grapheme(&line, col);
                if col >= line.len() {
                    return None;
                }
            } else {
                if col == 0 {
                    return None;
                }
                col = prev_grapheme(&line, col);
            }
            if line[col..].starts_with(find.char) && may_stop {
                break;
            }
            may_stop = true;
        }
    }
    if find.is_till {
        col = if find.is_forward {
            prev_grapheme(&line, col)
        } else {
            next_grapheme(&line, col)
        };
    }
    Some(Pos::new(at.row, col))
}
