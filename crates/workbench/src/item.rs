//! What can stand in a tab: a text, excerpts of several, the search through the project, or why a file is not shown.

use base::AbsPath;
use editor::{DocumentModel, Editor};
use gpui_kit::{
    AnyElement, AnyView, App, Entity, FocusHandle, Focusable as _, IntoElement as _, SharedString,
};
use project::DocumentState;
use ui::{Icon, IconSize};

use crate::refusal::Refusal;
use crate::search_panel::SearchPanel;
use crate::waiting::Waiting;

/// What stands in a tab.
#[derive(Clone)]
pub enum Item {
    /// A view of a text.
    Text(Entity<Editor>),
    /// A view of excerpts of several texts, and what they are of.
    Excerpts(Entity<Editor>, SharedString),
    /// The search through the project.
    Search(Entity<SearchPanel>),
    /// A file that could not be opened, and why.
    Refused(Entity<Refusal>),
    /// A file of the last session that is still being read.
    Waiting(Entity<Waiting>),
}

impl Item {
    /// What the tab says.
    pub fn title(&self, cx: &App) -> SharedString {
        match self {
            Self::Text(editor) => editor.read(cx).model().read(cx).document().title().into(),
            Self::Excerpts(_, title) => title.clone(),
            Self::Search(panel) => panel.read(cx).title(),
            Self::Refused(refusal) => refusal.read(cx).path().shown_name().into(),
            Self::Waiting(waiting) => waiting.read(cx).path().shown_name().into(),
        }
    }

    /// The picture before the title.
    pub fn icon(&self, cx: &App) -> AnyElement {
        match self {
            Self::Text(_) | Self::Waiting(_) => {
                let name = self
                    .path(cx)
                    .map(|path| path.shown_name())
                    .unwrap_or_default();
                ui::file_icon(&name, cx).into_any_element()
            }
            Self::Excerpts(..) => Icon::List.size(IconSize::Medium).into_any_element(),
            Self::Search(_) => Icon::Search.size(IconSize::Medium).into_any_element(),
            Self::Refused(_) => Icon::FileQuestion.size(IconSize::Medium).into_any_element(),
        }
    }

    /// The file it shows.
    pub fn path(&self, cx: &App) -> Option<AbsPath> {
        match self {
            Self::Text(editor) => editor.read(cx).model().read(cx).path().cloned(),
            Self::Excerpts(..) | Self::Search(_) => None,
            Self::Refused(refusal) => Some(refusal.read(cx).path().clone()),
            Self::Waiting(waiting) => Some(waiting.read(cx).path().clone()),
        }
    }

    /// Whether closing it would lose text.
    pub fn is_dirty(&self, cx: &App) -> bool {
        let documents = self.documents(cx);
        documents
            .iter()
            .any(|document| document.read(cx).document().is_dirty())
    }

    /// How its text stands to its file.
    pub fn state(&self, cx: &App) -> Option<DocumentState> {
        let document = self.document(cx)?;
        Some(document.read(cx).document().state())
    }

    /// The text it shows, when that is one.
    pub fn document(&self, cx: &App) -> Option<Entity<DocumentModel>> {
        match self {
            Self::Text(editor) => Some(editor.read(cx).model().clone()),
            Self::Excerpts(..) | Self::Search(_) | Self::Refused(_) | Self::Waiting(_) => None,
        }
    }

    /// The texts with files that it shows and that are edited in it.
    pub fn documents(&self, cx: &App) -> Vec<Entity<DocumentModel>> {
        match self {
            Self::Text(editor) => vec![editor.read(cx).model().clone()],
            Self::Excerpts(editor, _) => match editor.read(cx).excerpts() {
                Some(excerpts) => excerpts.read(cx).sources().to_vec(),
                None => Vec::new(),
            },
            Self::Search(_) | Self::Refused(_) | Self::Waiting(_) => Vec::new(),
        }
    }

    /// The view of a text.
    pub fn editor(&self) -> Option<&Entity<Editor>> {
        match self {
            Self::Text(editor) | Self::Excerpts(editor, _) => Some(editor),
            Self::Search(_) | Self::Refused(_) | Self::Waiting(_) => None,
        }
    }

    /// What is drawn below the tab.
    pub fn view(&self) -> AnyView {
        match self {
            Self::Text(editor) | Self::Excerpts(editor, _) => editor.clone().into(),
            Self::Search(panel) => panel.clone().into(),
            Self::Refused(refusal) => refusal.clone().into(),
            Self::Waiting(waiting) => waiting.clone().into(),
        }
    }

    /// Where keys go when its tab shows.
    pub fn focus_handle(&self, cx: &App) -> FocusHandle {
        match self {
            Self::Text(editor) | Self::Excerpts(editor, _) => editor.read(cx).focus_handle(cx),
            Self::Search(panel) => panel.read(cx).focus_handle(cx),
            Self::Refused(refusal) => refusal.read(cx).focus_handle(cx),
            Self::Waiting(waiting) => waiting.read(cx).focus_handle(cx),
        }
    }
}
