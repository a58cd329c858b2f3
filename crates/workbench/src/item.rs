//! Content of a tab: a text, excerpts of several texts, a preview, the project search, the tests, the history, a
//! terminal, or a load error.

use base::AbsPath;
use editor::{DocumentModel, Editor};
use git_history::HistoryView;
use gpui_kit::{
    AnyElement, AnyView, App, Entity, FocusHandle, Focusable as _, IntoElement as _, SharedString,
};
use preview_view::PreviewTab;
use project::DocumentState;
use terminal_panel::{TerminalView, tab};
use ui::{Icon, IconSize};

use crate::file_error::FileErrorView;
use crate::pending_file::PendingFile;
use crate::search_panel::SearchPanel;
use crate::tests_panel::TestsPanel;

/// Content of a tab.
#[derive(Clone)]
pub enum TabItem {
    /// A view of a text.
    Text(Entity<Editor>),
    /// A view of excerpts from several texts, and its title.
    Excerpts(Entity<Editor>, SharedString),
    /// The project search panel.
    Search(Entity<SearchPanel>),
    /// The list of tests.
    Tests(Entity<TestsPanel>),
    /// The history of the repository.
    History(Entity<HistoryView>),
    /// A terminal, which the panel of terminals owns.
    Terminal(Entity<TerminalView>),
    /// A preview: Markdown, an image, a table or bytes.
    Preview(PreviewTab),
    /// A load error for a file.
    Refused(Entity<FileErrorView>),
    /// A file of the restored session that is still loading.
    Waiting(Entity<PendingFile>),
}

impl TabItem {
    /// Returns the title of the tab.
    pub fn title(&self, cx: &App) -> SharedString {
        match self {
            Self::Text(editor) => editor.read(cx).model().read(cx).document().title().into(),
            Self::Excerpts(_, title) => title.clone(),
            Self::Search(panel) => panel.read(cx).title(),
            Self::Tests(panel) => panel.read(cx).title(),
            Self::History(view) => view.read(cx).title(),
            Self::Terminal(view) => tab::title(view.read(cx)),
            Self::Preview(tab) => tab.title(cx),
            Self::Refused(refusal) => refusal.read(cx).path().printable_name().into(),
            Self::Waiting(waiting) => waiting.read(cx).path().printable_name().into(),
        }
    }

    /// Returns the icon before the title.
    pub fn icon(&self, cx: &App) -> AnyElement {
        match self {
            Self::Text(_) | Self::Waiting(_) => {
                let name = self
                    .path(cx)
                    .map(|path| path.printable_name())
                    .unwrap_or_default();
                ui::file_icon(&name, cx).into_any_element()
            }
            Self::Excerpts(..) => Icon::List.size(IconSize::Medium).into_any_element(),
            Self::Search(_) => Icon::Search.size(IconSize::Medium).into_any_element(),
            Self::Tests(_) => Icon::ListTree.size(IconSize::Medium).into_any_element(),
            Self::History(_) => Icon::GitBranch.size(IconSize::Medium).into_any_element(),
            Self::Terminal(view) => tab::icon(view.read(cx), cx),
            Self::Preview(tab) => tab.icon().size(IconSize::Medium).into_any_element(),
            Self::Refused(_) => Icon::FileQuestion.size(IconSize::Medium).into_any_element(),
        }
    }

    /// Returns the path of the shown file, or `None` if the tab shows an untitled text or not
    /// exactly one file.
    pub fn path(&self, cx: &App) -> Option<AbsPath> {
        match self {
            Self::Text(editor) => editor.read(cx).model().read(cx).path().cloned(),
            Self::Excerpts(..)
            | Self::Search(_)
            | Self::Tests(_)
            | Self::History(_)
            | Self::Terminal(_) => None,
            Self::Preview(tab) => tab.path(cx),
            Self::Refused(refusal) => Some(refusal.read(cx).path().clone()),
            Self::Waiting(waiting) => Some(waiting.read(cx).path().clone()),
        }
    }

