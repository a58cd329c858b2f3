//! Motions by words.
//!
//! Each returns the position reached and whether the whole count was possible. An empty line is a word.

use crate::chars::BLANK;
use crate::lines::{Advance, Lines, Pos, Walker};

/// Goes to the start of the next word. With `stops_at_end`, the last word of the count ends at the
/// end of its line.
pub(crate) fn forward(
    lines: &Lines,
    at: Pos,
    count: u32,
    is_big: bool,
    stops_at_end: bool,
) -> (Pos, bool) {
    let mut walker = Walker::with_words(lines, at, is_big);
    for left in (0..count).rev() {
        let stops = stops_at_end && left == 0;
        match forward_once(&mut walker, stops) {
            WordStep::Moved => {}
            WordStep::Ended => return (walker.pos, true),
            WordStep::Failed => return (walker.pos, false),
        }
    }
    (walker.pos, true)
}

enum WordStep {
    Moved,
    /// The motion ends here, whatever the count.
    Ended,
    Failed,
}

fn forward_once(walker: &mut Walker, stops_at_end: bool) -> WordStep {
    let class = walker.class();
    let is_last_line = walker.is_on_last_line();
    let step = walker.forward();
    if step == Advance::Blocked || step.left_line() && is_last_line {
        return WordStep::Failed;
    }
    if step.left_line() && stops_at_end {
        return WordStep::Ended;
    }
    if class != BLANK {
        while walker.class() == class {
            let step = walker.forward();
            if step == Advance::Blocked || step.left_line() && stops_at_end {
                return WordStep::Ended;
            }
        }
    }
    while walker.class() == BLANK {
        if walker.pos.col == 0 && walker.is_on_empty_line() {
            break;
        }
        let step = walker.forward();
        if step == Advance::Blocked || step.left_line() && is_last_line {
            return WordStep::Ended;
        }
    }
    WordStep::Moved
}

/// Goes to the end of the word. With `stops_here`, the end of the word at the position counts.
/// With `stops_at_empty`, an empty line is the end of a word.
pub(crate) fn end(
    lines: &Lines,
    at: Pos,
    count: u32,
    is_big: bool,
    stops_here: bool,
    stops_at_empty: bool,
) -> (Pos, bool) {
    let mut walker = Walker::with_words(lines, at, is_big);
    let mut stops_here = stops_here;
    for _ in 0..count {
        if !end_once(&mut walker, stops_here, stops_at_empty) {
            return (walker.pos, false);
        }
        stops_here = false;
    }
    (walker.pos, true)
}

fn end_once(walker: &mut Walker, stops_here: bool, stops_at_empty: bool) -> bool {
    let class = walker.class();
    if walker.forward() == Advance::Blocked {
        return false;
    }
    if walker.class() == class && class != BLANK {
        if !walker.skip_forward(class) {
            return false;
        }
    } else if !stops_here || class == BLANK {
        while walker.class() == BLANK {
            if stops_at_empty && walker.pos.col == 0 && walker.is_on_empty_line() {
                return true;
            }
            if walker.forward() == Advance::Blocked {
                return false;
            }
        }
        let class = walker.class();
        if !walker.skip_forward(class) {
            return false;
        }
    }
    walker.backward();
    true
}

/// Goes back to the start of a word. With `stops_here`, the start of the word at the position
/// counts.
pub(crate) fn backward(
    lines: &Lines,
    at: Pos,
    count: u32,
    is_big: bool,
    stops_here: bool,
) -> (Pos, bool) {
    let mut walker = Walker::with_words(lines, at, is_big);
    let mut stops_here = stops_here;
    for _ in 0..count {
        let class = walker.class();
        if walker.backward() == Advance::Blocked {
            return (walker.pos, false);
        }
        if !stops_here || class == walker.class() || class == BLANK {
            match skip_blanks_back(&mut walker) {
                BlankSkip::EmptyLine => {
                    stops_here = false;
                    continue;
                }
                BlankSkip::TextStart => return (walker.pos, true),
                BlankSkip::Word => {}
            }
            let class = walker.class();
            if !walker.skip_backward(class) {
                return (walker.pos, true);
            }
        }
        walker.forward();
        stops_here = false;
    }
    (walker.pos, true)
}

enum BlankSkip {
    Word,
    EmptyLine,
    TextStart,
}

fn skip_blanks_back(walker: &mut Walker) -> BlankSkip {
    while walker.class() == BLANK {
        if walker.pos.col == 0 && walker.is_on_empty_line() {
            return BlankSkip::EmptyLine;
        }
        if walker.backward() == Advance::Blocked {
            return BlankSkip::TextStart;
        }
    }
    BlankSkip::Word
}

/// Goes back to the end of a word. With `stops_at_end`, it does not leave the line.
pub(crate) fn backward_end(
    lines: &Lines,
    at: Pos,
    count: u32,
    is_big: bool,
    stops_at_end: bool,
) -> (Pos, bool) {
    let mut walker = Walker::with_words(lines, at, is_big);
    for _ in 0..count {
        let class = walker.class();
        match walker.backward() {
            Advance::Blocked => return (walker.pos, false),
            Advance::OtherLine if stops_at_end => return (walker.pos, true),
            _ => {}
        }
        if class != BLANK {
            while walker.class() == class {
                let step = walker.backward();
                if step == Advance::Blocked || step == Advance::OtherLine && stops_at_end {
                    return (walker.pos, true);
                }
            }
        }
        while walker.class() == BLANK {
            if walker.pos.col == 0 && walker.is_on_empty_line() {
                break;
            }
            let step = walker.backward();
            if step == Advance::Blocked || step == Advance::OtherLine && stops_at_end {
                return (walker.pos, true);
            }
        }
    }
    (walker.pos, true)
}
