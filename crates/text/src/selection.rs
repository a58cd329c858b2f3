//! Selections: sorted, apart from each other, never none.

use base::{Bias, ByteOffset, Span};
use smallvec::{SmallVec, smallvec};

use crate::change::Change;

/// One selection, or a caret where it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The end that stays when the selection is extended.
    pub anchor: ByteOffset,
    /// The end that moves: the caret.
    pub head: ByteOffset,
    /// The display column (in cells) that vertical motion aims at.
    pub goal: Option<u32>,
}

impl Selection {
    /// A selection from `anchor` to `head`.
    pub fn new(anchor: ByteOffset, head: ByteOffset) -> Self {
        Self {
            anchor,
            head,
            goal: None,
        }
    }

    /// A caret.
    pub fn caret(offset: ByteOffset) -> Self {
        Self::new(offset, offset)
    }

    /// The selected bytes.
    pub fn span(&self) -> Span {
        Span::new(self.anchor, self.head)
    }

    /// The lesser end.
    pub fn start(&self) -> ByteOffset {
        self.anchor.min(self.head)
    }

    /// The greater end.
    pub fn end(&self) -> ByteOffset {
        self.anchor.max(self.head)
    }

    /// Whether it is a mere caret.
    pub fn is_empty(&self) -> bool {
        self.anchor == self.head
    }

    /// Whether the caret stands at the start.
    pub fn is_reversed(&self) -> bool {
        self.head < self.anchor
    }

    /// The same selection over another span.
    pub fn with_span(&self, span: Span) -> Self {
        let (anchor, head) = if self.is_reversed() {
            (span.end, span.start)
        } else {
            (span.start, span.end)
        };
        Self {
            anchor,
            head,
            goal: self.goal,
        }
    }

    /// Where the selection lies after a change: a caret moves behind what was inserted at its
    /// place, a wider selection does not take in what was inserted at its ends.
    pub fn map(&self, change: &Change) -> Self {
        if change.is_empty() {
            return *self;
        }
        let span = if self.is_empty() {
            Span::at(change.map(self.head, Bias::Right))
        } else {
            change.map_span(self.span())
        };
        Self {
            goal: None,
            ..self.with_span(span)
        }
    }
}

/// All selections of one view. One of them, the primary, is the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionSet {
    /// Sorted; apart from each other, except that two may touch when neither is empty.
    selections: SmallVec<[Selection; 1]>,
    /// The index of the primary.
    primary: usize,
}

impl SelectionSet {
    /// Sorts and merges; `primary` is an index into `selections` and follows its selection.
    ///
    /// An empty list becomes a caret at the start.
    pub fn new(selections: Vec<Selection>, primary: usize) -> Self {
        Self::merged(SmallVec::from_vec(selections), primary)
    }

    /// Just one.
    pub fn single(selection: Selection) -> Self {
        Self {
            selections: smallvec![selection],
            primary: 0,
        }
    }

    /// The selections in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Selection> {
        self.selections.iter()
    }

    /// The selections in order.
    pub fn as_slice(&self) -> &[Selection] {
        &self.selections
    }

    /// How many there are; never 0.
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    pub fn len(&self) -> usize {
        self.selections.len()
    }

    /// The newest selection.
    pub fn primary(&self) -> &Selection {
        &self.selections[self.primary]
    }

    /// The place of the primary within the order.
    pub fn primary_ix(&self) -> usize {
        self.primary
    }

    /// Every selection after a change, merged where the change moved them together.
    pub fn map(&self, change: &Change) -> Self {
        if change.is_empty() {
            return self.clone();
        }
        self.transform(|selection| selection.map(change))
    }

    /// Every selection transformed, sorted and merged again.
    pub fn transform(&self, transform: impl FnMut(&Selection) -> Selection) -> Self {
        Self::merged(
            self.selections.iter().map(transform).collect(),
            self.primary,
        )
    }

    fn merged(mut selections: SmallVec<[Selection; 1]>, primary: usize) -> Self {
        let Some(&newest) = selections.get(primary).or(selections.last()) else {
            return Self::single(Selection::caret(ByteOffset(0)));
        };
        selections.sort_by_key(|selection| (selection.start(), selection.end()));
        let mut result: SmallVec<[Selection; 1]> = SmallVec::with_capacity(selections.len());
        let mut primary = 0;
        for selection in selections {
            let is_primary = selection == newest;
            match result.last_mut() {
                Some(last) if must_merge(last, &selection) => {
                    let span = last.span().union(selection.span());
                    let kept = if is_primary { selection } else { *last };
                    *last = kept.with_span(span);
                }
                _ => result.push(selection),
            }
            if is_primary {
                primary = result.len() - 1;
            }
        }
        Self {
            selections: result,
            primary,
        }
    }

    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        assert!(self.primary < self.selections.len());
        for pair in self.selections.windows(2) {
            assert!(pair[0].start() <= pair[1].start());
            assert!(!must_merge(&pair[0], &pair[1]), "{pair:?}");
        }
    }
}

/// Whether two selections in order cover a common byte, or one is a caret at the other's edge.
fn must_merge(first: &Selection, second: &Selection) -> bool {
    second.start() < first.end()
        || second.start() == first.end() && (first.is_empty() || second.is_empty())
}

#[cfg(test)]
mod tests;
