//! What became of the positions between two revisions.
//!
//! A `Change` holds no text, only which spans were replaced by which. Positions map through it,
//! and changes in a row compose into one.

use base::{Bias, ByteOffset, Revision, Span};
use smallvec::SmallVec;

use crate::edit::Author;

mod compose;

pub(crate) use crate::change::compose::compose_all;

/// One replaced span: `old` in the text before, `new` in the text after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    /// What went away, in the revision before.
    pub old: Span,
    /// What came instead, in the revision after.
    pub new: Span,
}

/// What happened to a text between two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The revision it leads from.
    pub before: Revision,
    /// The revision it leads to.
    pub after: Revision,
    /// Whose change it is; the newest author's when it is composed of several.
    pub author: Author,
    /// Sorted; no two overlap or touch, in neither text.
    pub splices: SmallVec<[Splice; 1]>,
}

impl Change {
    /// A change that leaves everything where it was.
    pub fn none(revision: Revision) -> Self {
        Self {
            before: revision,
            after: revision,
            author: Author::User,
            splices: SmallVec::new(),
        }
    }

    /// Whether no byte was replaced.
    pub fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// Where a position of the text before lies in the text after.
    ///
    /// The ends of a replaced span map to the ends of what replaced it. `bias` decides for
    /// positions strictly inside it, and for positions at the place of a pure insertion.
    pub fn map(&self, offset: ByteOffset, bias: Bias) -> ByteOffset {
        // The first splice that does not lie wholly before the offset. No two splices touch, so no
        // later one concerns it.
        let ix = self
            .splices
            .partition_point(|splice| splice.old.end < offset);
        if let Some(splice) = self
            .splices
            .get(ix)
            .filter(|splice| splice.old.start <= offset)
        {
            let at_end = match bias {
                _ if splice.old.is_empty() => bias == Bias::Right,
                _ if splice.old.end == offset => true,
                _ if splice.old.start == offset => false,
                bias => bias == Bias::Right,
            };
            return if at_end {
                splice.new.end
            } else {
                splice.new.start
            };
        }
        match ix.checked_sub(1) {
            Some(before) => {
                let splice = self.splices[before];
                splice.new.end + (offset - splice.old.end)
            }
            None => offset,
        }
    }

    /// Where a span lies afterwards, without text inserted at its ends.
    ///
    /// An empty span stays empty and clings to its left.
    pub fn map_span(&self, span: Span) -> Span {
        if span.is_empty() {
            return Span::at(self.map(span.start, Bias::Left));
        }
        let start = self.map(span.start, Bias::Right);
        let end = self.map(span.end, Bias::Left);
        Span {
            start,
            end: end.max(start),
        }
    }

    /// This change followed by `next` as one change.
    ///
    /// Takes time in proportion to the splices of both.
    pub fn compose(&self, next: &Change) -> Change {
        Change {
            before: self.before,
            after: next.after,
            author: next.author,
            splices: compose::compose(&self.splices, &next.splices),
        }
    }

    /// The change that leads back.
    pub fn inverse(&self) -> Change {
        Change {
            before: self.after,
            after: self.before,
            author: self.author,
            splices: self
                .splices
                .iter()
                .map(|splice| Splice {
                    old: splice.new,
                    new: splice.old,
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
