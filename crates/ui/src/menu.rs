//! Menus: a list of actions, opened by a right click or a button. Drawn by the kit.

use gpui_kit::component::menu::{ContextMenu, ContextMenuExt as _, PopupMenu, PopupMenuItem};
use gpui_kit::{
    Action, App, ClickEvent, Context, FocusHandle, InteractiveElement, Modifiers, MouseButton,
    MouseDownEvent, ParentElement, Pixels, PlatformInput, Point, SharedString, Styled, Window,
};

use crate::foreign::one_line;
use crate::icon::Icon;
use crate::key_hint::keys_text;

/// What a menu offers, as plain data.
#[derive(Default)]
pub struct Menu {
    items: Vec<Item>,
    focus: Option<FocusHandle>,
}

enum Item {
    Action {
        label: SharedString,
        icon: Option<Icon>,
        action: Box<dyn Action>,
        enabled: bool,
        checked: bool,
    },
    Separator,
    Submenu {
        label: SharedString,
        menu: std::rc::Rc<dyn Fn() -> Menu>,
    },
}

impl Menu {
    /// A menu with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Actions run, and keys are looked up, where this handle is.
    pub fn focus(mut self, focus: FocusHandle) -> Self {
        self.focus = Some(focus);
        self
    }

    /// An action by a name.
    pub fn action(self, label: impl Into<SharedString>, action: Box<dyn Action>) -> Self {
        self.push(label, None, action, true, false)
    }

    /// An action with a picture.
    pub fn action_with_icon(
        self,
        label: impl Into<SharedString>,
        icon: Icon,
        action: Box<dyn Action>,
    ) -> Self {
        self.push(label, Some(icon), action, true, false)
    }

    /// An action that may not be possible now.
    pub fn action_if(
        self,
        label: impl Into<SharedString>,
        action: Box<dyn Action>,
        enabled: bool,
    ) -> Self {
        self.push(label, None, action, enabled, false)
    }

    /// An action that is on or off.
    pub fn toggle(self, label: impl Into<SharedString>, action: Box<dyn Action>, on: bool) -> Self {
        self.push(label, None, action, true, on)
    }

    /// A line between groups.
    pub fn separator(mut self) -> Self {
        self.items.push(Item::Separator);
        self
    }

    /// A menu inside the menu.
    pub fn submenu(
        mut self,
        label: impl Into<SharedString>,
        menu: impl Fn() -> Menu + 'static,
    ) -> Self {
        self.items.push(Item::Submenu {
            label: one_line(label),
            menu: std::rc::Rc::new(menu),
        });
        self
    }

    fn push(
        mut self,
        label: impl Into<SharedString>,
        icon: Option<Icon>,
        action: Box<dyn Action>,
        enabled: bool,
        checked: bool,
    ) -> Self {
        self.items.push(Item::Action {
            label: one_line(label),
            icon,
            action,
            enabled,
            checked,
        });
        self
    }

    /// Fills the kit's menu with these items.
    pub fn fill(
        self,
        mut popup: PopupMenu,
        window: &mut Window,
        cx: &mut Context<PopupMenu>,
    ) -> PopupMenu {
        let focus = self.focus;
        if let Some(focus) = &focus {
            popup = popup.action_context(focus.clone());
        }
        for item in self.items {
            popup = match item {
                Item::Separator => popup.separator(),
                Item::Submenu { label, menu } => {
                    let focus = focus.clone();
                    popup.submenu(label, window, cx, move |popup, window, cx| {
                        let mut inner = menu();
                        inner.focus = inner.focus.or_else(|| focus.clone());
                        inner.fill(popup, window, cx)
                    })
                }
                Item::Action {
                    label,
                    icon,
                    action,
                    enabled,
                    checked,
                } => {
                    let mut item = match chord(action.as_ref(), focus.as_ref(), window, cx) {
                        None => PopupMenuItem::new(label).action(action),
                        Some(keys) => PopupMenuItem::new(format!("{label}\u{2003}{keys}"))
                            .on_click(run(action, focus.clone())),
                    };
                    item = item.disabled(!enabled).checked(checked);
                    if let Some(icon) = icon {
                        item = item.icon(icon.for_kit());
                    }
                    popup.item(item)
                }
            };
        }
        popup
    }
}

/// The keys of an action that takes more than one stroke. The kit shows the first stroke alone, which would be wrong.
fn chord(
    action: &dyn Action,
    focus: Option<&FocusHandle>,
    window: &Window,
    cx: &App,
) -> Option<SharedString> {
    let focus = focus.cloned().or_else(|| window.focused(cx));
    let here =
        focus.and_then(|focus| window.highest_precedence_binding_for_action_in(action, &focus));
    let binding = here.or_else(|| window.highest_precedence_binding_for_action(action))?;
    (binding.keystrokes().len() > 1).then(|| keys_text(&binding))
}

/// Runs an action where the menu was opened.
fn run(
    action: Box<dyn Action>,
    focus: Option<FocusHandle>,
) -> impl Fn(&ClickEvent, &mut Window, &mut App) {
    move |_, window, cx| {
        if let Some(focus) = &focus {
            focus.focus(window, cx);
        }
        window.dispatch_action(action.boxed_clone(), cx);
    }
}

/// Opens the menu of what lies at a place of the window, as a key does: the kit opens menus on a right click.
pub fn open_menu_at(position: Point<Pixels>, window: &mut Window, cx: &mut App) {
    let press = MouseDownEvent {
        button: MouseButton::Right,
        position,
        modifiers: Modifiers::default(),
        click_count: 1,
        first_mouse: false,
    };
    // What has the key now may be asked by the click again.
    window.defer(cx, move |window, cx| {
        window.dispatch_event(PlatformInput::MouseDown(press), cx);
    });
}

/// Gives an element a menu on a right click.
pub trait MenuExt: InteractiveElement + ParentElement + Styled + Sized {
    /// Opens the menu that `menu` makes at the moment of the click.
    fn menu_on_right_click(
        self,
        menu: impl Fn(&mut Window, &mut App) -> Menu + 'static,
    ) -> ContextMenu<Self> {
        self.context_menu(move |popup, window, cx| menu(window, cx).fill(popup, window, cx))
    }
}

impl<E: InteractiveElement + ParentElement + Styled> MenuExt for E {}
