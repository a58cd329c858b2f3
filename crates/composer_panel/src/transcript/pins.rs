//! The items of a transcript that the user pinned.

use super::{CallItemState, ItemChange, Transcript, TranscriptEntry};

impl Transcript {
    /// Returns the record of an item that can be pinned: a message, an answer or the result of a call
    /// that has ended.
    pub fn pinnable(&self, at: usize) -> Option<u64> {
        let is_text = match self.items.get(at)? {
            TranscriptEntry::User { .. } | TranscriptEntry::Text { .. } => true,
            TranscriptEntry::Call(call) => matches!(call.state, CallItemState::Ended { .. }),
            _ => false,
        };
        let record = self.item_records.get(at).copied().flatten();
        record.filter(|_| is_text)
    }

    /// Returns whether an item is pinned.
    pub fn is_pinned(&self, at: usize) -> bool {
        let record = self.pinnable(at);
        record.is_some_and(|record| self.pins.contains(&record))
    }

    /// Pins or unpins a record. Returns the items that show it, to be drawn again.
    pub(super) fn set_pinned(&mut self, record: u64, is_pinned: bool) -> Vec<ItemChange> {
        if is_pinned {
            self.pins.insert(record);
        } else {
            self.pins.remove(&record);
        }
        let records = self.item_records.iter().enumerate();
        let shown = records.filter(|(_, it)| **it == Some(record));
        shown.map(|(at, _)| ItemChange::Changed(at)).collect()
    }
}
