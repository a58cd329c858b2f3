//! The items of a list with the inputs of their ranking, in the order of equally good matches.
//!
//! Nothing here depends on the typed word, so that long answers can be prepared in the background.

use std::collections::HashSet;
use std::sync::Arc;

use super::CompletionItem;
use super::matcher::letter_mask;
use super::ranking::{RankKey, RankingMemory, compare};

/// Origin of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CompletionGroup {
    /// A source, by its number.
    Source(usize),
    /// Keywords of the language.
    Keywords,
    /// Words of the text.
    Words,
}

impl CompletionGroup {
    fn tier(self) -> u8 {
        match self {
            CompletionGroup::Source(_) => 0,
            CompletionGroup::Keywords => 1,
            CompletionGroup::Words => 2,
        }
    }
}

/// An item of a group with the inputs of its ranking.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) group: CompletionGroup,
    pub(super) item: Arc<CompletionItem>,
    /// Letters of the filter text.
    pub(super) mask: u64,
    pub(super) key: RankKey,
    /// Whether an earlier candidate offers the same.
    pub(super) is_duplicate: bool,
}

/// The items of one group, sorted.
#[derive(Clone, Debug)]
pub(crate) struct GroupItems {
    group: CompletionGroup,
    candidates: Vec<Candidate>,
}

impl GroupItems {
    /// Prepares items with the distances of their nearest use in bytes, which is 0 except for words.
    pub(crate) fn new(
        group: CompletionGroup,
        items: impl IntoIterator<Item = (CompletionItem, u32)>,
        memory: &RankingMemory,
    ) -> Self {
        let candidates = items.into_iter().map(|(item, distance)| Candidate {
            group,
            mask: letter_mask(&item.filter_text),
            key: RankKey {
                tier: group.tier(),
                accepted: memory.last_accepted(&item.label),
                distance,
            },
            is_duplicate: false,
            item: Arc::new(item),
        });
        let mut candidates: Vec<Candidate> = candidates.collect();
        sort(&mut candidates);
        Self { group, candidates }
    }
}

/// Returns sorted candidates with those of one group replaced by `items`.
pub(super) fn with_group(candidates: &[Candidate], items: GroupItems) -> Vec<Candidate> {
    let others = candidates.iter().filter(|it| it.group != items.group);
    let mut merged: Vec<Candidate> = others.cloned().collect();
    merged.extend(items.candidates);
    sort(&mut merged);
    mark_duplicates(&mut merged);
    merged
}

/// Sorts by rank. The sort is stable and fast for runs that are sorted.
fn sort(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| compare((&a.item, a.key), (&b.item, b.key)));
}

/// Marks words and keywords that a better group also offers, and repeated items. A snippet replaces
/// no word of the same name. The candidates are sorted, better groups first.
fn mark_duplicates(candidates: &mut [Candidate]) {
    let mut labels = HashSet::new();
    let mut items = HashSet::new();
    for candidate in candidates {
        let item = &candidate.item;
        let is_snippet = item.insert.is_snippet;
        let is_new_label = is_snippet || labels.insert(item.label.clone());
        let identity = (item.label.clone(), item.kind, item.detail.clone());
        let is_new = items.insert(identity) && (candidate.key.tier == 0 || is_new_label);
        candidate.is_duplicate = !is_new;
    }
}
