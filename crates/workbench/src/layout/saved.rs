//! Serialised layout of panes and tabs, stored between runs.
//!
//! A border type: anyone may have changed the file, so reading repairs what it can and never fails.
//! Start at `Layout::save` and `SavedLayout::restore`.

use serde::{Deserialize, Serialize};

use super::tree::{PaneNode, PaneTree, Split};
use super::{Axis, ItemId, PaneId, PaneLayout, TabList, TabOpenMode};

/// A stored layout; `T` describes the content of a tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedLayout<T> {
    /// Root of the pane tree.
    pub root: SavedNode<T>,
}

/// A stored pane or split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedNode<T> {
    /// A pane with its tabs.
    Pane(SavedPane<T>),
    /// Nodes next to each other.
    Split {
        /// Axis along which the children lie.
        axis: Axis,
        /// Weights of the children.
        weights: Vec<f32>,
        /// Child nodes, in visual order.
        children: Vec<SavedNode<T>>,
    },
}

/// One stored pane with its tabs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedPane<T> {
    /// Tabs from left to right.
    pub tabs: Vec<SavedTab<T>>,
    /// Index of the shown tab.
    #[serde(default)]
    pub shown: usize,
    /// Whether this was the active pane.
    #[serde(default)]
    pub active: bool,
}

/// One stored tab of a pane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTab<T> {
    /// Content of the tab.
    pub item: T,
    /// Whether the tab is pinned.
    #[serde(default)]
    pub pinned: bool,
    /// Whether the tab is a preview.
    #[serde(default)]
    pub preview: bool,
}

impl PaneLayout {
    /// Returns the layout to store. Items for which `item` returns `None` are omitted.
    pub fn save<T>(&self, mut item: impl FnMut(ItemId) -> Option<T>) -> SavedLayout<T> {
        SavedLayout {
            root: self.save_node(self.tree().root(), &mut item),
        }
    }

    fn save_node<T>(
        &self,
        node: &PaneNode,
        item: &mut impl FnMut(ItemId) -> Option<T>,
    ) -> SavedNode<T> {
        match node {
            PaneNode::Pane(pane) => SavedNode::Pane(self.save_pane(*pane, item)),
            PaneNode::Split(split) => SavedNode::Split {
                axis: split.axis,
                weights: split.weights.clone(),
                children: split
                    .children
                    .iter()
                    .map(|child| self.save_node(child, item))
                    .collect(),
            },
        }
    }

    fn save_pane<T>(
        &self,
        pane: PaneId,
        item: &mut impl FnMut(ItemId) -> Option<T>,
    ) -> SavedPane<T> {
        let mut saved = SavedPane {
            tabs: Vec::new(),
            shown: 0,
            active: pane == self.active_pane(),
        };
        let Some(list) = self.tabs(pane) else {
            return saved;
        };
        for tab in list.tabs() {
            let Some(value) = item(tab.item) else {
                continue;
            };
            if list.active() == Some(tab.item) {
                saved.shown = saved.tabs.len();
            }
            saved.tabs.push(SavedTab {
                item: value,
                pinned: tab.pinned,
                preview: tab.preview,
            });
        }
        saved
    }
}

impl<T> SavedLayout<T> {
    /// Returns the items in the tabs of all panes.
    pub fn items(&self) -> Vec<&T> {
        let mut items = Vec::new();
        collect(&self.root, &mut items);
        items
    }

    /// Rebuilds the layout. Never fails. `item` creates the content of each tab, and returns
    /// `false` if the content no longer exists. Such tabs are removed, and so are panes that become
    /// empty.
    pub fn restore(self, mut item: impl FnMut(ItemId, T) -> bool) -> PaneLayout {
        let mut building = Building {
            layout: PaneLayout::default(),
            active: None,
        };
        building.layout.tabs.clear();
        building.layout.next_pane = 0;
        let root = building.node(self.root, &mut item);
        let Building { mut layout, active } = building;
        match root.and_then(PaneTree::from_node) {
            Some(tree) => {
                layout.tree = tree;
                layout.active = active
                    .or_else(|| layout.tree.panes().first().copied())
                    .unwrap_or(layout.active);
                layout
            }
            None => PaneLayout {
                next_item: layout.next_item,
                ..PaneLayout::default()
            },
        }
    }
}

fn collect<'a, T>(node: &'a SavedNode<T>, items: &mut Vec<&'a T>) {
    match node {
        SavedNode::Pane(pane) => items.extend(pane.tabs.iter().map(|tab| &tab.item)),
        SavedNode::Split { children, .. } => {
            children.iter().for_each(|child| collect(child, items));
        }
    }
}

struct Building {
    layout: PaneLayout,
    active: Option<PaneId>,
}

impl Building {
    /// Rebuilds a part of the layout. Returns `None` for a pane without tabs; a split may become
    /// empty, and `PaneTree::from_node` removes it.
    fn node<T>(
        &mut self,
        node: SavedNode<T>,
        item: &mut impl FnMut(ItemId, T) -> bool,
    ) -> Option<PaneNode> {
        match node {
            SavedNode::Pane(pane) => self.pane(pane, item).map(PaneNode::Pane),
            SavedNode::Split {
                axis,
                weights,
                children,
            } => {
                let mut kept = Vec::new();
                let mut kept_weights = Vec::new();
                for (index, child) in children.into_iter().enumerate() {
                    if let Some(child) = self.node(child, item) {
                        kept.push(child);
                        kept_weights.push(weights.get(index).copied().unwrap_or(0.5));
                    }
                }
                Some(PaneNode::Split(Split {
                    axis,
                    children: kept,
                    weights: kept_weights,
                }))
            }
        }
    }

    /// Rebuilds a pane with those tabs for which `item` returns `true`. Returns `None` if there are
    /// none.
    fn pane<T>(
        &mut self,
        saved: SavedPane<T>,
        item: &mut impl FnMut(ItemId, T) -> bool,
    ) -> Option<PaneId> {
        let mut list = TabList::default();
        let mut shown = None;
        for (index, tab) in saved.tabs.into_iter().enumerate() {
            let id = self.layout.new_item();
            if !item(id, tab.item) {
                continue;
            }
            // A second preview would replace the first one, so it becomes a permanent tab.
            let opening = if tab.preview && !list.tabs().iter().any(|t| t.preview) {
                TabOpenMode::Preview
            } else {
                TabOpenMode::Lasting
            };
            list.open(id, opening);
            list.set_pinned(id, tab.pinned);
            if index == saved.shown {
                shown = Some(id);
            }
        }
        if list.is_empty() {
            return None;
        }
        if let Some(shown) = shown {
            list.activate(shown);
        }
        let pane = PaneId(self.layout.next_pane);
        self.layout.next_pane += 1;
        self.layout.tabs.insert(pane, list);
        if saved.active {
            self.active = Some(pane);
        }
        Some(pane)
    }
}
