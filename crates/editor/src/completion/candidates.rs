//! Completion items with the part of their rank that does not depend on the query.
//!
//! They are sorted by that part, in a background task if there are many.

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
    /// `letter_mask` of the filter text.
    pub(super) mask: u64,
    pub(super) key: RankKey,
    /// Whether a better candidate makes it redundant; see `mark_duplicates`.
    pub(super) is_duplicate: bool,
}

/// The items of one group, sorted.
#[derive(Clone, Debug)]
pub(crate) struct GroupItems {
    group: CompletionGroup,
    candidates: Vec<Candidate>,
}

impl GroupItems {
    /// Sorts items for a list. Each item comes with the distance in bytes from the caret to the nearest
    /// occurrence of its word; 0 for items that are not words of the text.
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

/// Returns sorted candidates with those of some groups replaced.
pub(super) fn with_groups(
    candidates: &[Candidate],
    groups: impl IntoIterator<Item = GroupItems>,
) -> Vec<Candidate> {
    let mut merged = candidates.to_vec();
    for items in groups {
        merged.retain(|candidate| candidate.group != items.group);
        merged.extend(items.candidates);
    }
    sort(&mut merged);
    mark_duplicates(&mut merged);
    merged
}

/// Sorts by rank. The standard sort takes linear time for a few sorted runs.
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
