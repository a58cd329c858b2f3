//! A set of annotations whose spans follow the text.

use base::{Bias, ByteOffset, Span};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet, Splice};

/// Maximum number of bytes of typed text that lengthen an annotation.
const MAX_GROWTH: usize = 256;

/// Annotations of one kind, sorted by their starts. Cheap to clone.
#[derive(Clone)]
pub struct AnnotationSet<T: Clone>(SpanSet<AnnotationMark<T>>);

#[derive(Clone, Debug)]
struct AnnotationMark<T> {
    rank: u64,
    /// Whether the annotation belongs to a place between two chars.
    is_point: bool,
    value: T,
}

impl<T: Clone> SpanMark for AnnotationMark<T> {
    type Rank = u64;
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> u64 {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

impl<T: Clone> Default for AnnotationSet<T> {
    fn default() -> Self {
        Self(SpanSet::new())
    }
}

impl<T: Clone> AnnotationSet<T> {
    /// Creates a set. Takes time proportional to the number of annotations.
    pub fn new(annotations: impl IntoIterator<Item = (Span, T)>) -> Self {
        let mut set = SpanSet::new();
        set.insert(marks(annotations, 0));
        Self(set)
    }

    /// Returns whether the set contains no annotation.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the annotations that overlap a span or touch its ends, without those whose text was deleted.
    pub(crate) fn touching(&self, span: Span) -> Vec<(Span, T)> {
        let placed = self.0.touching(span).into_iter();
        let placed = placed.filter(|placed| placed.mark.is_point || !placed.span.is_empty());
        placed
            .map(|placed| (placed.span, placed.mark.value))
            .collect()
    }

    /// Replaces the annotations within a span by those of another set within it.
    pub(super) fn replace(&mut self, span: Span, other: Self) {
        let mut before = self.0.touching(span);
        before.retain(|placed| span.covers(placed.span));
        self.0.remove(&before);
        let added = other.0.touching(span).into_iter();
        let added = added.filter(|placed| span.covers(placed.span));
        let added: Vec<_> = added
            .map(|placed| (placed.span, placed.mark.value))
            .collect();
        // Marks of an earlier answer outside of the span may have any lower rank.
        let first = self
            .0
            .touching(span)
            .iter()
            .map(|placed| placed.mark.rank + 1)
            .max();
        self.0.insert(marks(added, first.unwrap_or(0)));
    }

    /// Moves the annotations with a change. With `is_word`, typed word chars lengthen the annotation that they
    /// follow, and other chars end it.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot, is_word: bool) {
        if self.0.is_empty() {
            return;
        }
        let resized = if is_word {
            self.resized(change, after)
        } else {
            Vec::new()
        };
        self.0.map(change);
        for (rank, at, end) in resized {
            let mut placed = self.0.touching(Span::at(at));
            placed.retain(|placed| placed.mark.rank == rank && placed.span.start < end);
            self.0.remove(&placed);
            for placed in &mut placed {
                placed.span.end = end;
            }
            self.0.insert(placed);
        }
    }

    /// Returns the marks whose end is not the mapped one: rank, start of the typed text, new end.
    fn resized(&self, change: &Change, after: &Snapshot) -> Vec<(u64, ByteOffset, ByteOffset)> {
        let mut resized = Vec::new();
        for splice in &change.splices {
            let word = word_len(splice, after);
            for placed in self.0.touching(Span::at(splice.old.start)) {
                let is_before = placed.span.start < splice.old.start;
                let is_inside = splice.old.end < placed.span.end;
                let is_resized = if is_inside {
                    word < splice.new.len()
                } else {
                    word > 0
                };
                if is_before && is_resized {
                    let end = splice.new.start + word;
                    resized.push((placed.mark.rank, splice.new.start, end));
                }
            }
        }
        resized
    }
}

fn marks<T>(
    annotations: impl IntoIterator<Item = (Span, T)>,
    first: u64,
) -> Vec<PlacedMark<AnnotationMark<T>>> {
    let ranked = (first..).zip(annotations);
    let marks = ranked.map(|(rank, (span, value))| PlacedMark {
        span,
        mark: AnnotationMark {
            rank,
            is_point: span.is_empty(),
            value,
        },
    });
    marks.collect()
}

/// Returns the length of the word with which the new text of a splice begins.
fn word_len(splice: &Splice, after: &Snapshot) -> usize {
    let len = splice.new.len().min(MAX_GROWTH);
    let mut word = 0;
    for char in after.chars_at(splice.new.start) {
        if word >= len || !(char.is_alphanumeric() || char == '_') {
            break;
        }
        word += char.len_utf8();
    }
    word.min(splice.new.len())
}

#[cfg(test)]
mod tests {
    use base::Span;
    use text::{Buffer, Edit, EditOrigin, Timestamp};

