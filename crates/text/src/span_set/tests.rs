//! Tests marks under random edits against positions mapped one by one.

use base::{Bias, ByteOffset, Span};

use super::{PlacedMark, SpanMark, SpanSet};
use crate::random::SeededRng;
use crate::{Buffer, Edit, EditOrigin, Timestamp};

#[derive(Clone, Debug, PartialEq)]
struct Tag(u32);

impl SpanMark for Tag {
    type Rank = u32;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> u32 {
        self.0
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

fn plain(marks: Vec<PlacedMark<Tag>>) -> Vec<(Span, u32)> {
    marks
        .into_iter()
        .map(|placed| (placed.span, placed.mark.0))
        .collect()
}

fn span(rng: &mut SeededRng, len: usize) -> Span {
    let start = rng.next_below(len + 1);
    let end = rng.next_below(len + 1).min(start + 40);
    Span::new(ByteOffset(start), ByteOffset(end))
}

fn run(seed: u64) {
    let mut rng = SeededRng::new(seed);
    let mut buffer = Buffer::new(&"x".repeat(300));
    let mut marks = SpanSet::new();
    let mut naive: Vec<(Span, u32)> = Vec::new();
    for step in 0..60 {
        let len = buffer.len().0;
        match rng.next_below(6) {
            0 => {
                let mut added = Vec::new();
                for id in 0..1 + rng.next_below(5) as u32 {
                    let span = span(&mut rng, len);
                    if !span.is_empty() {
                        added.push((span, step * 10 + id));
                    }
                }
                naive.extend(&added);
                let placed = added.into_iter().map(|(span, id)| PlacedMark {
                    span,
                    mark: Tag(id),
                });
                marks.insert(placed.collect());
            }
            1 => {
                let odd = rng.next_below(7) as u32;
                marks.retain(|placed| placed.mark.0 % 7 != odd);
                naive.retain(|(_, id)| id % 7 != odd);
            }
            2 => {
                let removed = marks.touching(span(&mut rng, len));
                marks.remove(&removed);
                let is_removed = |id: u32| removed.iter().any(|placed| placed.mark.0 == id);
                naive.retain(|(_, id)| !is_removed(*id));
            }
            _ => {
                let mut edits: Vec<Edit> = Vec::new();
                for _ in 0..1 + rng.next_below(4) {
                    let span = span(&mut rng, len);
                    if edits
                        .iter()
                        .all(|edit| edit.span.end < span.start || span.end < edit.span.start)
                    {
                        let text = "y".repeat(rng.next_below(20));
                        edits.push(Edit { span, text });
                    }
                }
                let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
                marks.map(&change);
                for (span, _) in &mut naive {
                    let start = change.map(span.start, Bias::Right);
                    *span = Span {
                        start,
                        end: change.map(span.end, Bias::Left).max(start),
                    };
                }
                naive.retain(|(span, _)| !span.is_empty());
            }
        }
        naive.sort_by_key(|(span, id)| (span.start, *id));
        assert_eq!(plain(marks.all()), naive, "seed {seed} step {step}");
        let asked = span(&mut rng, buffer.len().0);
        let mut expected = naive.clone();
        expected.retain(|(span, _)| span.start <= asked.end && asked.start <= span.end);
        assert_eq!(
            plain(marks.touching(asked)),
            expected,
            "seed {seed} step {step} {asked:?}"
        );
    }
}

#[test]
fn marks_follow_random_edits() {
    for seed in 0..200 {
        run(seed);
    }
}
