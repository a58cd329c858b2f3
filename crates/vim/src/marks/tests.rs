//! Tests of the lists and of the way of marks through edits.

use base::Span;
use text::{Buffer, EditOrigin, Timestamp};

use super::{ChangeList, JumpList, PosMap};
use crate::lines::{Lines, Pos};

fn at(row: u32) -> Pos {
    Pos::new(row, 0)
}

#[test]
fn jumps_go_back_and_forth() {
    let mut jumps = JumpList::default();
    jumps.push(at(1));
    jumps.push(at(5));
    assert_eq!(jumps.travel(at(9), -1), Ok((at(5), true)));
    assert_eq!(jumps.travel(at(5), -1), Ok((at(1), false)));
    assert_eq!(jumps.travel(at(1), -1), Err(1));
    assert_eq!(jumps.travel(at(1), 2), Ok((at(9), false)));
    assert_eq!(jumps.travel(at(9), 1), Err(1));
}

#[test]
fn jumps_keep_one_entry_for_each_line() {
    let mut jumps = JumpList::default();
    for row in [1, 5, 1] {
        jumps.push(at(row));
    }
    assert_eq!(jumps.travel(at(9), -1), Ok((at(1), true)));
    assert_eq!(jumps.travel(at(1), -1), Ok((at(5), false)));
}

#[test]
fn near_changes_share_an_entry() {
    let mut changes = ChangeList::default();
    changes.note(Pos::new(1, 0), true);
    changes.note(Pos::new(1, 10), true);
    changes.note(Pos::new(4, 0), true);
    assert_eq!(changes.travel(-1), Some(Pos::new(4, 0)));
    assert_eq!(changes.travel(-1), Some(Pos::new(1, 10)));
    assert_eq!(changes.travel(-1), None);
}

#[test]
fn marks_follow_lines_and_vanish_with_them() {
    let mut buffer = Buffer::new("one\ntwo\nthree\n");
    let before = Lines::new(buffer.snapshot(), 8);
    let origin = EditOrigin::user(Timestamp(0));
    let change = buffer.replace(Span::from(4..8), "", &origin);
    let after = Lines::new(buffer.snapshot(), 8);
    let map = PosMap::new(&before, &after, &change);
    assert_eq!(map.anchored(Pos::new(0, 2)), Some(Pos::new(0, 2)));
    assert_eq!(map.anchored(Pos::new(1, 1)), None);
    assert_eq!(map.anchored(Pos::new(2, 3)), Some(Pos::new(1, 3)));
    assert_eq!(map.nearest(Pos::new(1, 1)), Pos::new(1, 1));
}
