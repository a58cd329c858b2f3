//! The layer above a window's content where one thing at a time asks for an answer.
//!
//! Invariant: when it closes, the keyboard goes back to where it was.

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
    focus: FocusHandle,
    previous: Option<FocusHandle>,
    name: SharedString,
    place: Place,
    _dismissed: Subscription,
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
        let focus = view.focus_handle(cx);
        focus.focus(window, cx);
        self.open = Some(Open {
            view: view.into(),
            focus,
            previous,
            name,
            place,
            _dismissed: dismissed,
        });
        cx.notify();
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
        let still_here = open.focus.contains_focused(window, cx) || window.focused(cx).is_none();
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
                            .on_mouse_down(MouseButton::Left, |_, _, cx| cx.stop_propagation())
                            .max_w_full()
                            .rounded(px(6.0))
                            .border_1()
                            .border_color(c.border_strong)
                            .bg(c.raised)
                            .shadow_lg()
                            .overflow_hidden()
                            .child(open.view.clone()),
                    ),
            )
        })
    }
}
