//! The arrangement of panes and tabs as it is stored between two runs.
//!
//! A border type: it is read from a file that anyone may have changed, so reading mends what it
//! can and never fails. Start at `Layout::save` and `SavedLayout::restore`.

use serde::{Deserialize, Serialize};

use super::tree::{Node, PaneTree, Split};
use super::{Axis, ItemId, Layout, Opening, PaneId, TabList};

/// A stored arrangement; `T` says what stands in a tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedLayout<T> {
    /// The tree of panes.
    pub root: SavedNode<T>,
}

/// A stored pane or split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedNode<T> {
    /// A pane and its tabs.
    Pane(SavedPane<T>),
    /// Nodes beside each other.
    Split {
        /// Along which axis.
        axis: Axis,
        /// Their shares of the room.
        weights: Vec<f32>,
        /// The nodes.
        children: Vec<SavedNode<T>>,
    },
}

/// A stored pane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedPane<T> {
    /// From left to right.
    pub tabs: Vec<SavedTab<T>>,
    /// Which tab shows, counted from 0.
    #[serde(default)]
    pub shown: usize,
    /// Whether commands went to this pane.
    #[serde(default)]
    pub active: bool,
}

/// A stored tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedTab<T> {
    /// What it shows.
    pub item: T,
    /// Whether it stands in front.
    #[serde(default)]
    pub pinned: bool,
    /// Whether it gives way to the next preview.
    #[serde(default)]
    pub preview: bool,
}

impl Layout {
    /// The arrangement to store. Items that answer `None` are left out.
    pub fn save<T>(&self, mut item: impl FnMut(ItemId) -> Option<T>) -> SavedLayout<T> {
        SavedLayout {
            root: self.save_node(self.tree().root(), &mut item),
        }
    }

    fn save_node<T>(
        &self,
        node: &Node,
        item: &mut impl FnMut(ItemId) -> Option<T>,
    ) -> SavedNode<T> {
        match node {
            Node::Pane(pane) => SavedNode::Pane(self.save_pane(*pane, item)),
            Node::Split(split) => SavedNode::Split {
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
    /// What stands in the tabs of all panes.
    pub fn items(&self) -> Vec<&T> {
        let mut items = Vec::new();
        collect(&self.root, &mut items);
        items
    }

    /// Builds the arrangement again. `item` makes what stands in each tab and may say that it is
    /// gone; panes left empty go away.
    pub fn restore(self, mut item: impl FnMut(ItemId, T) -> bool) -> Layout {
        let mut building = Building {
            layout: Layout::default(),
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
            None => Layout {
                next_item: layout.next_item,
                ..Layout::default()
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
    layout: Layout,
    active: Option<PaneId>,
}

impl Building {
    fn node<T>(
        &mut self,
        node: SavedNode<T>,
        item: &mut impl FnMut(ItemId, T) -> bool,
    ) -> Option<Node> {
        match node {
            SavedNode::Pane(pane) => self.pane(pane, item).map(Node::Pane),
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
                Some(Node::Split(Split {
                    axis,
                    children: kept,
                    weights: kept_weights,
                }))
            }
        }
    }

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
            // A second preview would push the first one out; it stays instead.
            let opening = if tab.preview && !list.tabs().iter().any(|t| t.preview) {
                Opening::Preview
            } else {
                Opening::Lasting
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
