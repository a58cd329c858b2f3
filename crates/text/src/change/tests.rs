//! Position mapping by example, and composition of random changes.

use base::{Bias, ByteOffset, Revision, Span};

use super::{Change, Splice};
use crate::buffer::Buffer;
use crate::edit::{Author, Edit, EditOrigin, Timestamp};
use crate::random::SeededRng;

/// Creates a change that replaces spans of the old text by texts of the given lengths.
fn change(splices: &[(std::ops::Range<usize>, usize)]) -> Change {
    let mut grown = 0isize;
    let splice = |(old, len): &(std::ops::Range<usize>, usize)| {
        let start = old.start.saturating_add_signed(grown);
        grown += *len as isize - old.len() as isize;
        Splice {
            old: old.clone().into(),
            new: (start..start + len).into(),
        }
    };
    Change {
        before: Revision(0),
        after: Revision(1),
        author: Author::User,
        splices: splices.iter().map(splice).collect(),
    }
}

#[test]
fn positions_map_by_example() {
    let check = |splices: &[(std::ops::Range<usize>, usize)], offset, left, right| {
        let change = change(splices);
        let mapped = |bias| change.map(ByteOffset(offset), bias).0;
        assert_eq!(
            (mapped(Bias::Left), mapped(Bias::Right)),
            (left, right),
            "{splices:?} {offset}"
        );
    };
    check(&[], 3, 3, 3);
    check(&[(3..3, 2)], 2, 2, 2);
    check(&[(3..3, 2)], 3, 3, 5);
    check(&[(3..3, 2)], 4, 6, 6);
    check(&[(3..6, 0)], 3, 3, 3);
    check(&[(3..6, 0)], 5, 3, 3);
    check(&[(3..6, 0)], 6, 3, 3);
    check(&[(3..6, 0)], 8, 5, 5);
    check(&[(3..6, 2)], 3, 3, 3);
    check(&[(3..6, 2)], 4, 3, 5);
    check(&[(3..6, 2)], 6, 5, 5);
    check(&[(0..1, 3), (5..5, 1), (7..9, 0)], 1, 3, 3);
    check(&[(0..1, 3), (5..5, 1), (7..9, 0)], 5, 7, 8);
    check(&[(0..1, 3), (5..5, 1), (7..9, 0)], 8, 10, 10);
    check(&[(0..1, 3), (5..5, 1), (7..9, 0)], 20, 21, 21);
}

#[test]
fn mapped_spans_exclude_text_inserted_at_ends() {
    let change = change(&[(2..2, 3), (5..5, 3)]);
    assert_eq!(change.map_span(Span::from(2..5)), Span::from(5..8));
    assert_eq!(change.map_span(Span::from(2..2)), Span::from(2..2));
    assert_eq!(change.map_span(Span::from(1..6)), Span::from(1..12));
}

#[test]
fn changes_compose_by_example() {
    type List<'a> = &'a [(std::ops::Range<usize>, usize)];
    let check = |first: List<'_>, second: List<'_>, expected: List<'_>| {
        let composed = change(first).compose(&change(second));
        assert_eq!(
            composed.splices,
            change(expected).splices,
            "{first:?} {second:?}"
        );
    };
    check(&[(3..3, 1)], &[(4..4, 1)], &[(3..3, 2)]);
    check(&[(3..3, 1)], &[(3..4, 0)], &[]);
    check(&[(3..3, 2)], &[(4..6, 0)], &[(3..4, 1)]);
    check(&[(3..5, 0)], &[(3..3, 2)], &[(3..5, 2)]);
    check(&[(8..9, 0)], &[(1..1, 1)], &[(1..1, 1), (8..9, 0)]);
    check(&[(1..1, 1)], &[(9..10, 0)], &[(1..1, 1), (8..9, 0)]);
    check(&[(2..4, 2), (8..8, 1)], &[(3..9, 0)], &[(2..8, 1)]);
    check(&[], &[(1..2, 3)], &[(1..2, 3)]);
}

#[test]
fn composed_changes_equal_their_sequence() {
    for seed in 0..400 {
        let mut random = SeededRng::new(seed);
        let start = random.text(40);
        let mut buffer = Buffer::new(&start);
        let mut text = start.clone();
        let mut composed = Change::none(Revision(0));
        for _ in 0..random.next_below(6) + 1 {
            let mut ends: Vec<ByteOffset> = (0..2 * random.next_below(4))
                .map(|_| random.boundary(&text))
                .collect();
            ends.sort();
            let edits: Vec<Edit> = ends
                .chunks(2)
                .map(|pair| Edit::new(Span::new(pair[0], pair[1]), random.text(2)))
                .collect();
            let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
            assert_eq!(change.inverse().inverse(), change);
            composed = composed.compose(&change);
            text = buffer.snapshot().to_string();
        }
        // The end text can be rebuilt from the start text and the splices.
        let mut rebuilt = start.clone();
        for splice in composed.splices.iter().rev() {
            rebuilt.replace_range(splice.old.range(), &text[splice.new.range()]);
        }
        assert_eq!(rebuilt, text, "seed {seed}");
        assert_eq!(
            buffer.changes_since(Revision(0)).map(|it| it.splices),
            Some(composed.splices)
        );
    }
}
