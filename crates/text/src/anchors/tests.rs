//! The tree against a plain list, with nodes small enough to split and vanish often.

use base::{Bias, ByteOffset, Span};

use super::AnchorSet;
use crate::change::{Change, Splice};
use crate::edit::Author;
use crate::random::SeededRng;

#[test]
fn anchors_move_as_change_says() {
    for seed in 0..200 {
        let mut random = SeededRng::new(seed);
        let mut anchors = AnchorSet::default();
        let mut model = Vec::new();
        let (mut len, mut last) = (200, 0);
        for _ in 0..300 {
            match random.next_below(6) {
                0..3 => {
                    let bias = if random.one_in(2) {
                        Bias::Left
                    } else {
                        Bias::Right
                    };
                    let offset = ByteOffset(random.next_below(len + 1));
                    model.push((anchors.create(offset, bias), offset));
                }
                3 if !model.is_empty() => {
                    let (id, _) = model.swap_remove(random.next_below(model.len()));
                    assert!(anchors.release(id));
                    assert!(!anchors.release(id), "seed {seed}: released twice");
                    assert_eq!(anchors.resolve(id), None);
                }
                _ => {
                    let is_near = random.one_in(2);
                    let start = if is_near {
                        last.min(len)
                    } else {
                        random.next_below(len + 1)
                    };
                    let widest = if random.one_in(5) { len } else { 10 };
                    let width = if random.one_in(2) {
                        0
                    } else {
                        random.next_below(widest)
                    };
                    let end = len.min(start + width);
                    let inserted = if start == end { 1 } else { 0 } + random.next_below(9);
                    let splice = Splice {
                        old: Span::from(start..end),
                        new: Span::from(start..start + inserted),
                    };
                    let change = Change {
                        splices: [splice].into_iter().collect(),
                        author: Author::User,
                        ..Change::none(Default::default())
                    };
                    anchors.apply(&change.splices);
                    for (id, offset) in &mut model {
                        *offset = change.map(*offset, id.bias());
                    }
                    len = len + inserted - (end - start);
                    last = start + random.next_below(inserted + 1);
                }
            }
            anchors.assert_invariants();
            assert_eq!(anchors.count(), model.len());
            for (id, offset) in &model {
                assert_eq!(anchors.resolve(*id), Some(*offset), "seed {seed} {id:?}");
            }
        }
        for (id, _) in model {
            anchors.release(id);
            anchors.assert_invariants();
        }
        assert_eq!(anchors.count(), 0);
    }
}
