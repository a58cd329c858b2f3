//! Sorting, merging and mapping of selections.

use base::{ByteOffset, Span};

use super::{Selection, SelectionSet};
use crate::buffer::Buffer;
use crate::edit::{Edit, EditOrigin, Timestamp};

fn selection(anchor: usize, head: usize) -> Selection {
    Selection::new(ByteOffset(anchor), ByteOffset(head))
}

fn show(set: &SelectionSet) -> String {
    set.assert_invariants();
    let shown = set.iter().enumerate().map(|(ix, it)| {
        let mark = if ix == set.primary_ix() { "*" } else { "" };
        format!("{mark}{}>{}", it.anchor.0, it.head.0)
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn sets_are_sorted_and_merged() {
    let check = |selections: &[(usize, usize)], primary, expected: &str| {
        let list = selections
            .iter()
            .map(|&(anchor, head)| selection(anchor, head));
        assert_eq!(
            show(&SelectionSet::new(list.collect(), primary)),
            expected,
            "{selections:?}"
        );
    };
    check(&[], 0, "*0>0");
    check(&[(5, 7), (1, 2)], 0, "1>2 *5>7");
    check(&[(5, 7), (1, 2)], 9, "*1>2 5>7");
    check(&[(1, 5), (3, 8)], 0, "*1>8");
    check(&[(1, 5), (8, 3)], 1, "*8>1");
    check(&[(1, 5), (5, 8)], 1, "1>5 *5>8");
    check(&[(1, 5), (5, 5)], 1, "*1>5");
    check(&[(5, 5), (5, 8), (5, 5)], 2, "*5>8");
    check(&[(1, 9), (2, 3), (4, 5), (12, 12)], 3, "1>9 *12>12");
}

#[test]
fn sets_follow_edits() {
    let check = |selections: &[(usize, usize)], edits: &[(usize, usize, &str)], expected: &str| {
        let mut buffer = Buffer::new("0123456789");
        let edits: Vec<Edit> = edits
            .iter()
            .map(|&(from, to, text)| Edit::new(Span::from(from..to), text))
            .collect();
        let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        let list = selections
            .iter()
            .map(|&(anchor, head)| selection(anchor, head));
        let set = SelectionSet::new(list.collect(), 0).map(&change);
        assert_eq!(show(&set), expected, "{selections:?} {edits:?}");
    };
    check(&[(3, 3)], &[(3, 3, "ab")], "*5>5");
    check(&[(3, 3)], &[(4, 4, "ab")], "*3>3");
    check(&[(2, 5)], &[(2, 2, "ab"), (5, 5, "cd")], "*4>7");
    check(&[(5, 2)], &[(3, 4, "")], "*4>2");
    check(&[(2, 2), (4, 4)], &[(1, 6, "")], "*1>1");
    check(&[(2, 4), (6, 8)], &[(3, 7, "x")], "*2>3 4>5");
}
