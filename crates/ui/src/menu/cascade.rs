//! The open levels of a menu, a menu and its submenus, with the selection in each. Plain state.
//!
//! Invariant: there is at least one level. The selected item of each level but the last is the submenu
//! that the next level shows.

use std::rc::Rc;

use gpui_kit::{Bounds, Pixels, ScrollHandle, SharedString, px};

use super::MenuItem;

/// A menu or an open submenu.
pub(super) struct MenuLevel {
    /// Accessible name.
    pub(super) name: SharedString,
    pub(super) items: Rc<[MenuItem]>,
    /// Index of a selectable item.
    pub(super) selected: Option<usize>,
    pub(super) scroll: ScrollHandle,
}

/// The levels of a menu, from the menu itself to the innermost open submenu.
pub(super) struct MenuCascade(Vec<MenuLevel>);

/// Movement of the selection within a level. The first item follows the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MenuStep {
    Next,
    Previous,
    First,
    Last,
    /// To the next item whose label begins with this letter, in either case.
    Letter(char),
}

impl MenuLevel {
    fn new(name: SharedString, items: Rc<[MenuItem]>) -> Self {
        Self {
            name,
            items,
            selected: None,
            scroll: ScrollHandle::new(),
        }
    }

    /// Returns the bounds of the selected item at the current scroll position. `None` if the level was
    /// not drawn yet.
    pub(super) fn selected_bounds(&self) -> Option<Bounds<Pixels>> {
        let mut bounds = self.scroll.bounds_for_item(self.selected?)?;
        // The wheel scrolls beyond the ends until the next frame.
        let lowest = -self.scroll.max_offset().y;
        bounds.origin.y += self.scroll.offset().y.clamp(lowest, px(0.0));
        Some(bounds)
    }

    /// Scrolls by as little as makes an item visible with the padding of the level around it. Unlike
    /// `ScrollHandle::scroll_to_item`, it takes effect at once, so that a submenu opens beside the item.
    fn reveal(&self, ix: usize) {
        let bounds = |ix| self.scroll.bounds_for_item(ix);
        let (Some(first), Some(item)) = (bounds(0), bounds(ix)) else {
            return;
        };
        let view = self.scroll.bounds();
        let padding = first.top() - view.top();
        let mut offset = self.scroll.offset();
        let above = (view.top() + padding - item.top() - offset.y).max(px(0.0));
        let below = (item.bottom() + padding + offset.y - view.bottom()).max(px(0.0));
        offset.y += above - below;
        self.scroll.set_offset(offset);
    }

    fn after_step(&self, step: MenuStep) -> Option<usize> {
        let selectable = || (0..self.items.len()).filter(|ix| self.items[*ix].is_selectable());
        let (first, last) = (selectable().next(), selectable().next_back());
        match (step, self.selected) {
            (MenuStep::Next, Some(at)) => selectable().find(|ix| *ix > at).or(first),
            (MenuStep::Previous, Some(at)) => selectable().rfind(|ix| *ix < at).or(last),
            (MenuStep::Next, None) | (MenuStep::First, _) => first,
            (MenuStep::Previous, None) | (MenuStep::Last, _) => last,
            (MenuStep::Letter(letter), at) => {
                let begins = |ix: &usize| begins_with(&self.items[*ix], letter);
                let mut later = selectable().filter(|ix| at.is_none_or(|at| *ix > at));
                later.find(begins).or_else(|| selectable().find(begins))
            }
        }
    }
}

fn begins_with(item: &MenuItem, letter: char) -> bool {
    let first = item.label().and_then(|label| label.chars().next());
    first.is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
}

impl MenuCascade {
    pub(super) fn new(name: SharedString, items: Vec<MenuItem>) -> Self {
        Self(vec![MenuLevel::new(name, items.into())])
    }

    pub(super) fn levels(&self) -> &[MenuLevel] {
        &self.0
    }

    pub(super) fn item(&self, level: usize, ix: usize) -> Option<&MenuItem> {
        self.0.get(level)?.items.get(ix)
    }

    /// Returns level and index of the selected item of the active level.
    pub(super) fn selected(&self) -> Option<(usize, usize)> {
        let active = self.active();
        Some((active, self.0[active].selected?))
    }

    /// Returns the level that the keys act on: the innermost one with a selection.
    fn active(&self) -> usize {
        let is_selected = |level: &MenuLevel| level.selected.is_some();
        self.0.iter().rposition(is_selected).unwrap_or(0)
    }

    /// Selects an item, closes the submenus of others in its level, and opens its own. An item that is
    /// not selectable is ignored.
    pub(super) fn select(&mut self, level: usize, ix: usize) {
        let Some(item) = self.item(level, ix).filter(|item| item.is_selectable()) else {
            return;
        };
        let submenu = match item {
            MenuItem::Submenu { label, items } => {
                Some(MenuLevel::new(label.clone(), items.clone()))
            }
            MenuItem::Action { .. } | MenuItem::Separator => None,
        };
        if submenu.is_some() && self.0[level].selected == Some(ix) {
            // It is open already and keeps its scroll position.
            self.0.truncate(level + 2);
            self.0[level + 1].selected = None;
            return;
        }
        self.0.truncate(level + 1);
        self.0[level].selected = Some(ix);
        self.0.extend(submenu);
    }

    /// Clears the selection of an item that the pointer left. An open submenu stays.
    pub(super) fn deselect(&mut self, level: usize, ix: usize) {
        let is_innermost = self.0.len() == level + 1;
        if is_innermost && self.0[level].selected == Some(ix) {
            self.0[level].selected = None;
        }
    }

    /// Moves the selection in the active level and scrolls to it.
    pub(super) fn step(&mut self, step: MenuStep) {
        let active = self.active();
        if let Some(ix) = self.0[active].after_step(step) {
            self.select(active, ix);
            self.0[active].reveal(ix);
        }
    }

    /// Selects the first item of the selected submenu. Returns false if no submenu is selected.
    pub(super) fn enter_submenu(&mut self) -> bool {
        let inner = self.active() + 1;
        let Some(level) = self.0.get(inner) else {
            return false;
        };
        if let Some(ix) = level.after_step(MenuStep::First) {
            self.select(inner, ix);
        }
        true
    }

    /// Returns from a submenu to the item that opened it. Returns false if the active level is the menu
    /// itself.
    pub(super) fn leave_submenu(&mut self) -> bool {
        let active = self.active();
        if active == 0 {
            return false;
        }
        self.0.truncate(active + 1);
        self.0[active].selected = None;
        true
    }
}

#[cfg(test)]
mod tests;
