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
}

impl Anchors {
    pub(crate) fn create(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
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
        tree.position(id.slot, id.generation).map(ByteOffset)
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
        // From the last to the first, so that the offsets of those before still hold.
        for splice in splices.iter().rev() {
            let (start, end) = (splice.old.start.0, splice.old.end.0);
            self.replace(start, end, splice.new.len());
        }
    }

    fn replace(&mut self, start: usize, end: usize, inserted: usize) {
        let is_insertion = start == end;
        if self.left.count() > 0 {
            // Strictly inside goes to the start, the end goes to the new end.
            if inserted > 0 {
                self.left.shift(end + usize::from(is_insertion), inserted);
            }
            if !is_insertion {
                self.left.collapse(start, end);
            }
        }
        if self.right.count() > 0 {
            // Strictly inside goes to the new end, the start stays.
            if inserted > 0 {
                self.right
                    .shift(start + usize::from(!is_insertion), inserted);
            }
            if !is_insertion {
                self.right.collapse(start + inserted, end + inserted);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        self.left.assert_invariants();
        self.right.assert_invariants();
    }
}

#[cfg(test)]
mod tests;
