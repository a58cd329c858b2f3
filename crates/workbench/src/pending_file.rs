//! A restored tab whose file is still loading.

use base::AbsPath;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, Context, FocusHandle, Focusable, InteractiveElement as _, IntoElement, ParentElement as _,
    Render, Role, StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, EmptyState};

use preview_view::SavedPreview;

use crate::session::{SavedEditor, SavedItem};

/// The content of a tab whose file is still loading, with the view state to restore.
pub struct PendingFile {
    path: AbsPath,
    saved: SavedEditor,
    /// The preview that shows the file, instead of its text.
    preview: Option<SavedPreview>,
    focus: FocusHandle,
}

impl PendingFile {
    /// Creates the placeholder for a file and its stored view state.
    pub fn new(path: AbsPath, saved: SavedEditor, cx: &mut Context<Self>) -> Self {
        Self {
            path,
            saved,
            preview: None,
            focus: cx.focus_handle(),
        }
    }

    /// Creates the placeholder for the preview of a document.
    pub fn of_preview(path: AbsPath, saved: SavedPreview, cx: &mut Context<Self>) -> Self {
        Self {
            path,
            saved: SavedEditor::default(),
            preview: Some(saved),
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

    /// Returns the preview that shows the file; `None` if its text is shown.
    pub fn preview(&self) -> Option<&SavedPreview> {
        self.preview.as_ref()
    }

    /// Returns the stored content of the tab.
    pub fn stored(&self) -> SavedItem {
        match &self.preview {
            Some(preview) => SavedItem::Preview(preview.clone()),
            None => SavedItem::Editor(self.saved.clone()),
        }
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
