//! An open menu: its keys, its focus, and the actions it dispatches.
//!
//! Invariant: an open menu has the focus. It closes when it loses the focus, and gives the focus back
//! when it closes. A window has at most one.

use gpui_kit::{
    Action, AnyWindowHandle, App, AppContext as _, Bounds, Context, DismissEvent, Entity,
    EventEmitter, FocusHandle, Focusable, Global, KeyContext, Keystroke, MouseDownEvent, Pixels,
    Point, SharedString, Subscription, WeakEntity, Window, px,
};

use super::cascade::{MenuCascade, MenuStep};
use super::pointer::PointerPath;
use super::{Menu, MenuItem};
use crate::key_hint::keys_text;
use crate::platform::ActivePlatform as _;

/// Position of a menu in window coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MenuAnchor {
    /// The point of a click. The menu moves away from it where the window ends.
    Point(Point<Pixels>),
    /// The control that opens the menu. The menu stays below it, however high its items are.
    Below(Bounds<Pixels>),
}

/// Request to open a neighbour in a menu bar, by an arrow key that no submenu uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjacentMenu {
    /// The menu to the left.
    Previous,
    /// The menu to the right.
    Next,
}

/// An open menu. The element that opened it renders it as a child, wherever that element lies, and
/// drops it on `DismissEvent`.
pub struct PopupMenu {
    pub(super) anchor: MenuAnchor,
    pub(super) cascade: MenuCascade,
    pub(super) pointer: PointerPath,
    pub(super) focus: FocusHandle,
    /// Element that actions are dispatched from, other than the parent element.
    target: Option<FocusHandle>,
    /// Element that gets the focus back.
    previous: Option<FocusHandle>,
    is_open: bool,
    _subscriptions: [Subscription; 2],
}

/// The menu that was opened last, and its window. A menu in another window closes with the focus of
/// that window.
#[derive(Default)]
struct LatestMenu(Option<(AnyWindowHandle, WeakEntity<PopupMenu>)>);

impl Global for LatestMenu {}

impl EventEmitter<DismissEvent> for PopupMenu {}
impl EventEmitter<AdjacentMenu> for PopupMenu {}

impl Focusable for PopupMenu {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl PopupMenu {
    /// Opens a menu and focuses it, after closing the one that is open in the window.
    pub fn open(menu: Menu, anchor: MenuAnchor, window: &mut Window, cx: &mut App) -> Entity<Self> {
        Self::close_open(window, cx);
        let popup = cx.new(|cx| Self::new(menu, anchor, window, cx));
        popup.focus_handle(cx).focus(window, cx);
        let latest = (window.window_handle(), popup.downgrade());
        cx.default_global::<LatestMenu>().0 = Some(latest);
        popup
    }

    /// Closes the menu that is open in the window, so that the focus is where it was before.
    pub fn close_open(window: &mut Window, cx: &mut App) {
        let here = window.window_handle();
        let latest = cx
            .default_global::<LatestMenu>()
            .0
            .take_if(|it| it.0 == here);
        if let Some((_, menu)) = latest {
            let closed = menu.update(cx, |menu, cx| menu.close(window, cx));
            // A menu that is gone is closed.
            closed.ok();
        }
    }

    fn new(menu: Menu, anchor: MenuAnchor, window: &mut Window, cx: &mut Context<Self>) -> Self {
        let focus = cx.focus_handle();
        let (this, opened_in) = (cx.weak_entity(), window.window_handle());
        let keys = cx.intercept_keystrokes(move |event, window, cx| {
            if window.window_handle() == opened_in {
                let pressed = this.update(cx, |popup, cx| popup.key(&event.keystroke, window, cx));
                // A closed menu takes no keys.
                pressed.ok();
            }
        });
        let blurred = cx.on_focus_out(&focus, window, |popup, _, window, cx| {
            popup.close(window, cx);
        });
        let name = if menu.name.is_empty() {
            "Menu".into()
        } else {
            menu.name
        };
        Self {
            anchor,
            cascade: MenuCascade::new(name, menu.items),
            pointer: PointerPath::default(),
            focus,
            target: menu.focus,
            previous: window.focused(cx),
            is_open: true,
            _subscriptions: [keys, blurred],
        }
    }

    /// Closes the menu and restores the focus, unless the focus has moved elsewhere.
    pub fn close(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if !std::mem::replace(&mut self.is_open, false) {
            return;
        }
        let has_focus = self.focus.contains_focused(window, cx);
        if let Some(previous) = self.previous.as_ref().filter(|_| has_focus) {
            previous.focus(window, cx);
        }
        cx.emit(DismissEvent);
    }

