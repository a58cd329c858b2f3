//! The order of items that match equally well.

use std::cmp::Ordering;
use std::collections::HashMap;

use gpui_kit::SharedString;

use super::CompletionItem;

/// Maximum accepted labels that are remembered.
const MAX_ACCEPTED: usize = 128;

/// Labels that were accepted in a view, for ranking.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankingMemory {
    /// Number of the last acceptance of a label.
    accepted: HashMap<SharedString, u64>,
    count: u64,
}

impl RankingMemory {
    /// Notes that an item with this label was accepted.
    pub(crate) fn note_accepted(&mut self, label: &SharedString) {
        self.count += 1;
        self.accepted.insert(label.clone(), self.count);
        if self.accepted.len() > MAX_ACCEPTED {
            let oldest = self.accepted.iter().min_by_key(|(_, number)| **number);
            if let Some(oldest) = oldest.map(|(label, _)| label.clone()) {
                self.accepted.remove(&oldest);
            }
        }
    }

    /// Returns the number of the last acceptance; larger is more recent, 0 is never.
    pub(crate) fn last_accepted(&self, label: &SharedString) -> u64 {
        self.accepted.get(label).copied().unwrap_or(0)
    }
}

/// The part of the rank of an item that does not depend on the typed word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankKey {
    /// Items of sources come before keywords, keywords before words.
    pub(crate) tier: u8,
    /// Number of the last acceptance.
    pub(crate) accepted: u64,
    /// Distance in bytes from the caret to the nearest occurrence of the word.
    pub(crate) distance: u32,
}

/// Compares two items of the same match quality; the better one is less.
pub(crate) fn compare(a: (&CompletionItem, RankKey), b: (&CompletionItem, RankKey)) -> Ordering {
    let ((a, key), (b, other)) = (a, b);
    key.tier
        .cmp(&other.tier)
        .then_with(|| a.sort_text.cmp(&b.sort_text))
        .then_with(|| b.is_preselected.cmp(&a.is_preselected))
        .then_with(|| other.accepted.cmp(&key.accepted))
        .then_with(|| key.distance.cmp(&other.distance))
        .then_with(|| a.label.cmp(&b.label))
        .then_with(|| a.detail.cmp(&b.detail))
        .then_with(|| a.id.cmp(&b.id))
}
