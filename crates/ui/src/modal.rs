//! The layer above a window's content where one thing at a time asks for an answer.
//!
//! Invariant: while something is shown, the keyboard is in it, whatever is opened behind it meanwhile.
//! Invariant: when it closes, the keyboard goes back to where it was.

use gpui_kit::base::FocusTrapElement as _;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyView, App, AppContext as _, Context, DismissEvent, Entity, FocusHandle, Focusable as _,
    InteractiveElement as _, IntoElement, ManagedView, MouseButton, ParentElement as _, Render,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, Subscription, Window, div,
    px,
};

use crate::foreign::one_line;
use crate::picker::Cancel;
use crate::theme::{ActiveTheme as _, dp};

/// Holds at most one view above the rest. Draw it as the last child of a window's content.
#[derive(Default)]
pub struct ModalLayer {
    open: Option<Open>,
}

struct Open {
    view: AnyView,
    /// Around everything in the view that can have the keyboard.
    scope: FocusHandle,
    focus: FocusHandle,
    previous: Option<FocusHandle>,
    name: SharedString,
    place: Place,
    _subscriptions: Vec<Subscription>,
}

/// Where a view stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Below the title bar, with the text behind it in full light: pickers.
    Top,
    /// In the middle, with the rest in the shade: questions.
    Centre,
}

impl ModalLayer {
    /// A layer with nothing on it.
    pub fn new(cx: &mut App) -> Entity<Self> {
        cx.new(|_| Self::default())
    }

    /// Shows a picker below the title bar, in place of whatever was shown.
    pub fn show<V: ManagedView>(
        &mut self,
        name: impl Into<SharedString>,
        view: Entity<V>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open(one_line(name), view, Place::Top, window, cx);
    }

    /// Shows a question in the middle of the window, in place of whatever was shown.
    pub fn ask<V: ManagedView>(
        &mut self,
        name: impl Into<SharedString>,
        view: Entity<V>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open(one_line(name), view, Place::Centre, window, cx);
    }

    fn open<V: ManagedView>(
        &mut self,
        name: SharedString,
        view: Entity<V>,
        place: Place,
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
        if place == Place::Centre {
            subscriptions.push(keep_shortcuts_out(window, cx));
        }
        focus.focus(window, cx);
        self.open = Some(Open {
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

    /// Takes the keyboard back when something behind the view has taken it.
    pub fn keep_keyboard(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(open) = &self.open
            && !open.scope.contains_focused(window, cx)
        {
            open.focus.focus(window, cx);
        }
    }

    /// Takes away what is shown, as if it had been cancelled, and gives the keyboard back.
    pub fn dismiss(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let open = self.put_away(window, cx);
        self.give_back(open, window, cx);
    }

    /// The view asked to go.
    fn close(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let open = self.open.take();
        self.give_back(open, window, cx);
    }

    /// Takes the view off the layer and lets it hear of it, so that a picker takes its preview back.
    fn put_away(&mut self, window: &mut Window, cx: &mut Context<Self>) -> Option<Open> {
        let open = self.open.take()?;
        let (view, focus) = (open.view.clone(), open.focus.clone());
        // Later, because whoever replaces a view may be that view, which is busy now.
        window.defer(cx, move |window, cx| {
            focus.dispatch_action(&Cancel, window, cx);
            drop(view);
        });
        Some(open)
    }

    fn give_back(&mut self, open: Option<Open>, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = open else {
            return;
        };
        // Confirming may have moved the keyboard already, for instance into the file just opened.
        let is_in = |focus: &FocusHandle| focus.contains_focused(window, cx);
        let still_here = is_in(&open.scope) || is_in(&open.focus) || window.focused(cx).is_none();
        if let Some(previous) = open.previous.filter(|_| still_here) {
            previous.focus(window, cx);
        }
        cx.notify();
    }

    /// Whether something is shown.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What is shown, when it is of this type.
    pub fn shown<V: 'static>(&self) -> Option<Entity<V>> {
        self.open
            .as_ref()
            .and_then(|open| open.view.clone().downcast::<V>().ok())
    }
}

/// Drops the keys of this window that a question has no use for, so that no shortcut acts behind it.
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
            layer.absolute().inset_0().child(
                div()
                    .id("modal-layer")
                    .occlude()
                    .flex()
                    .flex_col()
                    .size_full()
                    .items_center()
                    .map(|div| match open.place {
                        Place::Top => div.pt(dp(44.0)),
                        Place::Centre => div.justify_center().bg(c.scrim),
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
                                // A press beside the controls leaves the keyboard where it is.
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
        })
    }
}
