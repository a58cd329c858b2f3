//! The tabs of one pane: their order, which one shows, which are pinned, which is a preview.
//!
//! Plain data. Must not know: what an item is, views, gpui.
//! Invariants: pinned tabs stand before the others; at most one tab is a preview and it is never
//! pinned; `recent` names every tab once and its last is the active one.
//! Start at `TabList::open`.

use serde::{Deserialize, Serialize};

/// A thing that a tab shows. Never used twice in the life of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemId(pub u64);

/// Whether a tab was opened to look or to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The next preview takes its place.
    Preview,
    /// It stays until it is closed.
    Lasting,
}

/// One tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tab {
    /// What it shows.
    pub item: ItemId,
    /// Stands in front and survives "close others".
    pub pinned: bool,
    /// Gives way to the next preview.
    pub preview: bool,
}

/// Which tabs a command closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// This one, pinned or not.
    One(ItemId),
    /// All but this one and the pinned ones.
    Others(ItemId),
    /// All behind this one, pinned ones apart.
    RightOf(ItemId),
    /// All but the pinned ones.
    All,
}

/// The tabs of one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TabList {
    tabs: Vec<Tab>,
    recent: Vec<ItemId>,
}

impl TabList {
    /// Puts a tab behind the active one and shows it. A preview takes the place of the one before
    /// it, whose item is answered.
    pub fn open(&mut self, item: ItemId, opening: Opening) -> Option<ItemId> {
        if self.contains(item) {
            if opening == Opening::Lasting {
                self.keep(item);
            }
            self.activate(item);
            return None;
        }
        let index = self.place_for_new();
        let preview = opening == Opening::Preview;
        let old = preview.then(|| self.preview()).flatten();
        let tab = Tab {
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

    /// Puts a tab that came from elsewhere at `index` and shows it.
    pub fn insert(&mut self, tab: Tab, index: usize) {
        if self.contains(tab.item) {
            base::never!("a tab was inserted twice");
            return;
        }
        let tab = Tab {
            preview: false,
            ..tab
        };
        let (from, to) = self.range_for(tab.pinned);
        self.tabs.insert(index.clamp(from, to), tab);
        self.recent.push(tab.item);
    }

    /// Takes a tab away. The one shown before it shows again.
    pub fn remove(&mut self, item: ItemId) -> Option<Tab> {
        let index = self.index_of(item)?;
        self.recent.retain(|id| *id != item);
        Some(self.tabs.remove(index))
    }

    /// Shows a tab.
    pub fn activate(&mut self, item: ItemId) -> bool {
        if !self.contains(item) {
            return false;
        }
        self.recent.retain(|id| *id != item);
        self.recent.push(item);
        true
    }

    /// Makes a preview stay.
    pub fn keep(&mut self, item: ItemId) -> bool {
        match self.tabs.iter_mut().find(|t| t.item == item && t.preview) {
            Some(tab) => {
                tab.preview = false;
                true
            }
            None => false,
        }
    }

    /// Pins a tab to the front, or frees it.
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
            Tab {
                pinned,
                preview: false,
                ..tab
            },
        );
    }

    /// Puts a tab before the tab now at `index`; pinned and free tabs keep apart.
    pub fn reorder(&mut self, item: ItemId, index: usize) {
        let Some(from) = self.index_of(item) else {
            return;
        };
        let tab = self.tabs.remove(from);
        let index = if from < index { index - 1 } else { index };
        let (first, last) = self.range_for(tab.pinned);
        self.tabs.insert(index.clamp(first, last), tab);
    }

    /// What a command would close, in tab order.
    pub fn closing(&self, closing: Closing) -> Vec<ItemId> {
        let free = self.tabs.iter().filter(|t| !t.pinned).map(|t| t.item);
        match closing {
            Closing::One(item) => self.index_of(item).map(|_| item).into_iter().collect(),
            Closing::Others(keep) => free.filter(|item| *item != keep).collect(),
            Closing::RightOf(item) => {
                let Some(index) = self.index_of(item) else {
                    return Vec::new();
                };
                self.tabs[index + 1..]
                    .iter()
                    .filter(|t| !t.pinned)
                    .map(|t| t.item)
                    .collect()
            }
            Closing::All => free.collect(),
        }
    }

    /// The tab `step` places behind the active one, around the ends.
    pub fn beside(&self, step: isize) -> Option<ItemId> {
        let index = self.index_of(self.active()?)? as isize;
        let count = self.tabs.len() as isize;
        let index = usize::try_from((index + step).rem_euclid(count)).ok()?;
        Some(self.tabs.get(index)?.item)
    }

    /// The item that shows.
    pub fn active(&self) -> Option<ItemId> {
        self.recent.last().copied()
    }

    /// Items by when they were last shown, the newest first.
    pub fn recent(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.recent.iter().rev().copied()
    }

    /// The tabs in the order they stand.
    pub fn tabs(&self) -> &[Tab] {
        &self.tabs
    }

    /// Whether a tab shows `item`.
    pub fn contains(&self, item: ItemId) -> bool {
        self.index_of(item).is_some()
    }

    /// Where its tab stands.
    pub fn index_of(&self, item: ItemId) -> Option<usize> {
        self.tabs.iter().position(|t| t.item == item)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tabs.is_empty()
    }

    fn preview(&self) -> Option<ItemId> {
        self.tabs.iter().find(|t| t.preview).map(|t| t.item)
    }

    fn pinned_count(&self) -> usize {
        self.tabs.iter().filter(|t| t.pinned).count()
    }

    fn place_for_new(&self) -> usize {
        let behind = self
            .active()
            .and_then(|item| self.index_of(item))
            .map_or(self.tabs.len(), |index| index + 1);
        behind.max(self.pinned_count())
    }

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
