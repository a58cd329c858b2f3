//! Reverts a step and keeps the later ones.
//!
//! The inverse of the step is rebased over every later step, like a patch over a file that has
//! changed. If a later step touched the same text, it cannot be reverted.

use base::{ByteOffset, Span};

use crate::change::Splice;
use crate::edit::{Author, Edit};
use crate::history::patch::Splices;
use crate::history::{Direction, History, NodeId};
use crate::storage::Storage;

impl History {
    /// Returns an author's newest step that is not reverted yet, and the edits to the current text,
    /// held by `storage`, that revert it. `None` if there is no such step or a later one touched
    /// the same text.
    pub(crate) fn revert_of(
        &self,
        author: &Author,
        storage: &Storage,
    ) -> Option<(NodeId, Vec<Edit>)> {
        let (step, later) = self.newest_by(author)?;
        let splices = self.step_splices(step);
        let mut inverse = invert(&splices);
        for (_, over) in self.without_reverted(&later)? {
            inverse = rebase(&inverse, &over)?;
        }
        let before = self.text_before(step, &later, storage);
        let edits = inverse.iter().zip(&splices).map(|(moved, splice)| Edit {
            span: moved.old,
            text: before.text(splice.old.range()).into_owned(),
        });
        Some((step, edits.collect()))
    }

    /// Returns the step to revert, and the later ones in order.
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

    /// Returns the splices of the later steps, without the reverted ones among them.
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

    /// Returns the text before `step`; reverts the later steps on a copy.
    fn text_before(&self, step: NodeId, later: &[NodeId], storage: &Storage) -> Storage {
        let mut text = storage.clone();
        for &id in later.iter().rev().chain([&step]) {
            self.apply(id, Direction::Backward, &mut text);
        }
        text
    }
}

/// Rewrites the steps after a reverted step as if it had never happened.
fn cancel(step: &Splices, behind: &mut [(NodeId, Splices)]) -> Option<()> {
    let mut inverse = invert(step);
    for (_, over) in behind {
        let moved = rebase(&inverse, over)?;
        let backwards = invert(over);
        let news = rebase(&backwards, &moved)?;
        let olds = rebase(over, &inverse)?;
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

/// Rebases `patch` over `over`; both refer to the same text.
///
/// Returns `None` if both change the same bytes, or one inserts into a span that the other removes.
fn rebase(patch: &Splices, over: &Splices) -> Option<Splices> {
    let mut result = Splices::with_capacity(patch.len());
    let mut grown = 0isize;
    for splice in patch {
        let old = rebase_span(splice.old, over)?;
        let new_start = old.start.0.saturating_add_signed(grown);
        grown += splice.new.len() as isize - splice.old.len() as isize;
        result.push(Splice {
            old,
            new: Span::from(new_start..new_start + splice.new.len()),
        });
    }
    Some(result)
}

/// Moves a span of the text before the splices of `over` to the text after them. `None` if one of
/// them conflicts with it.
fn rebase_span(span: Span, over: &Splices) -> Option<Span> {
    // Find the first splice that ends at or after the start; those before it only move the span.
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

/// Returns whether two spans share a byte, or one is empty and lies inside the other, not at an
/// end.
fn conflicts(a: Span, b: Span) -> bool {
    let inside = |point: Span, wide: Span| {
        point.is_empty() && wide.start < point.start && point.end < wide.end
    };
    a.overlaps(b) || inside(a, b) || inside(b, a)
}
