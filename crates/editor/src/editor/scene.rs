//! What whoever makes suggestions is told about a view, and why none are wanted in it.

use std::fmt;

use autocomplete::Scene;
use gpui_kit::{App, Context, Window};

use super::Editor;

/// Why a view wants no suggestions now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsuited {
    /// Its text cannot be edited.
    ReadOnly,
    /// Its rows are those of several texts.
    Excerpts,
    /// An input method composes.
    Composing,
    /// Something is selected.
    Selection,
    /// The keyboard is in the find bar.
    Finding,
}

impl fmt::Display for Unsuited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsuited::ReadOnly => "this text cannot be edited",
            Unsuited::Excerpts => "these lines are from several files",
            Unsuited::Composing => "an input method is composing",
            Unsuited::Selection => "something is selected",
            Unsuited::Finding => "the keyboard is in the find bar",
        })
    }
}

impl Editor {
    /// The text with its caret and what is in sight of it.
    pub fn scene(&mut self, cx: &mut Context<Self>) -> Scene {
        self.sync(cx);
        let model = self.model.read(cx);
        let width = self.caret_options.tab_width.max(1) as usize;
        Scene {
            path: model.document().path().cloned(),
            snapshot: self.snapshot.clone(),
            syntax: model.syntax().cloned(),
            language: model.language(),
            caret: self.selections.primary().head,
            rows: self.rows_fully_in_sight(),
            indent: match self.caret_options.hard_tabs {
                true => "\t".to_owned(),
                false => " ".repeat(width),
            },
        }
    }

    /// Why no suggestions are wanted here now; `None` when they are.
    pub fn blocks_suggestions(&self, window: &Window, cx: &App) -> Option<Unsuited> {
        let bar = self.find_bar.as_ref();
        let finds = bar.is_some_and(|bar| bar.read(cx).has_keyboard(window, cx));
        self.unsuited(cx).or(finds.then_some(Unsuited::Finding))
    }

    /// Why nothing of a suggestion is shown, the keyboard apart.
    pub(super) fn unsuited(&self, cx: &App) -> Option<Unsuited> {
        if self.excerpts.is_some() {
            return Some(Unsuited::Excerpts);
        }
        if !self.model.read(cx).document().can_edit() {
            return Some(Unsuited::ReadOnly);
        }
        if !self.marked.is_empty() {
            return Some(Unsuited::Composing);
        }
        let is_selected = self
            .selections
            .iter()
            .any(|selection| !selection.is_empty());
        is_selected.then_some(Unsuited::Selection)
    }
}
