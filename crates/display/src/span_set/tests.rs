//! Tests marks under random edits against positions mapped one by one.

use base::{Bias, ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::{PlacedMark, SpanMark, SpanSet};

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

fn span(rng: &mut StdRng, len: usize) -> Span {
    let start = rng.random_range(0..=len);
    let end = rng.random_range(0..=len).min(start + 40);
    Span::new(ByteOffset(start), ByteOffset(end))
}

fn run(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut buffer = Buffer::new(&"x".repeat(300));
    let mut marks = SpanSet::new();
    let mut naive: Vec<(Span, u32)> = Vec::new();
    for step in 0..60 {
        let len = buffer.len().0;
        match rng.random_range(0..5) {
            0 => {
                let mut added = Vec::new();
                for id in 0..rng.random_range(1..6) {
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
                let odd = rng.random_range(0..7);
                marks.retain(|placed| placed.mark.0 % 7 != odd);
                naive.retain(|(_, id)| id % 7 != odd);
            }
            _ => {
                let mut edits: Vec<Edit> = Vec::new();
                for _ in 0..rng.random_range(1..5) {
                    let span = span(&mut rng, len);
                    if edits
                        .iter()
                        .all(|edit| edit.span.end < span.start || span.end < edit.span.start)
                    {
                        let text = "y".repeat(rng.random_range(0..20));
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
