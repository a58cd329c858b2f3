//! Notifications of a window: shown in its corner for a while, and kept in a list.

use std::rc::Rc;

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    Action, App, Context, DismissEvent, Entity, EventEmitter, FocusHandle, Focusable,
    InteractiveElement as _, IntoElement, KeyDownEvent, ParentElement as _, Render, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, Subscription, Window, div,
    prelude::FluentBuilder as _,
};
use ui::{ActiveTheme as _, Badge, EmptyState, Icon, Label, Tone, dp};

/// A notification for the user.
#[derive(Clone)]
pub struct Notice {
    /// Severity of the notification.
    pub tone: Tone,
    /// Text of the notification.
    pub text: SharedString,
    /// A later notification with the same key replaces this one on screen.
    pub key: Option<SharedString>,
    /// Label and action of its button.
    pub action: Option<(SharedString, Rc<dyn Action>)>,
}

impl Notice {
    /// Creates a notification. Quoted names and external messages are made safe to display.
    pub fn new(tone: Tone, text: impl Into<SharedString>) -> Self {
        Self {
            tone,
            text: ui::foreign::multi_line(text),
            key: None,
            action: None,
        }
    }

    /// Sets the key: a later notification with the same key replaces this one on screen.
    pub fn key(mut self, key: impl Into<SharedString>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Adds a button that dispatches `action`.
    pub fn action(mut self, label: impl Into<SharedString>, action: impl Action) -> Self {
        self.action = Some((label.into(), Rc::new(action)));
        self
    }
}

/// The notifications of a window, newest last.
#[derive(Default)]
pub struct Notices {
    kept: Vec<(u64, Notice)>,
}

/// Number of notifications kept.
const MAX_NOTICES: usize = 200;

impl Notices {
    /// Adds a notification; `at` is in milliseconds since 1970. Drops the oldest notifications
    /// beyond a fixed number.
    pub fn add(&mut self, notice: Notice, at: u64, cx: &mut Context<Self>) {
        self.kept.push((at, notice));
        let surplus = self.kept.len().saturating_sub(MAX_NOTICES);
        self.kept.drain(..surplus);
        cx.notify();
    }

    /// Iterates over the notifications, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Notice> {
        self.kept.iter().rev().map(|(_, notice)| notice)
    }
}

/// The list of notifications, as a view.
pub(crate) struct NoticeList {
    notices: Entity<Notices>,
    focus: FocusHandle,
    _changed: Subscription,
}

impl NoticeList {
    /// Creates the list, which follows `notices`.
    pub(crate) fn new(notices: Entity<Notices>, _: &mut Window, cx: &mut Context<Self>) -> Self {
        Self {
            _changed: cx.observe(&notices, |_, _, cx| cx.notify()),
            notices,
            focus: cx.focus_handle(),
        }
    }

    fn key(&mut self, event: &KeyDownEvent, _: &mut Window, cx: &mut Context<Self>) {
        if matches!(event.keystroke.key.as_str(), "escape" | "enter") {
            cx.stop_propagation();
            cx.emit(DismissEvent);
        }
    }
}

impl EventEmitter<DismissEvent> for NoticeList {}

impl Focusable for NoticeList {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Render for NoticeList {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let notices: Vec<Notice> = self.notices.read(cx).iter().take(50).cloned().collect();
        let border = cx.theme().colors.border;
        let rows = notices.iter().enumerate().map(|(index, notice)| {
            div()
                .id(("notice", index))
                .role(Role::ListItem)
                .test_support()
                .aria_label(notice.text.clone())
                .flex()
                .gap(dp(8.0))
                .px(dp(12.0))
                .py(dp(6.0))
                .border_b_1()
                .border_color(border)
                .child(Badge::new(tone_name(notice.tone)).tone(notice.tone))
                .child(
                    div()
                        .flex_1()
                        .min_w_0()
                        .text_size(dp(13.0))
                        .child(notice.text.clone()),
                )
        });
        let rows: Vec<_> = rows.collect();
        div()
            .id("notices")
            .role(Role::List)
            .test_support()
            .aria_label("Notifications")
            .track_focus(&self.focus)
            .on_key_down(cx.listener(Self::key))
            .w(dp(560.0))
            .max_w_full()
            .max_h(dp(480.0))
            .overflow_y_scroll()
            .text_color(cx.theme().colors.text)
            .child(
                div()
                    .px(dp(12.0))
                    .py(dp(8.0))
                    .child(Label::new("Notifications").strong()),
            )
            .when(rows.is_empty(), |this| {
                this.child(
                    div()
                        .h(dp(120.0))
                        .child(EmptyState::new("No notifications").icon(Icon::Bell)),
                )
            })
            .children(rows)
    }
}

fn tone_name(tone: Tone) -> &'static str {
    match tone {
        Tone::Error => "Error",
        Tone::Warning => "Warning",
        Tone::Success => "Done",
        Tone::Neutral | Tone::Info | Tone::Accent => "Note",
    }
}
