//! The modal layer above a window's content.
//!
//! Invariant: while a view is shown, it keeps the focus, whatever opens behind it.
//! Invariant: when it closes, the previous focus is restored.

use gpui_kit::base::FocusTrapElement as _;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyView, App, AppContext as _, Context, DismissEvent, Entity, FocusHandle, Focusable as _,
    InteractiveElement as _, IntoElement, ManagedView, MouseButton, ParentElement as _, Render,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, Subscription, Window,
    deferred, div, px,
};

use crate::foreign::one_line;
use crate::picker::Cancel;
use crate::theme::{ActiveTheme as _, dp};

/// Drawing priority of the modal view among deferred elements. Docks that overlay the text of a
/// narrow window have priority 0 and lie below it. The window's menu has priority 2 and lies above
/// it.
const MODAL_PRIORITY: usize = 1;

/// Holds at most one modal view. Render it as the last child of a window's content.
#[derive(Default)]
pub struct ModalLayer {
    open: Option<OpenModal>,
}

struct OpenModal {
    view: AnyView,
    /// Focus scope around everything focusable in the view.
    scope: FocusHandle,
    focus: FocusHandle,
    previous: Option<FocusHandle>,
    name: SharedString,
    place: ModalPlacement,
    _subscriptions: Vec<Subscription>,
}

/// Position of a modal view.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModalPlacement {
    /// Below the title bar, without dimming the text: pickers.
    Top,
    /// Centred, with the rest dimmed: questions.
    Centre,
}

impl ModalLayer {
    /// Creates an empty layer.
    pub fn new(cx: &mut App) -> Entity<Self> {
        cx.new(|_| Self::default())
    }

    /// Shows a picker below the title bar, replacing any modal view.
    pub fn show<V: ManagedView>(
        &mut self,
        name: impl Into<SharedString>,
        view: Entity<V>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open(one_line(name), view, ModalPlacement::Top, window, cx);
    }

    /// Shows a question in the middle of the window, replacing any modal view.
    pub fn ask<V: ManagedView>(
        &mut self,
        name: impl Into<SharedString>,
        view: Entity<V>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open(one_line(name), view, ModalPlacement::Centre, window, cx);
    }

    fn open<V: ManagedView>(
        &mut self,
        name: SharedString,
        view: Entity<V>,
        place: ModalPlacement,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let previous = match self.put_away(window, cx) {
            Some(open) => open.previous,
            None => window.focused(cx),
        };
        let dismissed =
            cx.subscribe_in(&view, window, |this, view, _: &DismissEvent, window, cx| {
                if this
                    .open
                    .as_ref()
                    .is_some_and(|open| open.view.entity_id() == view.entity_id())
                {
                    this.close(window, cx);
                }
            });
        let (scope, focus) = (cx.focus_handle(), view.focus_handle(cx));
        let mut subscriptions = vec![
            dismissed,
            cx.on_focus_out(&scope, window, |this, _, window, cx| {
                this.keep_keyboard(window, cx)
            }),
        ];
        if place == ModalPlacement::Centre {
            subscriptions.push(keep_shortcuts_out(window, cx));
        }
        focus.focus(window, cx);
        self.open = Some(OpenModal {
            view: view.into(),
            scope,
            focus,
            previous,
            name,
            place,
            _subscriptions: subscriptions,
        });
        cx.notify();
    }

    /// Takes the focus back when something behind the view has taken it.
    pub fn keep_keyboard(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(open) = &self.open
            && !open.scope.contains_focused(window, cx)
        {
            open.focus.focus(window, cx);
        }
    }

    /// Cancels the modal view and restores the focus.
    pub fn dismiss(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let open = self.put_away(window, cx);
        self.give_back(open, window, cx);
    }

    /// Closes the view at its own request.
    fn close(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let open = self.open.take();
        self.give_back(open, window, cx);
    }

    /// Removes the view from the layer and notifies it, so that a picker reverts its preview.
    fn put_away(&mut self, window: &mut Window, cx: &mut Context<Self>) -> Option<OpenModal> {
        let open = self.open.take()?;
        let (view, focus) = (open.view.clone(), open.focus.clone());
        // Deferred, because the view that is replaced may be borrowed now.
        window.defer(cx, move |window, cx| {
            focus.dispatch_action(&Cancel, window, cx);
            drop(view);
        });
        Some(open)
    }

    fn give_back(&mut self, open: Option<OpenModal>, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = open else {
            return;
        };
        // Confirming may have moved the focus already, for example into the opened file.
        let is_in = |focus: &FocusHandle| focus.contains_focused(window, cx);
        let still_here = is_in(&open.scope) || is_in(&open.focus) || window.focused(cx).is_none();
        if let Some(previous) = open.previous.filter(|_| still_here) {
            previous.focus(window, cx);
        }
        cx.notify();
    }

    /// Returns whether a modal view is shown.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the modal view if one is shown and has this type.
    pub fn active_view<V: 'static>(&self) -> Option<Entity<V>> {
        self.open
            .as_ref()
            .and_then(|open| open.view.clone().downcast::<V>().ok())
    }
}

/// Drops the keys of this window that a question does not use, so that no shortcut acts behind it.
fn keep_shortcuts_out(window: &Window, cx: &mut Context<ModalLayer>) -> Subscription {
    let asked = window.window_handle();
    cx.intercept_keystrokes(move |event, window, cx| {
        let stroke = &event.keystroke;
        let has_modifier = stroke.modifiers.control
            || stroke.modifiers.alt
            || stroke.modifiers.platform
            || stroke.modifiers.function;
        let is_used = !has_modifier
            && matches!(
                stroke.key.as_str(),
                "enter" | "escape" | "space" | "tab" | "left" | "right" | "up" | "down"
            );
        if window.window_handle() == asked && !is_used {
            cx.stop_propagation();
        }
    })
}

impl Render for ModalLayer {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let c = cx.theme().colors;
        div().when_some(self.open.as_ref(), |layer, open| {
            // Docks over the text of a narrow window are deferred too; the modal is above them.
            layer.absolute().inset_0().child(
                deferred(
                    div()
                        .id("modal-layer")
                        .occlude()
                        .flex()
                        .flex_col()
                        .size_full()
                        .items_center()
                        .map(|div| match open.place {
                            ModalPlacement::Top => div.pt(dp(44.0)),
                            ModalPlacement::Centre => div.justify_center().bg(c.scrim),
                        })
                        .on_mouse_down(
                            MouseButton::Left,
                            cx.listener(|this, _, window, cx| this.dismiss(window, cx)),
                        )
                        .child(
                            div()
                                .id("modal")
                                .role(Role::Dialog)
                                .aria_label(open.name.clone())
                                .occlude()
                                .on_mouse_down(MouseButton::Left, |_, window, cx| {
                                    // A press beside the controls does not change the focus.
                                    window.prevent_default();
                                    cx.stop_propagation();
                                })
                                .max_w_full()
                                .rounded(px(6.0))
                                .border_1()
                                .border_color(c.border_strong)
                                .bg(c.raised)
                                .shadow_lg()
                                .overflow_hidden()
                                .child(open.view.clone())
                                .focus_trap("modal-keyboard", &open.scope),
                        ),
                )
                .with_priority(MODAL_PRIORITY),
            )
        })
    }
}
