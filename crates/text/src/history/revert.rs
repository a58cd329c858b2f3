//! Taking back one step amid later ones that stay.
//!
//! The inverse of the step is carried over every later step, like a patch over a file that has
//! moved on. Where a later step touched the same text there is no answer.

use base::{ByteOffset, Span};

use crate::change::Splice;
use crate::edit::{Author, Edit};
use crate::history::patch::Splices;
use crate::history::{Direction, History, NodeId};
use crate::storage::Storage;

impl History {
    /// The newest step of an author that has not been taken back yet, and the edits to the current
    /// text, held by `storage`, that take it back.
    pub(crate) fn revert_of(
        &self,
        author: &Author,
        storage: &Storage,
    ) -> Option<(NodeId, Vec<Edit>)> {
        let (step, later) = self.newest_by(author)?;
        let splices = self.step_splices(step);
        let mut inverse = invert(&splices);
        for (_, over) in self.without_reverted(&later)? {
            inverse = carry(&inverse, &over)?;
        }
        let before = self.text_before(step, &later, storage);
        let edits = inverse.iter().zip(&splices).map(|(moved, splice)| Edit {
            span: moved.old,
            text: before.text(splice.old.range()).into_owned(),
        });
        Some((step, edits.collect()))
    }

    /// The step to take back, and the later ones in order.
    fn newest_by(&self, author: &Author) -> Option<(NodeId, Vec<NodeId>)> {
        let mut later = Vec::new();
        let mut reverted = Vec::new();
        let mut id = self.current;
        while id.0 > 0 {
            let node = self.node(id);
            if node.reverts.0 > 0 {
                reverted.push(node.reverts);
            } else if node.author == *author && !reverted.contains(&id) {
                later.reverse();
                return Some((id, later));
            }
            later.push(id);
            id = node.parent;
        }
        None
    }

    /// What the later steps did, without those among them that were taken back.
    fn without_reverted(&self, later: &[NodeId]) -> Option<Vec<(NodeId, Splices)>> {
        let mut steps: Vec<(NodeId, Splices)> = Vec::with_capacity(later.len());
        for &id in later {
            let reverts = self.node(id).reverts;
            match steps.iter().position(|(step, _)| *step == reverts) {
                Some(ix) if reverts.0 > 0 => {
                    let (_, splices) = steps.remove(ix);
                    cancel(&splices, &mut steps[ix..])?;
                }
                _ => steps.push((id, self.step_splices(id))),
            }
        }
        Some(steps)
    }

    /// The text as it was before `step`; takes the later steps back on a copy.
    fn text_before(&self, step: NodeId, later: &[NodeId], storage: &Storage) -> Storage {
        let mut text = storage.clone();
        for &id in later.iter().rev().chain([&step]) {
            self.apply(id, Direction::Backward, &mut text);
        }
        text
    }
}

/// Rewrites the steps behind a step that was taken back as if it had never been.
fn cancel(step: &Splices, behind: &mut [(NodeId, Splices)]) -> Option<()> {
    let mut inverse = invert(step);
    for (_, over) in behind {
        let moved = carry(&inverse, over)?;
        let backwards = invert(over);
        let news = carry(&backwards, &moved)?;
        let olds = carry(over, &inverse)?;
        for (splice, (old, new)) in over.iter_mut().zip(olds.iter().zip(&news)) {
            *splice = Splice {
                old: old.old,
                new: new.old,
            };
        }
        inverse = moved;
    }
    Some(())
}

fn invert(splices: &Splices) -> Splices {
    let swap = |splice: &Splice| Splice {
        old: splice.new,
        new: splice.old,
    };
    splices.iter().map(swap).collect()
}

/// The splices of `patch`, made to fit the text after `over`; both fit the same text now.
///
/// `None` where both change the same bytes, or one inserts within what the other removes.
fn carry(patch: &Splices, over: &Splices) -> Option<Splices> {
    let mut result = Splices::with_capacity(patch.len());
    let mut grown = 0isize;
    for splice in patch {
        let old = carry_span(splice.old, over)?;
        let new_start = old.start.0.saturating_add_signed(grown);
        grown += splice.new.len() as isize - splice.old.len() as isize;
        result.push(Splice {
            old,
            new: Span::from(new_start..new_start + splice.new.len()),
        });
    }
    Some(result)
}

fn carry_span(span: Span, over: &Splices) -> Option<Span> {
    // The first that ends at or behind the start; those before it merely move the span.
    let mut moved = 0isize;
    for splice in over {
        let other = splice.old;
        if other.start > span.end {
            break;
        }
        if conflicts(span, other) {
            return None;
        }
        let both_empty = span.is_empty() && other.is_empty();
        if other.end <= span.start && !both_empty || both_empty && other.end < span.start {
            moved += splice.new.len() as isize - splice.old.len() as isize;
        }
    }
    let shift = |offset: ByteOffset| ByteOffset(offset.0.saturating_add_signed(moved));
    Some(Span {
        start: shift(span.start),
        end: shift(span.end),
    })
}

fn conflicts(a: Span, b: Span) -> bool {
    let inside = |point: Span, wide: Span| {
        point.is_empty() && wide.start < point.start && point.end < wide.end
    };
    a.overlaps(b) || inside(a, b) || inside(b, a)
}
