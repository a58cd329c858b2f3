//! The list of items that match the typed word, and its selected row.
//!
//! Invariant: `rows` holds each matching candidate once. After `set_query` they are in rank order;
//! after `merge` those up to the selected row keep their place.
//! Start at `CompletionList::merge` and `CompletionList::set_query`.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use gpui_kit::SharedString;

use super::candidates::{Candidate, CompletionGroup, GroupItems, with_groups};
use super::matcher::{MatchQuality, letter_mask, match_quality};
use super::{CompletionId, CompletionItem, CompletionKind};

/// The items for one word. A clone is cheap, so that a background task can merge items into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionList {
    query: String,
    /// Sorted by `ranking::compare`.
    candidates: Arc<Vec<Candidate>>,
    /// Match quality in the upper half, index of the candidate in the lower one.
    rows: Vec<u64>,
    selected: usize,
    has_moved: bool,
    /// Incremented by every change of the items.
    item_changes: u64,
    /// Incremented by every change of the query or the selection.
    view_changes: u64,
}

impl CompletionList {
    /// Creates an empty list for a typed word.
    pub(crate) fn new(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the typed word.
    pub(crate) fn query(&self) -> &str {
        &self.query
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no item matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the selected row; 0 if the list is empty.
    pub(crate) fn selected_row(&self) -> usize {
        self.selected
    }

    /// Returns whether the user moved the selection.
    pub(crate) fn has_moved(&self) -> bool {
        self.has_moved
    }

    /// Returns the item of a row and its group.
    pub(crate) fn row(&self, row: usize) -> Option<(CompletionGroup, &Arc<CompletionItem>)> {
        let candidate = self.candidate(*self.rows.get(row)?)?;
        Some((candidate.group, &candidate.item))
    }

    /// Returns the selected item and its group.
    pub(crate) fn selected(&self) -> Option<(CompletionGroup, &Arc<CompletionItem>)> {
        self.row(self.selected)
    }

    /// Returns whether a row is an item of a source.
    pub(crate) fn has_rows_of_sources(&self) -> bool {
        let candidates = self.rows.iter().filter_map(|row| self.candidate(*row));
        candidates
            .into_iter()
            .any(|candidate| candidate.key.tier == 0)
    }

    /// Selects a row; the last one if there are fewer.
    pub(crate) fn select(&mut self, row: usize) {
        self.has_moved = true;
        self.selected = row.min(self.rows.len().saturating_sub(1));
        self.view_changes += 1;
    }

    /// Moves the selection by one row, from the last to the first and back.
    pub(crate) fn cycle(&mut self, is_down: bool) {
        let count = self.rows.len();
        if count > 0 {
            let step = if is_down { 1 } else { count - 1 };
            self.select((self.selected + step) % count);
        }
    }

    /// Moves the selection by up to `rows` rows without wrapping.
    pub(crate) fn page(&mut self, rows: usize, is_down: bool) {
        self.select(if is_down {
            self.selected.saturating_add(rows)
        } else {
            self.selected.saturating_sub(rows)
        });
    }

    /// Changes the typed word: filters and ranks all items. A row to which the user moved stays
    /// selected while it matches; otherwise the best row is selected.
    pub(crate) fn set_query(&mut self, query: &str) {
        if query == self.query {
            return;
        }
        let chosen = self
            .selected()
            .filter(|_| self.has_moved)
            .map(|(group, item)| (group, item.id));
        let is_extended = !self.query.is_empty() && query.starts_with(&self.query);
        self.query.clear();
        self.query.push_str(query);
        self.view_changes += 1;
        if is_extended {
            self.narrow();
        } else {
            self.rank();
        }
        let row = chosen.and_then(|chosen| self.row_of(chosen));
        self.has_moved = row.is_some();
        self.selected = row.unwrap_or_else(|| self.best_row());
    }

    /// Replaces the items of groups. Rows up to the selected one keep their place if their items are
    /// still there, matched by label, kind and detail, or by label alone.
    pub(crate) fn merge(&mut self, groups: impl IntoIterator<Item = GroupItems>) {
        let kept = self.rows_to_selected();
        self.candidates = Arc::new(with_groups(&self.candidates, groups));
        self.item_changes += 1;
        self.rank();
        self.select_among(&kept);
    }

    /// Replaces this list with `merged`, a clone of it into which items were merged, and returns the
    /// replaced list. If the query or the selection changed after cloning, applies them to `merged`.
    ///
    /// # Errors
    /// Returns `merged` if the items of this list changed after cloning.
    pub(crate) fn take_over(&mut self, mut merged: Self) -> Result<Self, Self> {
        if merged.item_changes != self.item_changes + 1 {
            return Err(merged);
        }
        if merged.view_changes != self.view_changes {
            merged.query.clone_from(&self.query);
            merged.has_moved = self.has_moved;
            merged.view_changes = self.view_changes;
            merged.rank();
            merged.select_among(&self.rows_to_selected());
        }
        Ok(mem::replace(self, merged))
    }

    /// Replaces an item by its resolved form, which keeps its place.
    pub(crate) fn resolve(&mut self, group: CompletionGroup, item: CompletionItem) {
        let is_it = |known: &&mut Candidate| known.group == group && known.item.id == item.id;
        self.item_changes += 1;
        if let Some(known) = Arc::make_mut(&mut self.candidates).iter_mut().find(is_it) {
            known.item = Arc::new(CompletionItem {
                label: known.item.label.clone(),
                filter_text: known.item.filter_text.clone(),
                sort_text: known.item.sort_text.clone(),
                ..item
            });
        }
    }

    /// Returns all matching items in the order of the rows.
    #[cfg(test)]
    pub(crate) fn labels(&self) -> Vec<SharedString> {
        let rows = (0..self.len()).filter_map(|row| self.row(row));
        rows.map(|(_, item)| item.label.clone()).collect()
    }

    fn candidate(&self, row: u64) -> Option<&Candidate> {
        self.candidates.get(candidate_of(row))
    }

    fn row_of(&self, (group, id): (CompletionGroup, CompletionId)) -> Option<usize> {
        self.rows.iter().position(|row| {
            self.candidate(*row)
                .is_some_and(|it| it.group == group && it.item.id == id)
        })
    }

    /// Fills the rows with the matching candidates in rank order.
    fn rank(&mut self) {
        self.rows = self.matching(0..self.candidates.len());
    }

    /// Ranks the rows again after the query was extended. Only items that matched a query can match an
    /// extension of it.
    fn narrow(&mut self) {
        let rows = mem::take(&mut self.rows);
        self.rows = self.matching(rows.into_iter().map(candidate_of));
    }

    fn matching(&self, candidates: impl Iterator<Item = usize>) -> Vec<u64> {
        let mask = letter_mask(&self.query);
        let mut rows = Vec::new();
        for ix in candidates {
            let candidate = &self.candidates[ix];
            if candidate.is_duplicate || candidate.mask & mask != mask {
                continue;
            }
            if let Some(quality) = match_quality(&self.query, &candidate.item.filter_text) {
                rows.push((quality as u64) << 32 | ix as u64);
            }
        }
        rows.sort_unstable();
        rows
    }

    /// Moves the rows of `kept` to the front and selects the last of them; selects the best row if
    /// `kept` is empty.
    fn select_among(&mut self, kept: &[Arc<CompletionItem>]) {
        if kept.is_empty() {
            self.selected = self.best_row();
        } else {
            self.keep_rows(kept);
        }
    }

    /// Returns the row to select: the first preselected one that matches as well as the first row.
    fn best_row(&self) -> usize {
        let Some(best) = self.rows.first().map(|row| row >> 32) else {
            return 0;
        };
        if best == MatchQuality::Exact as u64 {
            return 0;
        }
        let equal = self.rows.iter().take_while(|row| *row >> 32 == best);
        let is_preselected = |row: &u64| {
            self.candidate(*row)
                .is_some_and(|candidate| candidate.item.is_preselected)
        };
        let mut equal = equal.enumerate();
        equal
            .find(|(_, row)| is_preselected(row))
            .map_or(0, |(ix, _)| ix)
    }

    fn rows_to_selected(&self) -> Vec<Arc<CompletionItem>> {
        let rows = self.rows.iter().take(self.selected + 1);
        rows.filter_map(|row| self.candidate(*row))
            .map(|candidate| candidate.item.clone())
            .collect()
    }

    /// Moves the rows of `kept` to the front in their order, and selects the last of them.
    fn keep_rows(&mut self, kept: &[Arc<CompletionItem>]) {
        let mut free: HashMap<&SharedString, Vec<u64>> =
            kept.iter().map(|item| (&item.label, Vec::new())).collect();
        for row in &self.rows {
            let label = self.candidate(*row).map(|candidate| &candidate.item.label);
            if let Some(rows) = label.and_then(|label| free.get_mut(label)) {
                rows.push(*row);
            }
        }
        let mut front = Vec::with_capacity(self.rows.len());
        let mut is_selected_kept = false;
        for old in kept {
            let Some(rows) = free.get_mut(&old.label) else {
                continue;
            };
            let is_same = |row: &u64| {
                self.candidate(*row)
                    .is_some_and(|it| it.item.kind == old.kind && it.item.detail == old.detail)
            };
            let at = rows.iter().position(is_same);
            let at = at.or((!rows.is_empty()).then_some(0));
            is_selected_kept = at.is_some();
            front.extend(at.map(|at| rows.remove(at)));
        }
        self.has_moved &= is_selected_kept;
        self.selected = if is_selected_kept { front.len() - 1 } else { 0 };
        let kept_rows: HashSet<u64> = front.iter().copied().collect();
        let rest = self.rows.iter().filter(|row| !kept_rows.contains(*row));
        front.extend(rest);
        self.rows = front;
    }

    /// Returns whether the typed word is the only item, so that accepting it would not change the text.
    pub(crate) fn is_only_the_word(&self) -> bool {
        let is_word = |item: &CompletionItem| {
            item.insert.text == self.query
                && !item.insert.is_snippet
                && item.additional_edits.is_empty()
        };
        self.len() == 1 && self.row(0).is_some_and(|(_, item)| is_word(item))
    }

    /// Returns whether an item is exactly the typed word.
    pub(crate) fn has_exact_match(&self) -> bool {
        let first = self.rows.first();
        first.is_some_and(|row| row >> 32 == MatchQuality::Exact as u64)
    }
}

/// Returns the index of the candidate of a row.
fn candidate_of(row: u64) -> usize {
    (row & u64::from(u32::MAX)) as usize
}

/// Builds the items of words with their distances.
pub(crate) fn word_items(words: Vec<(String, u32)>) -> impl Iterator<Item = (CompletionItem, u32)> {
    words.into_iter().zip(0..).map(|((word, distance), id)| {
        let mut item = CompletionItem::new(CompletionId(id), word, CompletionKind::Text);
        item.sort_text = SharedString::default();
        (item, distance)
    })
}
