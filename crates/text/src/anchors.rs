//! Positions that stay with the text around them.

use base::{Bias, ByteOffset};

use crate::change::Change;

/// A position that survives edits; see `Buffer::create_anchor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnchorId {
    slot: u32,
    generation: u32,
}

#[derive(Default)]
pub(crate) struct Anchors {
    positions: Vec<Option<(ByteOffset, Bias)>>,
}

impl Anchors {
    pub(crate) fn create(&mut self, offset: ByteOffset, bias: Bias) -> AnchorId {
        self.positions.push(Some((offset, bias)));
        AnchorId {
            slot: self.positions.len() as u32 - 1,
            generation: 0,
        }
    }

    pub(crate) fn resolve(&self, id: AnchorId) -> Option<ByteOffset> {
        self.positions
            .get(id.slot as usize)?
            .map(|(offset, _)| offset)
    }

    pub(crate) fn release(&mut self, id: AnchorId) {
        if let Some(slot) = self.positions.get_mut(id.slot as usize) {
            *slot = None;
        }
    }

    pub(crate) fn apply(&mut self, change: &Change) {
        for (offset, bias) in self.positions.iter_mut().flatten() {
            *offset = change.map(*offset, *bias);
        }
    }
}
