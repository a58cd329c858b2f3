//! Earlier prompts of the folder, recalled with Up and Down at the edges of the prompt box.
//!
//! Invariant: the draft with which the walk began is its last stop.
//! Start at `PromptRecall::step`.

use gpui_kit::{Context, Window};

use super::ComposerPanel;
use crate::actions::{NextPrompt, PreviousPrompt};
use crate::mention_chips::prompt_content;

/// Maximum number of earlier prompts.
pub(super) const MAX_PROMPTS: usize = 200;

/// The earlier prompts, and the walk through them.
#[derive(Debug, Default)]
pub(super) struct PromptRecall {
    /// Oldest first, without repetitions of the one before.
    prompts: Vec<String>,
    /// The recalled prompt, and the draft that was in the box before.
    walk: Option<(usize, String)>,
}

impl PromptRecall {
    /// Replaces the earlier prompts.
    pub(super) fn set(&mut self, prompts: Vec<String>) {
        self.prompts = prompts;
        self.walk = None;
    }

    /// The earlier prompts, oldest first.
    pub(super) fn prompts(&self) -> &[String] {
        &self.prompts
    }

    /// Adds a prompt that was sent.
    pub(super) fn push(&mut self, text: &str) {
        self.walk = None;
        if self.prompts.last().is_none_or(|last| last != text) {
            self.prompts.push(text.to_owned());
            let excess = self.prompts.len().saturating_sub(MAX_PROMPTS);
            self.prompts.drain(..excess);
        }
    }

    /// Returns the text for the box, which shows `shown`: the prompt before or after the recalled
    /// one, or the draft after the last one. Returns `None` at an end of the walk.
    fn step(&mut self, shown: &str, is_back: bool) -> Option<String> {
        // An edited prompt is a draft of its own.
        let walk = self.walk.take();
        let walk = walk.filter(|(at, _)| self.prompts.get(*at).is_some_and(|it| it == shown));
        let (at, draft) = match (walk, is_back) {
            (None, false) => return None,
            (None, true) => (self.prompts.len(), shown.to_owned()),
            (Some((at, draft)), _) => (at, draft),
        };
        let next = if is_back {
            at.checked_sub(1)
        } else {
            Some(at + 1)
        };
        let Some(next) = next else {
            self.walk = Some((at, draft));
            return None;
        };
        match self.prompts.get(next) {
            Some(prompt) => {
                self.walk = Some((next, draft));
                Some(prompt.clone())
            }
            None => Some(draft),
        }
    }
}

impl ComposerPanel {
    pub(super) fn previous_prompt(
        &mut self,
        _: &PreviousPrompt,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.select_completion(-1, cx) {
            return;
        }
        let is_empty = self.prompt.read(cx).value().is_empty();
        if is_empty && self.take_last_queued() {
            return;
        }
        self.recall_prompt(true, window, cx);
    }

    pub(super) fn next_prompt(
        &mut self,
        _: &NextPrompt,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !self.select_completion(1, cx) {
            self.recall_prompt(false, window, cx);
        }
    }

    /// Recalls a prompt if the caret is in the box's first or last line, else moves the caret.
    fn recall_prompt(&mut self, is_back: bool, window: &mut Window, cx: &mut Context<Self>) {
        let state = self.prompt.read(cx);
        let (text, caret) = (state.value(), state.selected_range().end);
        let beyond = if is_back {
            &text[..caret]
        } else {
            &text[caret..]
        };
        let is_at_edge = !beyond.contains('\n') && state.selected_range().is_empty();
        let recalled = is_at_edge.then(|| self.recall.step(&text, is_back));
        let Some(recalled) = recalled.flatten() else {
            // The field moves its caret.
            cx.propagate();
            return;
        };
        self.returned.clear();
        self.prompt.update(cx, |state, cx| {
            let end = recalled.len();
            state.set_value(prompt_content(&recalled), window, cx);
            state.set_selected_range(end..end, cx);
        });
        cx.notify();
    }
}

#[cfg(test)]
mod tests {
    use super::PromptRecall;

    fn check(keys: &str, draft: &str, expected: &str) {
        let mut recall = PromptRecall::default();
        for prompt in ["one", "two", "two", "three"] {
            recall.push(prompt);
        }
        let mut shown = draft.to_owned();
        for key in keys.chars() {
            match key {
                'u' => shown = recall.step(&shown, true).unwrap_or(shown),
                'd' => shown = recall.step(&shown, false).unwrap_or(shown),
                letter => shown.push(letter),
            }
        }
        assert_eq!(shown, expected, "{keys}");
    }

    #[test]
    fn the_walk_ends_at_the_draft() {
        check("u", "", "three");
        check("uu", "", "two");
        check("uuuuu", "", "one");
        check("uuud", "mine", "two");
        check("uudd", "mine", "mine");
        check("uuddd", "mine", "mine");
        check("d", "mine", "mine");
        // An edited prompt is a new draft.
        check("u!", "mine", "three!");
        check("u!ud", "mine", "three!");
    }

    #[test]
    fn the_number_of_prompts_is_limited() {
        let mut recall = PromptRecall::default();
        for number in 0..300 {
            recall.push(&number.to_string());
        }
        assert_eq!(recall.prompts().len(), super::MAX_PROMPTS);
        assert_eq!(recall.prompts()[0], "100");
    }
}
