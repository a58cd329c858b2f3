//! Folds: spans of the buffer that are hidden behind a mark.

use base::{Bias, ByteOffset, Span};
use text::Snapshot;

use crate::marks::{Mark, Marks, Placed};

/// What is painted instead of folded text.
pub(crate) const PLACEHOLDER: &str = "⋯";

/// A fold as it is kept. Text typed at its ends stays outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldMark {
    pub(crate) id: u64,
}

impl Mark for FoldMark {
    type Rank = u64;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> u64 {
        self.id
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

/// The spans of folds, by start, outer ones before those inside them.
pub(crate) fn spans(folds: Vec<Placed<FoldMark>>) -> Vec<Span> {
    let mut spans: Vec<Span> = folds.into_iter().map(|placed| placed.span).collect();
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans.dedup();
    spans
}

/// The union of the folds that hide the byte at `offset`, if one does.
pub(crate) fn containing(folds: &Marks<FoldMark>, offset: ByteOffset) -> Option<Span> {
    let hiding = folds.touching(Span::at(offset)).into_iter();
    hiding
        .map(|placed| placed.span)
        .filter(|span| span.contains(offset))
        .reduce(|outer, span| outer.union(span))
}

/// What a fold really hides: never half a line ending.
pub(crate) fn hidden(span: Span, buffer: &Snapshot) -> Span {
    Span::new(
        buffer.clip(span.start, Bias::Left),
        buffer.clip(span.end, Bias::Left),
    )
}
