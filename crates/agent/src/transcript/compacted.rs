//! Replaces older parts of a conversation by a summary. Calls keep their results, or are removed
//! with them.

use std::collections::HashSet;
use std::sync::Arc;

use model::{MessagePart, PartContent};

use super::{PromptPart, SegmentRole, Transcript, TranscriptItem, hash_of};
use crate::record::PromptOrigin;

impl Transcript {
    /// Applies a compaction: `through` is the last record that `summary` replaces, if it is not
    /// empty; `reduced` gives results their shorter texts, and `dropped` names calls to remove with
    /// their results. `seq` is the number of the record of the compaction.
    pub(super) fn compact(
        &mut self,
        seq: u64,
        through: u64,
        reduced: &[(String, String)],
        dropped: &[String],
        summary: &str,
    ) {
        for (call, text) in reduced {
            self.reduce(call, text);
        }
        self.drop_calls(dropped);
        if !summary.trim().is_empty() {
            let cut = self.cut(through);
            self.items.drain(..cut);
            let said = PromptPart::new(
                seq,
                PromptOrigin::Summary,
                MessagePart::text(summary),
                SegmentRole::User,
            );
            self.items.splice(..0, said.map(TranscriptItem::Said));
        }
        self.restore_pins(seq);
        self.find_places();
    }

    /// Returns the summary that the compaction with this record put at the beginning; `None` if it
    /// wrote none, or if a later compaction replaced it.
    pub(crate) fn summary(&self, compaction: u64) -> Option<&str> {
        let said = self.items.iter().find_map(|item| match item {
            TranscriptItem::Said(said) if is_summary(said, compaction) => Some(said),
            _ => None,
        })?;
        match &said.part.content {
            PartContent::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Replaces the summary of a compaction. Does nothing if `summary` cannot return it.
    pub(super) fn edit_summary(&mut self, compaction: u64, summary: &str) {
        let edited = PromptPart::new(
            compaction,
            PromptOrigin::Summary,
            MessagePart::text(summary),
            SegmentRole::User,
        );
        let mut items = self.items.iter_mut();
        let kept = items.find_map(|item| match item {
            TranscriptItem::Said(said) if is_summary(said, compaction) => Some(said),
            _ => None,
        });
        if let (Some(kept), Some(edited)) = (kept, edited) {
            *kept = edited;
        }
    }

    /// Returns the number of items to remove: all up to the record, except an answer with missing
    /// results and everything after the first item that stays.
    fn cut(&self, through: u64) -> usize {
        let stays = self.items.iter().position(|item| match item {
            TranscriptItem::Said(said) => said.seq > through,
            TranscriptItem::Answer(answer) => {
                let mut slots = answer.calls.iter();
                let is_open = |last: Option<u64>| last.is_none_or(|last| last > through);
                let waits = |is_sealed: bool, result: Option<u64>| match result {
                    // A sealed call without a result never gets one.
                    None => !is_sealed,
                    result => is_open(result),
                };
                answer.seq > through
                    || slots.any(|slot| {
                        let result = slot.result.as_ref().map(|result| result.seq);
                        waits(answer.is_sealed, result)
                    })
            }
        });
        stays.unwrap_or(self.items.len())
    }

    fn reduce(&mut self, call: &str, text: &str) {
        let Some(&(item, slot)) = self.places.get(call) else {
            return;
        };
        if let Some(TranscriptItem::Answer(answer)) = self.items.get_mut(item)
            && let Some(result) = answer
                .calls
                .get_mut(slot)
                .and_then(|slot| slot.result.as_mut())
            && !text.trim().is_empty()
            && !self.pins.contains_key(&result.seq)
        {
            let part = Arc::make_mut(&mut result.part);
            if let PartContent::ToolResult { content, .. } = &mut part.content {
                *content = vec![PartContent::Text(text.to_owned())];
            }
            result.hash = hash_of(SegmentRole::User, part);
        }
    }

    fn drop_calls(&mut self, dropped: &[String]) {
        let dropped: HashSet<&str> = dropped.iter().map(String::as_str).collect();
        if dropped.is_empty() {
            return;
        }
        let pins = &self.pins;
        self.items.retain_mut(|item| {
            let TranscriptItem::Answer(answer) = item else {
                return true;
            };
            for slot in &mut answer.calls {
                // A running call cannot be removed.
                let is_over = slot.result.is_some() || answer.is_sealed;
                let result = slot.result.as_ref();
                let is_pinned = result.is_some_and(|it| pins.contains_key(&it.seq));
                slot.is_dropped |= is_over && !is_pinned && dropped.contains(slot.id.as_str());
            }
            answer.says_something()
        });
    }

    /// Finds the positions of all calls again, after items were removed.
    pub(super) fn find_places(&mut self) {
        // Ids stay reserved, so that a late result of a removed call is ignored.
        for place in self.places.values_mut() {
            *place = (usize::MAX, 0);
        }
        for (item, it) in self.items.iter().enumerate() {
            if let TranscriptItem::Answer(answer) = it {
                for (slot, call) in answer.calls.iter().enumerate() {
                    self.places.insert(call.id.clone(), (item, slot));
                }
            }
        }
    }
}

/// Whether a part is the summary of the compaction with this record.
fn is_summary(said: &PromptPart, compaction: u64) -> bool {
    said.seq == compaction && said.origin == PromptOrigin::Summary
}
