//! The panes of a window and the tabs in each, as plain data.
//!
//! Must not know: views, documents, pixels, gpui.
//! Invariants: every pane of the tree has a tab list and vice versa; an item is in one pane only;
//! the active pane exists; with several panes, a pane is empty only right after a split.
//! Start at `Layout::open` and `Layout::move_to_side`.

mod saved;
mod tabs;
mod tree;

use std::collections::BTreeMap;

pub use saved::{SavedLayout, SavedNode, SavedPane, SavedTab};
pub use tabs::{CloseScope, ItemId, TabList, TabOpenMode, TabState};
pub use tree::{Axis, PaneId, PaneNode, PaneSide, PaneTree, Split};

/// The panes and tabs of one window.
#[derive(Clone, Debug)]
pub struct PaneLayout {
    tree: PaneTree,
    tabs: BTreeMap<PaneId, TabList>,
    active: PaneId,
    next_pane: u64,
    next_item: u64,
}

impl Default for PaneLayout {
    /// Returns a layout with one empty pane, as in a new window.
    fn default() -> Self {
        let pane = PaneId(0);
        Self {
            tree: PaneTree::new(pane),
            tabs: BTreeMap::from([(pane, TabList::default())]),
            active: pane,
            next_pane: 1,
            next_item: 1,
        }
    }
}

impl PaneLayout {
    /// Allocates an id for a new item.
    pub fn new_item(&mut self) -> ItemId {
        let item = ItemId(self.next_item);
        self.next_item += 1;
        item
    }

    /// Shows `item` in a new tab of `pane`. Returns the preview that was replaced.
    pub fn open(&mut self, pane: PaneId, item: ItemId, opening: TabOpenMode) -> Option<ItemId> {
        if let Some(elsewhere) = self.pane_of(item).filter(|p| *p != pane) {
            base::never!("item {item:?} is already in {elsewhere:?}");
            return None;
        }
        let tabs = self.tabs.get_mut(&pane)?;
        self.active = pane;
        tabs.open(item, opening)
    }

    /// Shows a tab and activates its pane. Returns `false` if there is no such tab.
    pub fn activate(&mut self, item: ItemId) -> bool {
        let Some(pane) = self.pane_of(item) else {
            return false;
        };
        self.active = pane;
        self.tabs.get_mut(&pane).is_some_and(|t| t.activate(item))
    }

    /// Closes a tab, and also its pane if the pane becomes empty and is not the only pane. Returns
    /// `false` if there is no such tab.
    pub fn close(&mut self, item: ItemId) -> bool {
        let Some(pane) = self.pane_of(item) else {
            return false;
        };
        if let Some(tabs) = self.tabs.get_mut(&pane) {
            tabs.remove(item);
        }
        self.remove_if_empty(pane);
        true
    }

    /// Splits `pane`, activates the new, empty pane on the given side, and returns its id. Returns
    /// `None` if there is no such pane.
    pub fn split(&mut self, pane: PaneId, side: PaneSide) -> Option<PaneId> {
        let new = PaneId(self.next_pane);
        if !self.tree.split(pane, side, new) {
            return None;
        }
        self.next_pane += 1;
        self.tabs.insert(new, TabList::default());
        self.active = new;
        Some(new)
    }

    /// Removes a pane with its tabs, so close the tabs first. Returns `false` if the pane is the
    /// last one or does not exist.
    pub fn remove_pane(&mut self, pane: PaneId) -> bool {
        let Some(next) = self.tree.remove(pane) else {
            return false;
        };
        self.tabs.remove(&pane);
        if self.active == pane {
            self.active = next;
        }
        true
    }

