//! Notifications in a lower corner of the window. Drawn by the kit.
//!
//! Invariant: an error stays until it is dismissed; other notifications disappear after a few
//! seconds.
//! Invariant: notifications appear at the bottom, so that they never cover a banner or find bar at
//! the top.

use gpui_kit::component::button::{Button, ButtonVariants as _};
use gpui_kit::component::notification::{Notification, NotificationType};
use gpui_kit::component::{Sizable as _, WindowExt as _};
use gpui_kit::{
    Action, Anchor, App, IntoElement as _, ParentElement as _, SharedString, Styled as _, Window,
    div,
};

use crate::badge::Tone;
use crate::foreign::{multi_line, one_line};
use crate::theme::dp;

/// A notification on screen.
pub struct Toast {
    tone: Tone,
    text: SharedString,
    title: Option<SharedString>,
    key: Option<SharedString>,
    action: Option<(SharedString, Box<dyn Action>)>,
    corner: Corner,
}

/// Corner of the window for a notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Corner {
    /// The lower right corner.
    #[default]
    Right,
    /// The lower left corner, while the right one is in use.
    Left,
}

/// Marks notifications created by this module.
struct AppToast;

impl Toast {
    /// Creates a notification with a message.
    pub fn new(tone: Tone, text: impl Into<SharedString>) -> Self {
        Self {
            tone,
            text: multi_line(text),
            title: None,
            key: None,
            action: None,
            corner: Corner::default(),
        }
    }

    /// Sets the title of the notification.
    pub fn title(mut self, title: impl Into<SharedString>) -> Self {
        self.title = Some(one_line(title));
        self
    }

    /// Sets the key: a later notification with the same key replaces this one.
    pub fn key(mut self, key: impl Into<SharedString>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Adds a button that runs an action and dismisses the notification.
    pub fn action(mut self, label: impl Into<SharedString>, action: Box<dyn Action>) -> Self {
        self.action = Some((one_line(label), action));
        self
    }

    /// Sets the corner of the window.
    pub fn corner(mut self, corner: Corner) -> Self {
        self.corner = corner;
        self
    }
}

/// Shows a notification in a window opened with the kit's `open_window`. The notification replaces
/// an earlier one with the same key.
pub fn show_toast(toast: Toast, window: &mut Window, cx: &mut App) {
    let kind = match toast.tone {
        Tone::Error => NotificationType::Error,
        Tone::Warning => NotificationType::Warning,
        Tone::Success => NotificationType::Success,
        Tone::Neutral | Tone::Info | Tone::Accent => NotificationType::Info,
    };
    let placement = match toast.corner {
        Corner::Right => Anchor::BottomRight,
        Corner::Left => Anchor::BottomLeft,
    };
    let key = toast.key.unwrap_or_else(|| toast.text.clone());
    let mut note = Notification::new()
        .message(toast.text)
        .with_type(kind)
        .placement(placement)
        .id1::<AppToast>(key);
    if let Some(title) = toast.title {
        note = note.title(title);
    }
    let stays = toast.tone == Tone::Error;
    let action = toast.action;
    if action.is_some() || stays {
        // The kit draws an action beside the text, which leaves little width for a sentence.
        note = note.content(move |_, _, cx| {
            let action = action.as_ref().map(|(label, action)| {
                let action = action.boxed_clone();
                Button::new("toast-action")
                    .label(label.clone())
                    .small()
                    .on_click(cx.listener(move |note: &mut Notification, _, window, cx| {
                        note.dismiss(window, cx);
                        window.dispatch_action(action.boxed_clone(), cx);
                    }))
            });
            // The button of the kit is hidden until the pointer is above the notification.
            let dismiss = stays.then(|| {
                Button::new("toast-dismiss")
                    .label("Dismiss")
                    .ghost()
                    .small()
                    .on_click(cx.listener(|note: &mut Notification, _, window, cx| {
                        note.dismiss(window, cx);
                    }))
            });
            let buttons = div().flex().flex_wrap().gap(dp(8.0)).pt(dp(8.0));
            buttons
                .children(action)
                .children(dismiss)
                .into_any_element()
        });
    }
    let note = note.autohide(!stays);
    window.push_notification(note, cx);
}

/// Dismisses all notifications of the window.
pub fn dismiss_toasts(window: &mut Window, cx: &mut App) {
    window.clear_notifications(cx);
}