    /// Handles a key of the window. Shortcuts act as without the menu and close it; other keys reach
    /// nothing but the menu.
    fn key(&mut self, stroke: &Keystroke, window: &mut Window, cx: &mut Context<Self>) {
        if !self.focus.is_focused(window) {
            return;
        }
        if is_shortcut(stroke) || window.has_pending_keystrokes() {
            cx.defer_in(window, |popup, window, cx| {
                // A change of the focus would end a binding of several strokes.
                if !window.has_pending_keystrokes() {
                    popup.close(window, cx);
                }
            });
            return;
        }
        cx.stop_propagation();
        self.pointer = PointerPath::default();
        match stroke.key.as_str() {
            "down" => self.cascade.step(MenuStep::Next),
            "up" => self.cascade.step(MenuStep::Previous),
            "home" => self.cascade.step(MenuStep::First),
            "end" => self.cascade.step(MenuStep::Last),
            "right" => self.move_right(cx),
            "left" => self.move_left(cx),
            "enter" | "space" => {
                if let Some((level, ix)) = self.cascade.selected() {
                    self.activate(level, ix, window, cx);
                }
            }
            "escape" => self.close(window, cx),
            _ => {
                if let Some(letter) = letter(stroke) {
                    self.cascade.step(MenuStep::Letter(letter));
                }
            }
        }
        cx.notify();
    }

    fn move_right(&mut self, cx: &mut Context<Self>) {
        if !self.cascade.enter_submenu() {
            cx.emit(AdjacentMenu::Next);
        }
    }

    fn move_left(&mut self, cx: &mut Context<Self>) {
        if !self.cascade.leave_submenu() {
            cx.emit(AdjacentMenu::Previous);
        }
    }

    /// Runs the action of an item, or moves into its submenu.
    pub(super) fn activate(
        &mut self,
        level: usize,
        ix: usize,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.cascade.select(level, ix);
        match self.cascade.item(level, ix) {
            Some(MenuItem::Action {
                action,
                enabled: true,
                ..
            }) => {
                let action = action.boxed_clone();
                self.run(action, window, cx);
            }
            Some(MenuItem::Submenu { .. }) => {
                self.cascade.enter_submenu();
                cx.notify();
            }
            Some(MenuItem::Action { .. } | MenuItem::Separator) | None => {}
        }
    }

    fn run(&mut self, action: Box<dyn Action>, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(target) = &self.target {
            target.focus(window, cx);
        }
        // Before the focus returns: without a target, the action bubbles from this menu through the
        // element that opened it.
        window.dispatch_action(action, cx);
        self.close(window, cx);
    }

    /// Closes the menu after a press outside of all its levels.
    pub(super) fn pressed_outside(
        &mut self,
        event: &MouseDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let mut submenus = self.cascade.levels().iter().skip(1);
        let is_inside = submenus.any(|level| {
            let frame = level.scroll.bounds().dilate(px(1.0));
            frame.contains(&event.position)
        });
        if !is_inside {
            self.close(window, cx);
        }
    }

    /// Returns the key binding of an action where it would be dispatched.
    pub(super) fn keys(
        &self,
        action: &dyn Action,
        window: &Window,
        cx: &App,
    ) -> Option<SharedString> {
        let explicit = [&self.target, &self.previous].into_iter().flatten();
        let mut from = explicit.chain([&self.focus]);
        let here =
            from.find_map(|focus| window.highest_precedence_binding_for_action_in(action, focus));
        let binding = here.or_else(|| {
            let anywhere = KeyContext::default();
            window.highest_precedence_binding_for_action_in_context(action, anywhere)
        })?;
        Some(keys_text(&binding, cx.platform()))
    }
}

/// Whether a stroke is left to the key bindings of the window: one with a modifier other than Shift,
/// or a function key.
fn is_shortcut(stroke: &Keystroke) -> bool {
    let held = &stroke.modifiers;
    let number = stroke.key.strip_prefix('f').unwrap_or_default();
    held.control || held.alt || held.platform || held.function || number.parse::<u8>().is_ok()
}

/// Returns the letter that a stroke types, as far as it types one.
fn letter(stroke: &Keystroke) -> Option<char> {
    let text = stroke.key_char.as_ref().unwrap_or(&stroke.key);
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}