    /// Moves a tab to `index` of a pane, which may be its current pane, and activates the tab and
    /// the pane. Returns `false` if the tab or the pane does not exist.
    pub fn move_to_pane(&mut self, item: ItemId, pane: PaneId, index: usize) -> bool {
        let Some(from) = self.pane_of(item) else {
            return false;
        };
        if !self.tabs.contains_key(&pane) {
            return false;
        }
        if from == pane {
            if let Some(tabs) = self.tabs.get_mut(&pane) {
                tabs.reorder(item, index);
                tabs.activate(item);
            }
        } else if let Some(tab) = self.tabs.get_mut(&from).and_then(|t| t.remove(item))
            && let Some(tabs) = self.tabs.get_mut(&pane)
        {
            tabs.insert(tab, index);
        }
        self.active = pane;
        self.remove_if_empty(from);
        true
    }

    /// Moves a tab into a new pane on one side of `pane`, and returns the id of the new pane.
    /// Returns `None` if the tab is the only tab of `pane`, or if the tab or `pane` does not exist.
    pub fn move_to_side(&mut self, item: ItemId, pane: PaneId, side: PaneSide) -> Option<PaneId> {
        let from = self.pane_of(item)?;
        let alone = from == pane && self.tabs.get(&from).is_some_and(|t| t.tabs().len() == 1);
        if alone {
            return None;
        }
        let new = self.split(pane, side)?;
        self.move_to_pane(item, new, 0);
        Some(new)
    }

    /// Sets the weights of the children of the split at `path`, which gives the child index at each
    /// level. Returns `false` if there is no such split, or if the number of weights differs from
    /// the number of children.
    pub fn set_weights(&mut self, path: &[usize], weights: &[f32]) -> bool {
        self.tree.set_weights(path, weights)
    }

    /// Returns the weights of the children of the split at `path`.
    pub fn weights(&self, path: &[usize]) -> Option<&[f32]> {
        self.tree.weights(path)
    }

    /// Gives all panes of a split the same size.
    pub fn even_out(&mut self) {
        self.tree.even_out();
    }

    /// Makes a pane the active one. Returns `false` if there is no such pane.
    pub fn set_active_pane(&mut self, pane: PaneId) -> bool {
        let known = self.tabs.contains_key(&pane);
        if known {
            self.active = pane;
        }
        known
    }

    /// Returns the active pane, the target of commands.
    pub fn active_pane(&self) -> PaneId {
        self.active
    }

    /// Returns the item shown in the active pane, or `None` if the pane is empty.
    pub fn active_item(&self) -> Option<ItemId> {
        self.tabs(self.active)?.active()
    }

    /// Returns the tree of panes.
    pub fn tree(&self) -> &PaneTree {
        &self.tree
    }

    /// Returns the tabs of a pane.
    pub fn tabs(&self, pane: PaneId) -> Option<&TabList> {
        self.tabs.get(&pane)
    }

    /// Returns the tabs of a pane for pinning or keeping one open.
    pub fn tabs_mut(&mut self, pane: PaneId) -> Option<&mut TabList> {
        self.tabs.get_mut(&pane)
    }

    /// Returns the pane that contains an item.
    pub fn pane_of(&self, item: ItemId) -> Option<PaneId> {
        self.tabs
            .iter()
            .find(|(_, tabs)| tabs.contains(item))
            .map(|(pane, _)| *pane)
    }

    /// Returns all items, pane by pane in visual order.
    pub fn items(&self) -> Vec<ItemId> {
        self.tree
            .panes()
            .iter()
            .filter_map(|pane| self.tabs.get(pane))
            .flat_map(|tabs| tabs.tabs().iter().map(|t| t.item))
            .collect()
    }

    /// Returns the pane `step` positions after the active one in visual order, wrapping around.
    pub fn pane_beside(&self, step: isize) -> PaneId {
        let panes = self.tree.panes();
        let index = panes.iter().position(|p| *p == self.active).unwrap_or(0) as isize;
        let index = (index + step).rem_euclid(panes.len().max(1) as isize);
        usize::try_from(index)
            .ok()
            .and_then(|index| panes.get(index).copied())
            .unwrap_or(self.active)
    }

    fn remove_if_empty(&mut self, pane: PaneId) {
        let empty = self.tabs.get(&pane).is_some_and(TabList::is_empty);
        if empty && self.tabs.len() > 1 {
            self.remove_pane(pane);
        }
    }
}

#[cfg(test)]
mod tests;
