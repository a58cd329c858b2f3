//! Short reports in a lower corner of the window. Drawn by the kit.
//!
//! Invariant: an error stays until it is dismissed, everything else goes by itself after some seconds.
//! Invariant: a report lies at the bottom, so that it never covers a banner or a find bar, which are at the top.

use gpui_kit::component::WindowExt as _;
use gpui_kit::component::button::Button;
use gpui_kit::component::notification::{Notification, NotificationType};
use gpui_kit::{Action, Anchor, App, SharedString, Window};

use crate::badge::Tone;
use crate::foreign::{lines, one_line};

/// A report.
pub struct Toast {
    tone: Tone,
    text: SharedString,
    title: Option<SharedString>,
    key: Option<SharedString>,
    action: Option<(SharedString, Box<dyn Action>)>,
    corner: Corner,
}

/// Where a report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Corner {
    /// At the bottom on the right.
    #[default]
    Right,
    /// At the bottom on the left, when the right corner is in use.
    Left,
}

/// Marks the notifications that are ours.
struct Ours;

impl Toast {
    /// A sentence in a tone.
    pub fn new(tone: Tone, text: impl Into<SharedString>) -> Self {
        Self {
            tone,
            text: lines(text),
            title: None,
            key: None,
            action: None,
            corner: Corner::default(),
        }
    }

    /// What it is about.
    pub fn title(mut self, title: impl Into<SharedString>) -> Self {
        self.title = Some(one_line(title));
        self
    }

    /// A later toast of the same key takes its place.
    pub fn key(mut self, key: impl Into<SharedString>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// A button that runs an action and takes the toast away.
    pub fn action(mut self, label: impl Into<SharedString>, action: Box<dyn Action>) -> Self {
        self.action = Some((one_line(label), action));
        self
    }

    /// In another corner.
    pub fn corner(mut self, corner: Corner) -> Self {
        self.corner = corner;
        self
    }
}

/// Shows a toast in this window, which must have been opened by the kit's `open_window`.
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
        .id1::<Ours>(key);
    if let Some(title) = toast.title {
        note = note.title(title);
    }
    if let Some((label, action)) = toast.action {
        note = note.action(move |_, _, cx| {
            let action = action.boxed_clone();
            Button::new("toast-action")
                .label(label.clone())
                .on_click(cx.listener(move |note: &mut Notification, _, window, cx| {
                    note.dismiss(window, cx);
                    window.dispatch_action(action.boxed_clone(), cx);
                }))
        });
    }
    // Last, because an action makes the kit's report stay.
    let note = note.autohide(toast.tone != Tone::Error);
    window.push_notification(note, cx);
}

/// Takes all toasts of this window away.
pub fn dismiss_toasts(window: &mut Window, cx: &mut App) {
    window.clear_notifications(cx);
}
