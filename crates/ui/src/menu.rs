//! Menus of actions, opened by a right click or a button. Drawn by the kit.

use gpui_kit::component::menu::{ContextMenu, ContextMenuExt as _, PopupMenu, PopupMenuItem};
use gpui_kit::{
    Action, App, ClickEvent, Context, FocusHandle, InteractiveElement, Modifiers, MouseButton,
    MouseDownEvent, ParentElement, Pixels, PlatformInput, Point, SharedString, Styled, Window,
};

use crate::foreign::one_line;
use crate::icon::Icon;
use crate::key_hint::keys_text;
use crate::platform::ActivePlatform as _;

/// Content of a menu, as plain data.
#[derive(Default)]
pub struct Menu {
    items: Vec<MenuItem>,
    focus: Option<FocusHandle>,
}

enum MenuItem {
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
    /// Creates an empty menu.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the focus handle from which actions are dispatched and keys are looked up.
    pub fn focus(mut self, focus: FocusHandle) -> Self {
        self.focus = Some(focus);
        self
    }

    /// Adds an action with a label.
    pub fn action(self, label: impl Into<SharedString>, action: Box<dyn Action>) -> Self {
        self.push(label, None, action, true, false)
    }

    /// Adds an action with a label and an icon.
    pub fn action_with_icon(
        self,
        label: impl Into<SharedString>,
        icon: Icon,
        action: Box<dyn Action>,
    ) -> Self {
        self.push(label, Some(icon), action, true, false)
    }

    /// Adds an action that may be disabled.
    pub fn action_if(
        self,
        label: impl Into<SharedString>,
        action: Box<dyn Action>,
        enabled: bool,
    ) -> Self {
        self.push(label, None, action, enabled, false)
    }

    /// Adds an action with a check mark.
    pub fn toggle(self, label: impl Into<SharedString>, action: Box<dyn Action>, on: bool) -> Self {
        self.push(label, None, action, true, on)
    }

    /// Adds a separator between groups.
    pub fn separator(mut self) -> Self {
        self.items.push(MenuItem::Separator);
        self
    }

    /// Adds a submenu with a label.
    pub fn submenu(
        mut self,
        label: impl Into<SharedString>,
        menu: impl Fn() -> Menu + 'static,
    ) -> Self {
        self.items.push(MenuItem::Submenu {
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
        self.items.push(MenuItem::Action {
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
                MenuItem::Separator => popup.separator(),
                MenuItem::Submenu { label, menu } => {
                    let focus = focus.clone();
                    popup.submenu(label, window, cx, move |popup, window, cx| {
                        let mut inner = menu();
                        inner.focus = inner.focus.or_else(|| focus.clone());
                        inner.fill(popup, window, cx)
                    })
                }
                MenuItem::Action {
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

/// Returns the binding of an action with more than one stroke. The kit would show only the first
/// stroke, which is wrong.
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
    (binding.keystrokes().len() > 1).then(|| keys_text(&binding, cx.platform()))
}

/// Dispatches an action where the menu was opened.
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

/// Opens the context menu at a position for a key press, by simulating a right click.
pub fn open_menu_at(position: Point<Pixels>, window: &mut Window, cx: &mut App) {
    let press = MouseDownEvent {
        button: MouseButton::Right,
        position,
        modifiers: Modifiers::default(),
        click_count: 1,
        first_mouse: false,
    };
    // The view handling the key is borrowed now, and the click may reach it again.
    window.defer(cx, move |window, cx| {
        window.dispatch_event(PlatformInput::MouseDown(press), cx);
    });
}

/// Adds a context menu to an element.
pub trait MenuExt: InteractiveElement + ParentElement + Styled + Sized {
    /// Opens the menu built by `menu` at the time of the click.
    fn menu_on_right_click(
        self,
        menu: impl Fn(&mut Window, &mut App) -> Menu + 'static,
    ) -> ContextMenu<Self> {
        self.context_menu(move |popup, window, cx| menu(window, cx).fill(popup, window, cx))
    }
}

impl<E: InteractiveElement + ParentElement + Styled> MenuExt for E {}
