//! Tests the mapping of positions through edits.

use base::{Bias, ByteOffset, Span};

use super::EditDraft;

#[test]
fn positions_map_through_edits() {
    let mut draft = EditDraft::new();
    assert_eq!(draft.push(Span::from(2..2), "xx"), ByteOffset(2));
    assert_eq!(draft.push(Span::from(4..6), "y"), ByteOffset(6));
    assert_eq!(draft.push(Span::from(8..9), ""), ByteOffset(9));
    let map = |at: usize, bias| draft.map(ByteOffset(at), bias).0;
    let places = [
        (0, 0, 0),
        (2, 2, 4),
        (3, 5, 5),
        (4, 6, 6),
        (5, 6, 7),
        (6, 7, 7),
        (8, 9, 9),
        (9, 9, 9),
        (10, 10, 10),
    ];
    for (at, left, right) in places {
        assert_eq!(
            (map(at, Bias::Left), map(at, Bias::Right)),
            (left, right),
            "{at}"
        );
    }
}

#[test]
fn overlapping_deletions_become_one() {
    let mut draft = EditDraft::new();
    draft.push(Span::from(2..5), "");
    draft.push(Span::from(3..7), "");
    draft.push(Span::from(4..6), "");
    assert_eq!(draft.edits.len(), 1);
    assert_eq!(draft.edits[0].span, Span::from(2..7));
    assert_eq!(draft.map(ByteOffset(7), Bias::Left), ByteOffset(2));
    assert_eq!(draft.map(ByteOffset(9), Bias::Left), ByteOffset(4));
}
