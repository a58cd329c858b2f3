//! Positions that stay with the text around them, however many there are.
//!
//! Invariant: an anchor moves exactly as `Change::map` with its bias.
//! Anchors of either bias live in a tree of their own, so that an insertion always parts a tree at
//! one point, even between anchors at the very same place. See `tree` for how edits stay cheap.

mod tree;

use base::{Bias, ByteOffset};

use crate::anchors::tree::Tree;
use crate::change::Splice;

/// A position that survives edits; see `Buffer::create_anchor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnchorId {
    bias: Bias,
    slot: u32,
    /// Tells a released anchor from a later one in the same slot.
    generation: u32,
}

impl AnchorId {
    /// To which side it clings.
    pub fn bias(&self) -> Bias {
        self.bias
    }
}

/// All anchors of one buffer.
#[derive(Default)]
pub(crate) struct Anchors {
    left: Tree,
    right: Tree,
    /// The newest text inserted in one place, which the trees have not heard of yet. No anchor
    /// lies within, so typing on and deleting there only changes its length.
    run_start: usize,
    run_len: usize,
}

impl Anchors {
    pub(crate) fn create(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
        self.settle();
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

    /// `None` when it has been released.
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

    /// `false` when it had been released before.
    pub(crate) fn release(&mut self, id: AnchorId) -> bool {
        let tree = match id.bias {
            Bias::Left => &mut self.left,
            Bias::Right => &mut self.right,
        };
        tree.release(id.slot, id.generation)
    }

    pub(crate) fn count(&self) -> usize {
        self.left.count() + self.right.count()
    }

    /// Moves every anchor along; the splices are those of one change.
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
                self.settle();
                (self.run_start, self.run_len) = (start, splice.new.len());
                return;
            }
        }
        self.settle();
        // From the last to the first, so that the offsets of those before still hold.
        for splice in splices.iter().rev() {
            if splice.old.is_empty() {
                self.insert(splice.old.start.0, splice.new.len());
            } else {
                self.replace(splice.old.start.0, splice.old.end.0, splice.new.len());
            }
        }
    }

    /// Tells the trees of the newest insertion.
    fn settle(&mut self) {
        if self.run_len > 0 {
            self.insert(self.run_start, self.run_len);
            self.run_len = 0;
        }
    }

    fn insert(&mut self, at: usize, len: usize) {
        self.left.shift(at + 1, len);
        self.right.shift(at, len);
    }

    /// `start` lies before `end`.
    fn replace(&mut self, start: usize, end: usize, inserted: usize) {
        // Strictly inside goes to the start, the end goes to the new end.
        self.left.shift(end, inserted);
        self.left.collapse(start, end);
        // Strictly inside goes to the new end, the start stays.
        self.right.shift(start + 1, inserted);
        self.right.collapse(start + inserted, end + inserted);
    }

    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        self.left.assert_invariants();
        self.right.assert_invariants();
    }
}

#[cfg(test)]
mod tests;
