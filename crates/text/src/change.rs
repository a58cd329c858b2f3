//! A change between two revisions, and the mapping of positions through it.
//!
//! A `Change` holds no text, only the spans that replaced each other. Positions map through it, and
//! consecutive changes compose into one.

use base::{Bias, ByteOffset, Revision, Span};
use smallvec::SmallVec;

use crate::edit::Author;

mod compose;

pub(crate) use crate::change::compose::compose_all;

/// A replaced span: `old` in the text before, `new` in the text after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Removed span, in the revision before.
    pub old: Span,
    /// Inserted span, in the revision after.
    pub new: Span,
}

/// The change of a text between two revisions, as replaced spans without their text. `Buffer` makes
/// it; others use it to carry offsets over an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Revision before the change.
    pub before: Revision,
    /// Revision after the change.
    pub after: Revision,
    /// Author of the change; the newest one if it is composed of several.
    pub author: Author,
    /// Sorted; in neither text do two overlap or touch.
    pub splices: SmallVec<[Splice; 1]>,
}

impl Change {
    /// Creates a change without splices, from `revision` to itself.
    pub fn none(revision: Revision) -> Self {
        Self {
            before: revision,
            after: revision,
            author: Author::User,
            splices: SmallVec::new(),
        }
    }

    /// Returns whether no byte was replaced.
    pub fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// Maps an offset of the text before to the text after.
    ///
    /// The ends of a replaced span map to the ends of its replacement. `bias` decides for positions
    /// strictly inside it, and for positions at a pure insertion.
    pub fn map(&self, offset: ByteOffset, bias: Bias) -> ByteOffset {
        // Find the first splice that does not lie entirely before the offset. No two splices touch,
        // so later ones do not affect it.
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

    /// Maps a span to the text after, excluding text inserted at its ends.
    ///
    /// An empty span stays empty and has left bias.
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

    /// Combines this change with `next`, which must start at the revision where this one ends. The
    /// author is that of `next`.
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

    /// Returns the change from the text after back to the text before, with the same author.
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
