//! Positions that stay with the surrounding text, efficient in any number.
//!
//! Invariant: an anchor moves exactly as `Change::map` with its bias. Anchors of each bias have
//! their own tree, so that an insertion splits a tree at one point, even between anchors at the
//! same offset. See `tree` for why edits stay cheap.

mod tree;

use base::{Bias, ByteOffset};

use crate::anchors::tree::AnchorTree;
use crate::change::Splice;

/// Handle of an anchor: a position in one buffer that moves with the surrounding text. Made by
/// `Buffer::create_anchor`; the buffer keeps the offset. It is invalid after its release and in any
/// other buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnchorId {
    bias: Bias,
    slot: u32,
    /// Distinguishes a released anchor from a later one in the same slot.
    generation: u32,
}

impl AnchorId {
    /// Returns the side of the surrounding text to which the anchor sticks: with `Left` it remains
    /// before text inserted at its offset, with `Right` it moves behind it.
    pub fn bias(&self) -> Bias {
        self.bias
    }
}

/// All anchors of one buffer.
#[derive(Default)]
pub(crate) struct AnchorSet {
    left: AnchorTree,
    right: AnchorTree,
    /// The newest text inserted at one place, not yet applied to the trees. No anchor lies within,
    /// so further typing and deleting there only changes its length.
    run_start: usize,
    run_len: usize,
}

impl AnchorSet {
    /// Adds an anchor at `offset`, which the caller has clamped to the text.
    pub(crate) fn create(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
        self.flush_run();
        let tree = match bias {
            Bias::Left => &mut self.left,
            Bias::Right => &mut self.right,
        };
        let (slot, generation) = tree.insert(offset.0);
        AnchorId {
            bias,
            slot,
            generation,
        }
    }

    /// Returns the offset of an anchor; `None` if it has been released.
    pub(crate) fn resolve(&self, id: AnchorId) -> Option<ByteOffset> {
        let tree = match id.bias {
            Bias::Left => &self.left,
            Bias::Right => &self.right,
        };
        let position = tree.position(id.slot, id.generation)?;
        let is_behind = match id.bias {
            Bias::Left => position > self.run_start,
            Bias::Right => position >= self.run_start,
        };
        let moved = if is_behind { self.run_len } else { 0 };
        Some(ByteOffset(position + moved))
    }

    /// Releases an anchor; `false` if it was already released.
    pub(crate) fn release(&mut self, id: AnchorId) -> bool {
        let tree = match id.bias {
            Bias::Left => &mut self.left,
            Bias::Right => &mut self.right,
        };
        tree.release(id.slot, id.generation)
    }

    /// Returns the number of anchors that are not released.
    pub(crate) fn count(&self) -> usize {
        self.left.count() + self.right.count()
    }

    /// Moves every anchor by the splices of one change. An anchor within a replaced span moves to
    /// the start or end of the replacement, by its bias. The splices refer to the text before and
    /// after as in `Change::splices`.
    pub(crate) fn apply(&mut self, splices: &[Splice]) {
        if self.count() == 0 {
            return;
        }
        if let [splice] = splices {
            let (start, end) = (splice.old.start.0, splice.old.end.0);
            let run_end = self.run_start + self.run_len;
            if self.run_len > 0 && self.run_start <= start && end <= run_end {
                self.run_len = self.run_len + splice.new.len() - splice.old.len();
                return;
            }
            if start == end {
                self.flush_run();
                (self.run_start, self.run_len) = (start, splice.new.len());
                return;
            }
        }
        self.flush_run();
        // From last to first, so that the offsets of the remaining splices stay valid.
        for splice in splices.iter().rev() {
            if splice.old.is_empty() {
                self.insert(splice.old.start.0, splice.new.len());
            } else {
                self.replace(splice.old.start.0, splice.old.end.0, splice.new.len());
            }
        }
    }

    /// Applies the pending insertion to the trees.
    fn flush_run(&mut self) {
        if self.run_len > 0 {
            self.insert(self.run_start, self.run_len);
            self.run_len = 0;
        }
    }

    fn insert(&mut self, at: usize, len: usize) {
        self.left.shift(at + 1, len);
        self.right.shift(at, len);
    }

    /// Replaces a range; `start` lies before `end`.
    fn replace(&mut self, start: usize, end: usize, inserted: usize) {
        // Positions strictly inside move to the start, those at the end to the new end.
        self.left.shift(end, inserted);
        self.left.collapse(start, end);
        // Positions strictly inside move to the new end, those at the start stay.
        self.right.shift(start + 1, inserted);
        self.right.collapse(start + inserted, end + inserted);
    }

    /// Panics if a tree is inconsistent. Only tests call it.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        self.left.assert_invariants();
        self.right.assert_invariants();
    }
}

#[cfg(test)]
mod tests;
