//! Folds: spans of the buffer hidden behind a placeholder.

use base::{Bias, ByteOffset, Span};
use text::{PlacedMark, Snapshot, SpanMark, SpanSet};

/// Text painted in place of a fold.
pub(crate) const PLACEHOLDER: &str = "⋯";

/// Stored fold. Text typed at its ends stays outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldMark {
    pub(crate) id: u64,
}

impl SpanMark for FoldMark {
    type Rank = u64;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> u64 {
        self.id
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

/// Returns the spans of folds, without duplicates, sorted by start, outer ones first.
pub(crate) fn spans(folds: Vec<PlacedMark<FoldMark>>) -> Vec<Span> {
    let mut spans: Vec<Span> = folds.into_iter().map(|placed| placed.span).collect();
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans.dedup();
    spans
}

/// Returns the union of the folds that hide the byte at `offset`. Returns `None` if the byte is not
/// hidden.
pub(crate) fn containing(folds: &SpanSet<FoldMark>, offset: ByteOffset) -> Option<Span> {
    let hiding = folds.touching(Span::at(offset)).into_iter();
    hiding
        .map(|placed| placed.span)
        .filter(|span| span.contains(offset))
        .reduce(|outer, span| outer.union(span))
}

/// Returns the hidden span of a fold: never half a line ending.
pub(crate) fn hidden(span: Span, buffer: &Snapshot) -> Span {
    Span::new(
        buffer.clip(span.start, Bias::Left),
        buffer.clip(span.end, Bias::Left),
    )
}