    /// Returns whether closing the tab would lose text.
    pub fn is_dirty(&self, cx: &App) -> bool {
        let documents = self.documents(cx);
        documents
            .iter()
            .any(|document| document.read(cx).document().is_dirty())
    }

    /// Returns the state of the shown document relative to its file, or `None` if the tab does not
    /// show exactly one document.
    pub fn state(&self, cx: &App) -> Option<DocumentState> {
        let document = self.document(cx)?;
        Some(document.read(cx).document().state())
    }

    /// Returns the shown document, if there is exactly one.
    pub fn document(&self, cx: &App) -> Option<Entity<DocumentModel>> {
        match self {
            Self::Text(editor) => Some(editor.read(cx).model().clone()),
            Self::Excerpts(..)
            | Self::Search(_)
            | Self::Tests(_)
            | Self::History(_)
            | Self::Terminal(_)
            | Self::Preview(_)
            | Self::Refused(_)
            | Self::Waiting(_) => None,
        }
    }

    /// Returns the documents that can be edited in this tab. Returns an empty list for other views.
    pub fn documents(&self, cx: &App) -> Vec<Entity<DocumentModel>> {
        match self {
            Self::Text(editor) => vec![editor.read(cx).model().clone()],
            Self::Excerpts(editor, _) => match editor.read(cx).excerpts() {
                Some(excerpts) => excerpts.read(cx).sources().to_vec(),
                None => Vec::new(),
            },
            Self::Preview(tab) => tab.document(cx).into_iter().collect(),
            Self::Search(_)
            | Self::Tests(_)
            | Self::History(_)
            | Self::Terminal(_)
            | Self::Refused(_)
            | Self::Waiting(_) => Vec::new(),
        }
    }

    /// Returns the editor if the tab shows a text or excerpts.
    pub fn editor(&self) -> Option<&Entity<Editor>> {
        match self {
            Self::Text(editor) | Self::Excerpts(editor, _) => Some(editor),
            Self::Search(_)
            | Self::Tests(_)
            | Self::History(_)
            | Self::Terminal(_)
            | Self::Preview(_)
            | Self::Refused(_)
            | Self::Waiting(_) => None,
        }
    }

    /// Returns the terminal that the tab shows.
    pub fn terminal(&self) -> Option<&Entity<TerminalView>> {
        match self {
            Self::Terminal(view) => Some(view),
            _ => None,
        }
    }

    /// Returns the preview that the tab shows.
    pub fn preview(&self) -> Option<&PreviewTab> {
        match self {
            Self::Preview(tab) => Some(tab),
            _ => None,
        }
    }

    /// Returns the view below the tab bar.
    pub fn view(&self) -> AnyView {
        match self {
            Self::Text(editor) | Self::Excerpts(editor, _) => editor.clone().into(),
            Self::Search(panel) => panel.clone().into(),
            Self::Tests(panel) => panel.clone().into(),
            Self::History(view) => view.clone().into(),
            Self::Terminal(view) => view.clone().into(),
            Self::Preview(tab) => tab.view(),
            Self::Refused(refusal) => refusal.clone().into(),
            Self::Waiting(waiting) => waiting.clone().into(),
        }
    }

    /// Returns the focus handle to focus when the tab is shown.
    pub fn focus_handle(&self, cx: &App) -> FocusHandle {
        match self {
            Self::Text(editor) | Self::Excerpts(editor, _) => editor.read(cx).focus_handle(cx),
            Self::Search(panel) => panel.read(cx).focus_handle(cx),
            Self::Tests(panel) => panel.read(cx).focus_handle(cx),
            Self::History(view) => view.read(cx).focus_handle(cx),
            Self::Terminal(view) => view.read(cx).focus_handle(cx),
            Self::Preview(tab) => tab.focus_handle(cx),
            Self::Refused(refusal) => refusal.read(cx).focus_handle(cx),
            Self::Waiting(waiting) => waiting.read(cx).focus_handle(cx),
        }
    }
}
