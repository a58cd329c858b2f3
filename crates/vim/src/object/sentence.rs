//! Sentences and the blanks around them.

use super::{ObjectRequest, Selected};
use crate::lines::{Advance, Lines, Pos, Walker};
use crate::motion::sentences;

pub(super) fn select(lines: &Lines, request: &ObjectRequest) -> Option<Selected> {
    let head = request.head;
    let next = next_start(lines, head);
    if let Some(anchor) = request.extended() {
        return Some(Selected {
            keeps_shape: true,
            ..extend(lines, request, anchor, head, next)
        });
    }
    let mut start = head;
    let mut pos = Walker::new(lines, head);
    while pos.is_blank() && pos.forward_over_end() != Advance::Blocked {}
    let starts_blank = pos.pos == next;
    let mut cursor = next;
    if starts_blank {
        start = first_blank(lines, start);
    } else {
        cursor = previous_start(lines, next);
        start = cursor;
    }
    let count = if request.is_around {
        request.count.saturating_mul(2)
    } else {
        request.count - u32::from(starts_blank)
    };
    let mut end = if count > 0 {
        forward(lines, cursor, count, true)
    } else {
        before(lines, cursor)
    };
    if request.is_around {
        if starts_blank {
            end = first_blank(lines, end);
            if is_blank(lines, end) {
                end = before(lines, end);
            }
        } else if !is_blank(lines, end) {
            start = first_blank(lines, start);
        }
    }
    match request.anchor {
        // A single blank before a sentence would be selected again and again.
        Some(anchor) if start == end => Some(Selected {
            keeps_shape: true,
            ..extend(lines, request, anchor, head, next)
        }),
        Some(_) => Some(Selected::inclusive(start, end)),
        None => {
            let mut behind = Walker::new(lines, end);
            if behind.forward_over_end() == Advance::Blocked {
                return Some(Selected::inclusive(start, end));
            }
            Some(Selected::exclusive(start, behind.pos))
        }
    }
}

/// Extends a visual selection by sentences, in the direction in which it grows. `next` is the start
/// of the next sentence.
fn extend(lines: &Lines, request: &ObjectRequest, anchor: Pos, start: Pos, next: Pos) -> Selected {
    let count = if request.is_around {
        request.count.saturating_mul(2)
    } else {
        request.count
    };
    if start < anchor {
        return Selected::inclusive(anchor, extend_back(lines, request, start, next, count));
    }
    let mut cursor = next;
    let mut pos = Walker::new(lines, start);
    pos.forward_over_end();
    let mut at_start = true;
    if pos.pos != cursor {
        at_start = false;
        while pos.pos < cursor {
            if !pos.is_blank() {
                at_start = true;
                break;
            }
            if pos.forward_over_end() == Advance::Blocked {
                break;
            }
        }
        cursor = if at_start {
            start
        } else {
            previous_start(lines, cursor)
        };
    }
    Selected::inclusive(anchor, forward(lines, cursor, count, at_start))
}

fn extend_back(lines: &Lines, request: &ObjectRequest, start: Pos, next: Pos, count: u32) -> Pos {
    let mut cursor = next;
    let mut at_start = true;
    let mut pos = Walker::new(lines, start);
    pos.backward_over_end();
    while pos.pos < cursor {
        if !pos.is_blank() {
            at_start = false;
            break;
        }
        if pos.forward_over_end() == Advance::Blocked {
            break;
        }
    }
    if !at_start {
        cursor = previous_start(lines, cursor);
        if cursor == start {
            at_start = true;
        } else {
            cursor = next_start(lines, cursor);
        }
    }
    for _ in 0..count {
        if at_start {
            cursor = first_blank(lines, cursor);
        }
        if !at_start || !request.is_around && !is_blank(lines, cursor) {
            cursor = previous_start(lines, cursor);
        }
        at_start = !at_start;
    }
    cursor
}

fn next_start(lines: &Lines, from: Pos) -> Pos {
    sentences::travel(lines, from, 1, true).unwrap_or(from)
}

fn previous_start(lines: &Lines, from: Pos) -> Pos {
    sentences::travel(lines, from, 1, false).unwrap_or(from)
}

fn is_blank(lines: &Lines, pos: Pos) -> bool {
    Walker::new(lines, pos).is_blank()
}

fn before(lines: &Lines, pos: Pos) -> Pos {
    let mut walker = Walker::new(lines, pos);
    walker.backward_over_end();
    walker.pos
}

/// Goes back over the blanks before a position.
fn first_blank(lines: &Lines, pos: Pos) -> Pos {
    let mut walker = Walker::new(lines, pos);
    while walker.backward_over_end() != Advance::Blocked {
        if !walker.is_blank() {
            walker.forward_over_end();
            break;
        }
    }
    walker.pos
}

/// Goes over sentences and the blanks between them, which count on their own.
fn forward(lines: &Lines, from: Pos, count: u32, at_start: bool) -> Pos {
    let mut at_start = at_start;
    let mut cursor = from;
    for left in (0..count).rev() {
        cursor = next_start(lines, cursor);
        if at_start {
            cursor = first_blank(lines, cursor);
        }
        if left == 0 || at_start {
            cursor = before(lines, cursor);
        }
        at_start = !at_start;
    }
    cursor
}
