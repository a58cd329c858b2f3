//! The state of a view whose content is read in the background.

use gpui_kit::{AnyElement, IntoElement as _, ParentElement as _, SharedString};
use ui::{Button, EmptyState, Icon};

use crate::actions::{OpenText, Reload};

/// The content of a view, as far as it has arrived.
pub(crate) enum Loaded<T> {
    /// It is being read.
    Waiting,
    /// It was refused, with the reason.
    Refused(SharedString),
    /// It is here.
    Ready(T),
}

impl<T> Loaded<T> {
    pub(crate) fn ready(&self) -> Option<&T> {
        match self {
            Self::Ready(content) => Some(content),
            Self::Waiting | Self::Refused(_) => None,
        }
    }

    pub(crate) fn ready_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Ready(content) => Some(content),
            Self::Waiting | Self::Refused(_) => None,
        }
    }
}

/// Turns the cause of a refusal into a sentence.
pub(crate) fn sentence(error: &dyn std::fmt::Display) -> SharedString {
    base::sentence(&error.to_string()).into()
}

/// Renders the view in place of its content, while that is read or because it was refused.
pub(crate) fn render_absent<T>(loaded: &Loaded<T>, name: &str, icon: Icon) -> Option<AnyElement> {
    let state = match loaded {
        Loaded::Ready(_) => return None,
        Loaded::Waiting => EmptyState::new(format!("Reading {name}\u{2026}")),
        Loaded::Refused(reason) => EmptyState::new(format!("{name} is not shown"))
            .detail(reason.clone())
            .child(Button::new("preview-again", "Try again").action(Box::new(Reload)))
            .child(Button::new("preview-text", "Open as text").action(Box::new(OpenText))),
    };
    Some(state.icon(icon).into_any_element())
}
