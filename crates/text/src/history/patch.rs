//! The effect of one edit, and how to undo or redo it.

use std::ops::Range;

use base::{ByteOffset, Span};
use smallvec::SmallVec;

use crate::change::{Splice, compose_all};
use crate::history::texts::TextFragment;
use crate::history::{History, NodeId};
use crate::storage::Storage;

/// The direction in which a step is taken: undo or redo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Undoes the step: new text to old.
    Backward,
    /// Redoes the step: old text to new.
    Forward,
}

/// A replaced span with the removed and the inserted text.
pub(super) struct KeptSplice {
    /// Start of the span in the text before its edit.
    pub(super) at: usize,
    pub(super) removed: TextFragment,
    pub(super) inserted: TextFragment,
    /// Whether an edit's splices start with this one.
    pub(super) is_first: bool,
}

/// The whole texts before and after an edit that is too large to apply splice by splice. They share
/// most of their memory with each other and with the buffer.
pub(super) struct TextPair {
    pub(super) first_splice: usize,
    pub(super) before: Storage,
    pub(super) after: Storage,
}

/// The spans that one edit or step replaced, sorted and disjoint.
pub(crate) type Splices = SmallVec<[Splice; 1]>;

impl History {
    /// Takes the step `id` in `direction` on `storage`, which must hold the text at the step's near
    /// end. Returns the splices of the whole step.
    pub(crate) fn apply(&self, id: NodeId, direction: Direction, storage: &mut Storage) -> Splices {
        let mut patches: SmallVec<[Splices; 1]> = SmallVec::new();
        for patch in self.patches(id, direction) {
            let splices = self.patch_splices(patch.clone(), direction);
            self.apply_patch(patch, direction, &splices, storage);
            patches.push(splices);
        }
        compose_all(&patches)
    }

    /// Returns the combined splices of a step, from the text before it to the text after.
    pub(super) fn step_splices(&self, id: NodeId) -> Splices {
        let patches: SmallVec<[Splices; 1]> = self
            .patches(id, Direction::Forward)
            .into_iter()
            .map(|patch| self.patch_splices(patch, Direction::Forward))
            .collect();
        compose_all(&patches)
    }

    /// Returns the patches of a step, in the order of application.
    fn patches(&self, id: NodeId, direction: Direction) -> SmallVec<[Range<usize>; 1]> {
        let next = self.nodes.get(id.0 as usize + 1);
        let end = next.map_or(self.splices.len(), |next| next.first_splice);
        let mut patches = SmallVec::new();
        let mut start = self.node(id).first_splice;
        while start < end {
            let more = self.splices[start + 1..end].iter();
            let len = 1 + more.take_while(|kept| !kept.is_first).count();
            patches.push(start..start + len);
            start += len;
        }
        if direction == Direction::Backward {
            patches.reverse();
        }
        patches
    }

    fn patch_splices(&self, patch: Range<usize>, direction: Direction) -> Splices {
        let mut grown = 0isize;
        let mut splices = Splices::with_capacity(patch.len());
        for kept in &self.splices[patch] {
            let removed = self.texts.len(kept.removed);
            let inserted = self.texts.len(kept.inserted);
            let before = span(kept.at, removed);
            let after = span(kept.at.saturating_add_signed(grown), inserted);
            grown += inserted as isize - removed as isize;
            splices.push(match direction {
                Direction::Forward => Splice {
                    old: before,
                    new: after,
                },
                Direction::Backward => Splice {
                    old: after,
                    new: before,
                },
            });
        }
        splices
    }

    fn apply_patch(
        &self,
        patch: Range<usize>,
        direction: Direction,
        splices: &Splices,
        storage: &mut Storage,
    ) {
        if let Ok(ix) = self
            .wholes
            .binary_search_by_key(&patch.start, |whole| whole.first_splice)
        {
            let whole = &self.wholes[ix];
            *storage = match direction {
                Direction::Forward => whole.after.clone(),
                Direction::Backward => whole.before.clone(),
            };
            return;
        }
        // From last to first, so that the offsets of the remaining splices stay valid.
        for (kept, splice) in self.splices[patch].iter().zip(splices).rev() {
            let text = match direction {
                Direction::Forward => kept.inserted,
                Direction::Backward => kept.removed,
            };
            if !splice.old.is_empty() && storage.remove(splice.old.range()).is_none() {
                base::never!("a step does not fit the text it belongs to");
            }
            if !text.is_empty() {
                self.texts.insert_into(storage, splice.old.start.0, text);
            }
        }
    }
}

fn span(start: usize, len: usize) -> Span {
    Span {
        start: ByteOffset(start),
        end: ByteOffset(start + len),
    }
}
