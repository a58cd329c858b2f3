//! State of a view for the suggestion engine, and the reasons it accepts no suggestions.

use std::fmt;

use autocomplete::EditorState;
use gpui_kit::{App, Context, Window};

use super::{Editor, vim_mode};

/// Reason a view shows no suggestions at present, such as a selection or a read-only text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestionBlocker {
    /// The text is read-only.
    ReadOnly,
    /// The rows are excerpts of several texts.
    Excerpts,
    /// An input method is composing.
    Composing,
    /// A selection is not empty.
    Selection,
    /// The find bar has the focus.
    Finding,
    /// The tab stops of a snippet are being filled in.
    Snippet,
    /// The keys of Vim are commands, not text.
    VimCommands,
}

impl fmt::Display for SuggestionBlocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SuggestionBlocker::ReadOnly => "this text cannot be edited",
            SuggestionBlocker::Excerpts => "these lines are from several files",
            SuggestionBlocker::Composing => "an input method is composing",
            SuggestionBlocker::Selection => "something is selected",
            SuggestionBlocker::Finding => "the keyboard is in the find bar",
            SuggestionBlocker::Snippet => "a snippet is being filled in",
            SuggestionBlocker::VimCommands => "Vim is not in insert mode",
        })
    }
}

impl Editor {
    /// Returns the text, its newest caret and the visible rows, as the input of the Tab engine.
    pub fn scene(&mut self, cx: &mut Context<Self>) -> EditorState {
        self.sync(cx);
        let model = self.model.read(cx);
        let width = self.caret_options.tab_width.max(1) as usize;
        EditorState {
            path: model.document().path().cloned(),
            snapshot: self.snapshot.clone(),
            syntax: model.syntax().cloned(),
            language: model.language(),
            caret: self.selections.primary().head,
            rows: self.rows_fully_in_sight(),
            indent: if self.caret_options.hard_tabs {
                "\t".to_owned()
            } else {
                " ".repeat(width)
            },
        }
    }

    /// Returns the reason this view shows no suggestions at present. Returns `None` if the view may
    /// show suggestions.
    pub fn blocks_suggestions(&self, window: &Window, cx: &App) -> Option<SuggestionBlocker> {
        let bar = self.find_session.bar.as_ref();
        let finds = bar.is_some_and(|bar| bar.read(cx).has_keyboard(window, cx));
        self.suggestion_blocker(cx)
            .or(finds.then_some(SuggestionBlocker::Finding))
    }

    /// Returns the reason no suggestion is shown, ignoring the focus.
    pub(super) fn suggestion_blocker(&self, cx: &App) -> Option<SuggestionBlocker> {
        if self.excerpts.is_some() {
            return Some(SuggestionBlocker::Excerpts);
        }
        if !self.model.read(cx).document().can_edit() {
            return Some(SuggestionBlocker::ReadOnly);
        }
        if !self.marked.is_empty() {
            return Some(SuggestionBlocker::Composing);
        }
        if self.is_in_snippet() {
            return Some(SuggestionBlocker::Snippet);
        }
        if vim_mode::takes_commands(self) {
            return Some(SuggestionBlocker::VimCommands);
        }
        let is_selected = self
            .selections
            .iter()
            .any(|selection| !selection.is_empty());
        is_selected.then_some(SuggestionBlocker::Selection)
    }
}
