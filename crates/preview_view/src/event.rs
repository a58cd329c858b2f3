//! Requests of views to their window.

use base::AbsPath;
use gpui_kit::{Action, SharedString};

/// A request of a view to its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviewEvent {
    /// Open a file of a link.
    OpenFile {
        /// The path.
        path: AbsPath,
        /// The line, counted from 1.
        line: Option<u32>,
    },
    /// Show an address of the web, and open it if the user agrees.
    OpenAddress(String),
    /// A sentence for the user.
    Tell(SharedString),
    /// The items of the status bar are others.
    StatusChanged,
    /// Return the focus to the text.
    Cancelled,
}

/// An item of the status bar about the shown view.
pub struct PreviewStatus {
    /// Identifies the item.
    pub id: &'static str,
    /// The text.
    pub text: SharedString,
    /// The help text.
    pub help: &'static str,
    /// The action of a click.
    pub action: Box<dyn Action>,
}

impl PreviewStatus {
    pub(crate) fn new(
        id: &'static str,
        text: impl Into<SharedString>,
        help: &'static str,
        action: impl Action,
    ) -> Self {
        Self {
            id,
            text: text.into(),
            help,
            action: Box::new(action),
        }
    }
}
