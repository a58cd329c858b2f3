//! Selections of a view: sorted, disjoint, never empty as a set.

use base::{Bias, ByteOffset, Span};
use smallvec::{SmallVec, smallvec};

use crate::change::Change;

/// A selection from `anchor` to `head`, in bytes of one revision; a caret if both are equal. The
/// head can precede the anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// End that stays when the selection is extended.
    pub anchor: ByteOffset,
    /// End that moves: the caret.
    pub head: ByteOffset,
    /// Display column (in cells) that vertical motion aims at.
    pub goal: Option<u32>,
}

impl Selection {
    /// Creates a selection from `anchor` to `head`.
    pub fn new(anchor: ByteOffset, head: ByteOffset) -> Self {
        Self {
            anchor,
            head,
            goal: None,
        }
    }

    /// Creates an empty selection at `offset`.
    pub fn caret(offset: ByteOffset) -> Self {
        Self::new(offset, offset)
    }

    /// Returns the selected bytes.
    pub fn span(&self) -> Span {
        Span::new(self.anchor, self.head)
    }

    /// Returns the lesser end.
    pub fn start(&self) -> ByteOffset {
        self.anchor.min(self.head)
    }

    /// Returns the greater end.
    pub fn end(&self) -> ByteOffset {
        self.anchor.max(self.head)
    }

    /// Returns whether it is only a caret.
    pub fn is_empty(&self) -> bool {
        self.anchor == self.head
    }

    /// Returns whether the caret is at the start.
    pub fn is_reversed(&self) -> bool {
        self.head < self.anchor
    }

    /// Returns a selection of `span` with the same direction and goal column.
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

    /// Maps the selection through a change: a caret moves after text inserted at its offset; a
    /// non-empty selection excludes text inserted at its ends. Forgets the goal column unless the
    /// change is empty.
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

/// All selections of one view: sorted, disjoint and at least one. One of them, the primary, is the
/// newest and the one that the view follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionSet {
    /// Sorted and disjoint; two may touch if neither is empty.
    selections: SmallVec<[Selection; 1]>,
    /// Index of the primary selection.
    primary: usize,
}

impl SelectionSet {
    /// Sorts and merges selections; `primary` is an index into `selections` and follows its
    /// selection.
    ///
    /// Selections that overlap, and a caret at the edge of another, become one. An empty list
    /// becomes a caret at the start.
    pub fn new(selections: Vec<Selection>, primary: usize) -> Self {
        Self::merged(SmallVec::from_vec(selections), primary)
    }

    /// Creates a set of one selection.
    pub fn single(selection: Selection) -> Self {
        Self {
            selections: smallvec![selection],
            primary: 0,
        }
    }

    /// Iterates over the selections in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Selection> {
        self.selections.iter()
    }

    /// Returns the selections in order.
    pub fn as_slice(&self) -> &[Selection] {
        &self.selections
    }

    /// Returns the number of selections; never 0.
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    pub fn len(&self) -> usize {
        self.selections.len()
    }

    /// Returns the newest selection, which the view follows.
    pub fn primary(&self) -> &Selection {
        &self.selections[self.primary]
    }

    /// Returns the index of the primary selection in `as_slice`.
    pub fn primary_ix(&self) -> usize {
        self.primary
    }

    /// Maps every selection through a change; merges those that then meet.
    pub fn map(&self, change: &Change) -> Self {
        if change.is_empty() {
            return self.clone();
        }
        self.transform(|selection| selection.map(change))
    }

    /// Transforms every selection, then sorts and merges.
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

    /// Panics if the selections are not sorted and disjoint. Only tests call it.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        assert!(self.primary < self.selections.len());
        for pair in self.selections.windows(2) {
            assert!(pair[0].start() <= pair[1].start());
            assert!(!must_merge(&pair[0], &pair[1]), "{pair:?}");
        }
    }
}

/// Returns whether two ordered selections share a byte, or one is a caret at the other's edge.
fn must_merge(first: &Selection, second: &Selection) -> bool {
    second.start() < first.end()
        || second.start() == first.end() && (first.is_empty() || second.is_empty())
}

#[cfg(test)]
mod tests;
