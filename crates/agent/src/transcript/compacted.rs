//! Older parts give way to something shorter. Calls keep their results, or go with them.

use std::collections::HashSet;
use std::sync::Arc;

use model::{Content, Part};

use super::{Item, PieceRole, Said, Transcript, hash_of};
use crate::record::Origin;

impl Transcript {
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
            let said = Said::new(seq, Origin::Summary, Part::text(summary), PieceRole::User);
            self.items.splice(..0, said.map(Item::Said));
        }
        self.find_places();
    }

    /// How many items go: all up to the record, but no answer without all of its results, and nothing behind one
    /// that stays.
    fn cut(&self, through: u64) -> usize {
        let stays = self.items.iter().position(|item| match item {
            Item::Said(said) => said.seq > through,
            Item::Answer(answer) => {
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
        if let Some(Item::Answer(answer)) = self.items.get_mut(item)
            && let Some(result) = answer
                .calls
                .get_mut(slot)
                .and_then(|slot| slot.result.as_mut())
            && !text.trim().is_empty()
        {
            let part = Arc::make_mut(&mut result.part);
            if let Content::ToolResult { content, .. } = &mut part.content {
                *content = vec![Content::Text(text.to_owned())];
            }
            result.hash = hash_of(PieceRole::User, part);
        }
    }

    fn drop_calls(&mut self, dropped: &[String]) {
        let dropped: HashSet<&str> = dropped.iter().map(String::as_str).collect();
        if dropped.is_empty() {
            return;
        }
        self.items.retain_mut(|item| {
            let Item::Answer(answer) = item else {
                return true;
            };
            for slot in &mut answer.calls {
                // A call that still runs cannot be forgotten.
                let is_over = slot.result.is_some() || answer.is_sealed;
                slot.is_dropped |= is_over && dropped.contains(slot.id.as_str());
            }
            answer.says_something()
        });
    }

    pub(super) fn find_places(&mut self) {
        // Ids stay taken for good, so that a late result of a call that is gone finds nothing.
        for place in self.places.values_mut() {
            *place = (usize::MAX, 0);
        }
        for (item, it) in self.items.iter().enumerate() {
            if let Item::Answer(answer) = it {
                for (slot, call) in answer.calls.iter().enumerate() {
                    self.places.insert(call.id.clone(), (item, slot));
                }
            }
        }
    }
}
