//! The context of the view for keymaps.

use gpui_kit::{Context, KeyContext};

use super::{Editor, hover, signature, vim_mode};

impl Editor {
    /// Returns the context against which keymaps are matched: `Editor`, with its mode and flags
    /// such as `read_only` and `several_carets`.
    pub(crate) fn key_context(&self, cx: &Context<Self>) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Editor");
        context.set("mode", "full");
        if !self.model.read(cx).document().can_edit() {
            context.add("read_only");
        }
        if self.selections.len() > 1 {
            context.add("several_carets");
        }
        if self
            .selections
            .iter()
            .any(|selection| !selection.is_empty())
        {
            context.add("has_selection");
        }
        if self.review.is_base {
            context.add("base_of_diff");
        } else if !self.review.is_empty() {
            context.add("under_review");
        }
        if !self.proposal.is_empty() {
            context.add("proposal");
        }
        if self.excerpts.is_some() {
            context.add("excerpts");
        }
        if self.find_session.bar.is_some() {
            context.add("find_open");
        }
        if !self.marked.is_empty() {
            context.add("composing");
        }
        if self.is_in_snippet() {
            context.add("snippet");
        }
        if self.shows_completions() {
            context.add("completions");
        }
        if hover::is_open(self) {
            context.add("hover");
        }
        if let Some(card) = signature::card(self) {
            context.add("signature_help");
            if card.position().1 > 1 {
                context.add("several_signatures");
            }
        }
        if self.shows_suggestion() {
            context.add("suggestion");
        }
        let in_text = self
            .suggestion
            .in_text()
            .filter(|_| self.shows_suggestion());
        if in_text.is_some_and(|shown| shown.at_caret.is_some()) {
            context.add("ghost_at_caret");
        }
        if self.tab_takes_suggestion(cx) {
            context.add("tab_takes_suggestion");
        }
        if let Some((mode, is_waiting)) = vim_mode::key_context(self) {
            context.set("vim_mode", mode);
            if is_waiting {
                context.add("vim_waiting");
            }
        }
        if let Some(language) = self.model.read(cx).language() {
            context.set("language", language.name());
        }
        context
    }
}
