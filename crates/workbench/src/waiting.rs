//! A tab of the last session whose file is still being read.

use base::AbsPath;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, Context, FocusHandle, Focusable, InteractiveElement as _, IntoElement, ParentElement as _,
    Render, Role, StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, EmptyState};

use crate::session::SavedEditor;

/// A file to be read, and the view it gets then.
pub struct Waiting {
    path: AbsPath,
    saved: SavedEditor,
    focus: FocusHandle,
}

impl Waiting {
    /// For this file, which was last seen like this.
    pub fn new(path: AbsPath, saved: SavedEditor, cx: &mut Context<Self>) -> Self {
        Self {
            path,
            saved,
            focus: cx.focus_handle(),
        }
    }

    /// The file.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Whether it has the keyboard.
    pub fn focus_is_in(&self, window: &Window) -> bool {
        self.focus.is_focused(window)
    }

    /// How it was last seen.
    pub fn saved(&self) -> &SavedEditor {
        &self.saved
    }
}

impl Focusable for Waiting {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Render for Waiting {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        div()
            .id("waiting")
            .role(Role::Status)
            .test_support()
            .aria_label(format!("Reading {}", self.path.shown_name()))
            .track_focus(&self.focus)
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(EmptyState::new(format!(
                "Reading {}\u{2026}",
                self.path.shown_name()
            )))
    }
}
