//! The tabs of one pane: their order, and which is active, pinned or a preview.
//!
//! Plain data. Must not know: what an item is, views, gpui.
//! Invariants: pinned tabs precede the others; at most one tab is a preview, and it is never
//! pinned; `recent` contains every tab once and ends with the active one.
//! Start at `TabList::open`.

use serde::{Deserialize, Serialize};

/// Id of an item shown in a tab. Never reused within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemId(pub u64);

/// Whether a tab opens as a preview or permanently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabOpenMode {
    /// Replaced by the next preview.
    Preview,
    /// Stays open until it is closed.
    Lasting,
}

/// State of one tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TabState {
    /// The item that the tab shows.
    pub item: ItemId,
    /// Pinned to the front, and kept by "close others".
    pub pinned: bool,
    /// Replaced by the next preview.
    pub preview: bool,
}

/// The set of tabs that a command closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseScope {
    /// This tab, pinned or not.
    One(ItemId),
    /// All tabs except this one and pinned ones.
    Others(ItemId),
    /// All tabs to the right of this one, except pinned ones.
    RightOf(ItemId),
    /// All tabs except pinned ones.
    All,
}

/// The tabs of one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TabList {
    tabs: Vec<TabState>,
    recent: Vec<ItemId>,
}

impl TabList {
    /// Inserts a tab after the active one and shows it. A preview replaces the previous preview,
    /// whose item is returned.
    pub fn open(&mut self, item: ItemId, opening: TabOpenMode) -> Option<ItemId> {
        if self.contains(item) {
            if opening == TabOpenMode::Lasting {
                self.keep_open(item);
            }
            self.activate(item);
            return None;
        }
        let index = self.place_for_new();
        let preview = opening == TabOpenMode::Preview;
        let old = preview.then(|| self.preview()).flatten();
        let tab = TabState {
            item,
            pinned: false,
            preview,
        };
        match old.and_then(|old| self.index_of(old)) {
            Some(old_index) => {
                self.tabs[old_index] = tab;
                self.recent.retain(|id| Some(*id) != old);
            }
            None => self.tabs.insert(index, tab),
        }
        self.recent.push(item);
        old
    }

    /// Inserts a tab from another pane at `index`, as a permanent tab, and shows it. Pinned tabs
    /// stay before the others.
    pub fn insert(&mut self, tab: TabState, index: usize) {
        if self.contains(tab.item) {
            base::never!("a tab was inserted twice");
            return;
        }
        let tab = TabState {
            preview: false,
            ..tab
        };
        let (from, to) = self.range_for(tab.pinned);
        self.tabs.insert(index.clamp(from, to), tab);
        self.recent.push(tab.item);
    }

    /// Removes a tab and returns its state, or `None` if there is no such tab. If the tab was
    /// active, the most recently shown one of the remaining tabs becomes active.
    pub fn remove(&mut self, item: ItemId) -> Option<TabState> {
        let index = self.index_of(item)?;
        self.recent.retain(|id| *id != item);
        Some(self.tabs.remove(index))
    }

    /// Makes the tab with this item the active tab. Returns `false` if there is no such tab.
    pub fn activate(&mut self, item: ItemId) -> bool {
        if !self.contains(item) {
            return false;
        }
        self.recent.retain(|id| *id != item);
        self.recent.push(item);
        true
    }

    /// Turns a preview into a permanent tab. Returns `false` if the tab is not a preview.
    pub fn keep_open(&mut self, item: ItemId) -> bool {
        match self.tabs.iter_mut().find(|t| t.item == item && t.preview) {
            Some(tab) => {
                tab.preview = false;
                true
            }
            None => false,
        }
    }

    /// Pins a tab to the end of the pinned ones, or unpins it to the front of the others. Does
    /// nothing if the tab is already in the requested state.
    pub fn set_pinned(&mut self, item: ItemId, pinned: bool) {
        let Some(index) = self.index_of(item) else {
            return;
        };
        if self.tabs[index].pinned == pinned {
            return;
        }
        let tab = self.tabs.remove(index);
        let border = self.pinned_count();
        self.tabs.insert(
            border,
            TabState {
                pinned,
                preview: false,
                ..tab
            },
        );
    }

    /// Moves a tab before the one at `index`; pinned tabs stay before the others.
    pub fn reorder(&mut self, item: ItemId, index: usize) {
        let Some(from) = self.index_of(item) else {
            return;
        };
        let tab = self.tabs.remove(from);
        let index = if from < index { index - 1 } else { index };
        let (first, last) = self.range_for(tab.pinned);
        self.tabs.insert(index.clamp(first, last), tab);
    }

    /// Returns the items of the tabs that a command would close, in tab order. Does not close the
    /// tabs.
    pub fn closing(&self, closing: CloseScope) -> Vec<ItemId> {
        let free = self.tabs.iter().filter(|t| !t.pinned).map(|t| t.item);
        match closing {
            CloseScope::One(item) => self.index_of(item).map(|_| item).into_iter().collect(),
            CloseScope::Others(keep) => free.filter(|item| *item != keep).collect(),
            CloseScope::RightOf(item) => {
                let Some(index) = self.index_of(item) else {
                    return Vec::new();
                };
                self.tabs[index + 1..]
                    .iter()
                    .filter(|t| !t.pinned)
                    .map(|t| t.item)
                    .collect()
            }
            CloseScope::All => free.collect(),
        }
    }

    /// Returns the tab `step` positions after the active one, wrapping around, or `None` if there
    /// are no tabs.
    pub fn neighbour(&self, step: isize) -> Option<ItemId> {
        let index = self.index_of(self.active()?)? as isize;
        let count = self.tabs.len() as isize;
        let index = usize::try_from((index + step).rem_euclid(count)).ok()?;
        Some(self.tabs.get(index)?.item)
    }

    /// Returns the active item, or `None` if there are no tabs.
    pub fn active(&self) -> Option<ItemId> {
        self.recent.last().copied()
    }

    /// Iterates over the items, most recently shown first.
    pub fn recent(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.recent.iter().rev().copied()
    }

    /// Returns the tabs in visual order.
    pub fn tabs(&self) -> &[TabState] {
        &self.tabs
    }

    /// Returns whether a tab shows `item`.
    pub fn contains(&self, item: ItemId) -> bool {
        self.index_of(item).is_some()
    }

    /// Returns the index of the tab that shows `item`, or `None` if there is no such tab.
    pub fn index_of(&self, item: ItemId) -> Option<usize> {
        self.tabs.iter().position(|t| t.item == item)
    }

    /// Returns whether there are no tabs.
    pub fn is_empty(&self) -> bool {
        self.tabs.is_empty()
    }

    /// Returns the item of the preview tab; `None` if there is no preview.
    fn preview(&self) -> Option<ItemId> {
        self.tabs.iter().find(|t| t.preview).map(|t| t.item)
    }

    /// Returns the number of pinned tabs, which is also the index of the first other tab.
    fn pinned_count(&self) -> usize {
        self.tabs.iter().filter(|t| t.pinned).count()
    }

    /// Returns the index of a new tab: after the active one, but never among the pinned tabs.
    fn place_for_new(&self) -> usize {
        let behind = self
            .active()
            .and_then(|item| self.index_of(item))
            .map_or(self.tabs.len(), |index| index + 1);
        behind.max(self.pinned_count())
    }

    /// Returns the lowest and the highest index at which a tab, pinned or not, may be inserted.
    fn range_for(&self, pinned: bool) -> (usize, usize) {
        let border = self.pinned_count();
        if pinned {
            (0, border)
        } else {
            (border, self.tabs.len())
        }
    }
}

#[cfg(test)]
mod tests;