    use super::AnnotationSet;

    /// Annotates `spans` in `text`, replaces bytes, and checks the texts of the annotations.
    fn check(
        text: &str,
        spans: &[(usize, usize)],
        edits: &[(usize, usize, &str)],
        expected: &[&str],
    ) {
        let mut buffer = Buffer::new(text);
        let spans = spans
            .iter()
            .map(|(start, end)| (Span::from(*start..*end), ()));
        let mut set = AnnotationSet::new(spans);
        let edits: Vec<_> = edits
            .iter()
            .map(|(start, end, new)| Edit::new(Span::from(*start..*end), *new))
            .collect();
        let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        let after = buffer.snapshot();
        set.follow(&change, &after, true);
        let texts: Vec<String> = set
            .touching(after.full_span())
            .into_iter()
            .map(|(span, ())| after.text(span).into_owned())
            .collect();
        assert_eq!(texts, expected, "{text} {edits:?}");
    }
    #[test]
    fn typed_word_chars_lengthen_a_token() {
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(3, 3, "d_é")],
            &["food_é", "bar"],
        );
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(3, 3, "d(x")],
            &["food", "bar"],
        );
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(3, 3, ".")],
            &["foo", "bar"],
        );
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(6, 6, "x")],
            &["foo", "bar"],
        );
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(7, 7, "x")],
            &["foo", "bxar"],
        );
    }

    #[test]
    fn other_typed_chars_end_a_token() {
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(1, 1, " ")],
            &["f", "bar"],
        );
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(1, 2, "x y")],
            &["fx", "bar"],
        );
        check("foo = bar", &[(0, 3), (6, 9)], &[(2, 7, "")], &["fo", "ar"]);
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(2, 7, "d")],
            &["fod", "ar"],
        );
    }

    #[test]
    fn deleted_annotations_are_not_found() {
        check(
            "foo = bar",
            &[(0, 3), (4, 4), (6, 9)],
            &[(0, 4, "")],
            &["", "bar"],
        );
        check(
            "foo = bar",
            &[(0, 3), (6, 9)],
            &[(0, 3, ""), (6, 9, "")],
            &[],
        );
    }

    #[test]
    fn a_part_is_replaced() {
        let set = |spans: &[(usize, usize, char)]| {
            let spans = spans
                .iter()
                .map(|(start, end, value)| (Span::from(*start..*end), *value));
            AnnotationSet::new(spans)
        };
        let check = |before: &[(usize, usize, char)],
                     part: (usize, usize),
                     new: &[(usize, usize, char)],
                     expected: &str| {
            let mut annotated = set(before);
            annotated.replace(Span::from(part.0..part.1), set(new));
            let values = annotated.touching(Span::from(0..100)).into_iter();
            assert_eq!(values.map(|(_, value)| value).collect::<String>(), expected);
        };
        let before = [(0, 2, 'a'), (2, 4, 'b'), (4, 6, 'c'), (6, 8, 'd')];
        check(
            &before,
            (2, 6),
            &[(2, 3, 'x'), (5, 6, 'y'), (6, 8, 'z')],
            "axyd",
        );
        check(&before, (0, 8), &[], "");
        check(&before, (8, 20), &[(8, 9, 'e'), (9, 9, 'f')], "abcdef");
        check(&[], (0, 8), &[(1, 2, 'x')], "x");
    }
}
