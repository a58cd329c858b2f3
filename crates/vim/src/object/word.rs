//! Words and the blanks around them.

use super::{ObjectRequest, Selected};
use crate::chars::BLANK;
use crate::lines::{Advance, Lines, Pos, Walker, prev_grapheme};
use crate::motion::words;

/// Returns the words, or where the caret goes if there are too few.
pub(super) fn select(
    lines: &Lines,
    request: &ObjectRequest,
    is_big: bool,
) -> Result<Selected, Pos> {
    let mut walker = Walker::with_words(lines, request.head, is_big);
    select_from(lines, &mut walker, request, is_big).ok_or(walker.pos)
}

fn select_from(
    lines: &Lines,
    walker: &mut Walker,
    request: &ObjectRequest,
    is_big: bool,
) -> Option<Selected> {
    let around = request.is_around;
    let mut anchor = request.anchor.unwrap_or(request.head);
    let mut count = request.count;
    let mut takes_blanks = false;
    let mut is_inclusive = true;
    let mut start = walker.pos;
    if request.extended().is_none() {
        back_in_line(walker);
        start = walker.pos;
        anchor = start;
        if (walker.class() == BLANK) == around {
            let (end, ok) = words::end(lines, start, 1, is_big, true, true);
            walker.go_to(end);
            ok.then_some(())?;
        } else {
            let (next, _) = words::forward(lines, start, 1, is_big, true);
            walker.go_to(next);
            if next.col == 0 {
                walker.backward_over_end();
            } else {
                one_left(walker);
            }
            takes_blanks = around;
        }
        count -= 1;
    }
    for left in (0..count).rev() {
        is_inclusive = true;
        if request.anchor.is_some() && walker.pos < anchor {
            extend_back(lines, walker, around, is_big)?;
        } else {
            is_inclusive = extend(lines, walker, around, is_big, left > 0)?;
        }
    }
    let lacks_blanks = walker.class() != BLANK || walker.pos.col == 0 && !is_inclusive;
    if takes_blanks && lacks_blanks && start.col > 0 {
        let mut before = Walker::with_words(lines, start, is_big);
        one_left(&mut before);
        back_in_line(&mut before);
        if before.class() == BLANK && before.pos.col > 0 {
            anchor = before.pos;
        }
    }
    Some(if is_inclusive {
        Selected::inclusive(anchor, walker.pos)
    } else {
        Selected::exclusive(anchor, walker.pos)
    })
}

/// Goes to the start of the run of characters of one class.
fn back_in_line(walker: &mut Walker) {
    let class = walker.class();
    while walker.pos.col > 0 {
        let here = walker.pos;
        walker.backward();
        if walker.class() != class {
            walker.go_to(here);
            return;
        }
    }
}

/// Goes one character to the left. Returns `false` at the start of the line.
fn one_left(walker: &mut Walker) -> bool {
    if walker.pos.col == 0 {
        return false;
    }
    let col = prev_grapheme(walker.line(), walker.pos.col);
    walker.go_to(Pos::new(walker.pos.row, col));
    true
}

fn extend_back(lines: &Lines, walker: &mut Walker, around: bool, is_big: bool) -> Option<()> {
    if walker.backward_over_end() == Advance::Blocked {
        return None;
    }
    if around != (walker.class() != BLANK) {
        let (start, ok) = words::backward(lines, walker.pos, 1, is_big, true);
        walker.go_to(start);
        return ok.then_some(());
    }
    let (end, ok) = words::backward_end(lines, walker.pos, 1, is_big, true);
    walker.go_to(end);
    ok.then_some(())?;
    walker.forward_over_end();
    Some(())
}

/// Goes forward by a word or blanks. Returns whether the character reached is included.
fn extend(
    lines: &Lines,
    walker: &mut Walker,
    around: bool,
    is_big: bool,
    must_go_on: bool,
) -> Option<bool> {
    if walker.forward_over_end() == Advance::Blocked {
        return None;
    }
    if around != (walker.class() == BLANK) {
        let (next, ok) = words::forward(lines, walker.pos, 1, is_big, true);
        walker.go_to(next);
        if !ok && must_go_on {
            return None;
        }
        return Some(one_left(walker));
    }
    let (end, ok) = words::end(lines, walker.pos, 1, is_big, true, true);
    walker.go_to(end);
    ok.then_some(true)
}
