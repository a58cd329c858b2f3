//! A set of annotations whose spans follow the text.

use std::collections::BTreeMap;

use base::{Bias, Span};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet, Splice};

use crate::model::known_windows::map_window;

/// Maximum number of bytes of typed text that lengthen an annotation.
const MAX_GROWTH: usize = 256;
/// Number of annotations that are freed quickly.
const SMALL: u64 = 2_000;

/// Annotations of one kind, sorted by their starts. Cheap to clone.
#[derive(Clone)]
pub struct AnnotationSet<T: Clone> {
    marks: SpanSet<AnnotationMark<T>>,
    /// The rank of the next mark. Ranks are unique among all marks that were ever in the set.
    next_rank: u64,
}

/// The effect of text that is typed at the edges of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationEdges {
    /// Typed word chars lengthen the annotation that they follow, and other chars end it.
    Word,
    /// Text typed at an edge is no part of the annotation.
    Fixed,
    /// Text typed at an edge becomes part of the annotation.
    Growing,
}

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
        Self {
            marks: SpanSet::new(),
            next_rank: 0,
        }
    }
}

impl<T: Clone> AnnotationSet<T> {
    /// Creates a set. Takes time proportional to the number of annotations.
    pub fn new(annotations: impl IntoIterator<Item = (Span, T)>) -> Self {
        let mut set = Self::default();
        set.insert(annotations);
        set
    }

    fn insert(&mut self, annotations: impl IntoIterator<Item = (Span, T)>) {
        let mut marks = Vec::new();
        for (span, value) in annotations {
            marks.push(PlacedMark {
                span,
                mark: AnnotationMark {
                    rank: self.next_rank,
                    is_point: span.is_empty(),
                    value,
                },
            });
            self.next_rank += 1;
        }
        self.marks.insert(marks);
    }

    /// Returns whether the set contains no annotation.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Returns whether the set may contain so many annotations that freeing them takes long.
    pub(super) fn may_be_large(&self) -> bool {
        self.next_rank > SMALL
    }

    /// Returns the annotations that overlap a span or touch its ends, without those whose text was deleted.
    pub(crate) fn touching(&self, span: Span) -> Vec<(Span, T)> {
        let placed = self.marks.touching(span).into_iter();
        let placed = placed.filter(|placed| placed.mark.is_point || !placed.span.is_empty());
        placed
            .map(|placed| (placed.span, placed.mark.value))
            .collect()
    }

    /// Returns the annotations within a span, without those whose text was deleted.
    fn within(&self, span: Span) -> Vec<(Span, T)> {
        let mut annotations = self.touching(span);
        annotations.retain(|(annotation, _)| span.covers(*annotation));
        annotations
    }

    /// Returns whether both sets have the same annotations within a span. Takes time proportional to their number.
    pub(super) fn is_equal_in(&self, span: Span, other: &Self) -> bool
    where
        T: PartialEq,
    {
        self.within(span) == other.within(span)
    }

    /// Replaces the annotations within a span by those of another set within it.
    pub(super) fn replace(&mut self, span: Span, other: &Self) {
        let mut before = self.marks.touching(span);
        before.retain(|placed| span.covers(placed.span));
        self.marks.remove(&before);
        self.insert(other.within(span));
    }

    /// Moves the annotations with a change.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot, edges: AnnotationEdges) {
        if self.marks.is_empty() {
            return;
        }
        let resized = match edges {
            AnnotationEdges::Word => self.resized_words(change, after),
            AnnotationEdges::Growing => self.grown(change),
            AnnotationEdges::Fixed => Vec::new(),
        };
        let (before, spans): (Vec<_>, Vec<Span>) = resized.into_iter().unzip();
        self.marks.remove(&before);
        self.marks.map(change);
        let resized = before.into_iter().zip(spans);
        let resized = resized.map(|(PlacedMark { mark, .. }, span)| PlacedMark { span, mark });
        self.marks.insert(resized.collect());
    }

    /// Returns the marks whose end is not the mapped one, with their new spans.
    fn resized_words(
        &self,
        change: &Change,
        after: &Snapshot,
    ) -> Vec<(PlacedMark<AnnotationMark<T>>, Span)> {
        let mut resized = BTreeMap::new();
        for splice in &change.splices {
            let word = word_len(splice, after);
            for placed in self.marks.touching(Span::at(splice.old.start)) {
                let is_before = placed.span.start < splice.old.start;
                let is_inside = splice.old.end < placed.span.end;
                let is_resized = if is_inside {
                    word < splice.new.len()
                } else {
                    word > 0
                };
                if is_before && is_resized {
                    let start = change.map(placed.span.start, Bias::Right);
                    let span = Span::new(start, splice.new.start + word);
                    // Later splices are behind the new end.
                    resized.entry(placed.mark.rank).or_insert((placed, span));
                }
            }
        }
        resized.into_values().collect()
    }

    /// Returns the marks at whose edges text was inserted, with their new spans.
    fn grown(&self, change: &Change) -> Vec<(PlacedMark<AnnotationMark<T>>, Span)> {
        let mut grown = BTreeMap::new();
        let insertions = change.splices.iter();
        for splice in insertions.filter(|splice| splice.old.is_empty()) {
            for placed in self.marks.touching(splice.old) {
                if !placed.span.is_empty() {
                    let span = map_window(change, placed.span);
                    grown.insert(placed.mark.rank, (placed, span));
                }
            }
        }
        grown.into_values().collect()
    }
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
mod tests;
