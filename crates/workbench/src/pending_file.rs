//! A restored tab whose file is still loading.

use base::AbsPath;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, Context, FocusHandle, Focusable, InteractiveElement as _, IntoElement, ParentElement as _,
    Render, Role, StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, EmptyState};

use crate::session::SavedEditor;

/// The content of a tab whose file is still loading, with the view state to restore.
pub struct PendingFile {
    path: AbsPath,
    saved: SavedEditor,
    focus: FocusHandle,
}

impl PendingFile {
    /// Creates the placeholder for a file and its stored view state.
    pub fn new(path: AbsPath, saved: SavedEditor, cx: &mut Context<Self>) -> Self {
        Self {
            path,
            saved,
            focus: cx.focus_handle(),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns whether the placeholder has the focus.
    pub fn focus_is_in(&self, window: &Window) -> bool {
        self.focus.is_focused(window)
    }

    /// Returns the stored view state.
    pub fn saved(&self) -> &SavedEditor {
        &self.saved
    }
}

impl Focusable for PendingFile {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Render for PendingFile {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        div()
            .id("waiting")
            .role(Role::Status)
            .test_support()
            .aria_label(format!("Reading {}", self.path.printable_name()))
            .track_focus(&self.focus)
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(EmptyState::new(format!(
                "Reading {}\u{2026}",
                self.path.printable_name()
            )))
    }
}
