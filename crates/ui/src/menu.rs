//! Menus of actions: application menus, context menus and their submenus.
//!
//! Every menu that Burin draws is a `Menu`, plain data that a `PopupMenu` shows.
//! Invariant: an open menu lies inside the window, and each of its items can be reached with the mouse
//! and with the keys.
//! Start at `Menu`, `MenuExt` (context menus) and `PopupMenu`.

mod cascade;
mod context_menu;
mod item;
mod pointer;
mod popup;
mod render;

use std::rc::Rc;

use gpui_kit::{Action, FocusHandle, OwnedMenu, OwnedMenuItem, SharedString};

use crate::foreign::one_line;
use crate::icon::Icon;

pub use context_menu::{ContextMenu, MenuExt, open_menu_at};
pub(crate) use context_menu::{ContextMenuState, take_press};
pub use popup::{AdjacentMenu, MenuAnchor, PopupMenu};

/// Content of a menu, as plain data.
#[derive(Default)]
pub struct Menu {
    /// Accessible name; empty for a context menu.
    name: SharedString,
    items: Vec<MenuItem>,
    focus: Option<FocusHandle>,
}

enum MenuItem {
    Action {
        label: SharedString,
        icon: Option<Icon>,
        action: Box<dyn Action>,
        enabled: bool,
        /// State of a toggle; `None` for other actions.
        checked: Option<bool>,
    },
    Separator,
    Submenu {
        label: SharedString,
        items: Rc<[MenuItem]>,
    },
}

impl MenuItem {
    fn is_selectable(&self) -> bool {
        match self {
            Self::Action { enabled, .. } => *enabled,
            Self::Submenu { .. } => true,
            Self::Separator => false,
        }
    }

    fn label(&self) -> Option<&SharedString> {
        match self {
            Self::Action { label, .. } | Self::Submenu { label, .. } => Some(label),
            Self::Separator => None,
        }
    }

    /// Returns the state of a toggle.
    fn checked(&self) -> Option<bool> {
        match self {
            Self::Action { checked, .. } => *checked,
            Self::Separator | Self::Submenu { .. } => None,
        }
    }

    /// Returns the icon before the label: its own, or the check mark of a toggle.
    fn icon(&self) -> Option<Icon> {
        let check = || (self.checked() == Some(true)).then_some(Icon::Check);
        match self {
            Self::Action { icon, .. } => icon.or_else(check),
            Self::Separator | Self::Submenu { .. } => None,
        }
    }
}

impl Menu {
    /// Creates an empty menu.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the focus handle from which actions are dispatched and keys are looked up. Without one,
    /// actions are dispatched from the element that opened the menu.
    pub fn focus(mut self, focus: FocusHandle) -> Self {
        self.focus = Some(focus);
        self
    }

    /// Adds an action with a label.
    pub fn action(self, label: impl Into<SharedString>, action: Box<dyn Action>) -> Self {
        self.push(label, None, action, true, None)
    }

    /// Adds an action with a label and an icon.
    pub fn action_with_icon(
        self,
        label: impl Into<SharedString>,
        icon: Icon,
        action: Box<dyn Action>,
    ) -> Self {
        self.push(label, Some(icon), action, true, None)
    }

    /// Adds an action that may be disabled.
    pub fn action_if(
        self,
        label: impl Into<SharedString>,
        action: Box<dyn Action>,
        enabled: bool,
    ) -> Self {
        self.push(label, None, action, enabled, None)
    }

    /// Adds an action with a check mark.
    pub fn toggle(self, label: impl Into<SharedString>, action: Box<dyn Action>, on: bool) -> Self {
        self.push(label, None, action, true, Some(on))
    }

    /// Adds a separator between groups. Ignored at the start and after another separator.
    pub fn separator(mut self) -> Self {
        if !matches!(self.items.last(), None | Some(MenuItem::Separator)) {
            self.items.push(MenuItem::Separator);
        }
        self
    }

    /// Adds a submenu with a label. The focus handle of the outer menu applies to it.
    pub fn submenu(mut self, label: impl Into<SharedString>, menu: Self) -> Self {
        self.items.push(MenuItem::Submenu {
            label: one_line(label),
            items: menu.items.into(),
        });
        self
    }

    /// Returns whether the menu has no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn push(
        mut self,
        label: impl Into<SharedString>,
        icon: Option<Icon>,
        action: Box<dyn Action>,
        enabled: bool,
        checked: Option<bool>,
    ) -> Self {
        self.items.push(MenuItem::Action {
            label: one_line(label),
            icon,
            action,
            enabled,
            checked,
        });
        self
    }
}

/// Converts a menu of the application. Menus that the system fills are left out.
impl From<&OwnedMenu> for Menu {
    fn from(menu: &OwnedMenu) -> Self {
        let add = |menu: Self, item: &OwnedMenuItem| match item {
            OwnedMenuItem::Separator => menu.separator(),
            OwnedMenuItem::Submenu(inner) => menu.submenu(inner.name.clone(), inner.into()),
            OwnedMenuItem::SystemMenu(_) => menu,
            OwnedMenuItem::Action {
                name,
                action,
                checked,
                disabled,
                ..
            } => {
                let checked = checked.then_some(true);
                menu.push(name.clone(), None, action.boxed_clone(), !disabled, checked)
            }
        };
        let named = Self {
            name: menu.name.clone(),
            ..Self::default()
        };
        menu.items.iter().fold(named, add)
    }
}

#[cfg(test)]
mod tests;
