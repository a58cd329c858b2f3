//! The draft in the prompt box, and the texts that return to it.
//!
//! Invariant: a text that returns never replaces text of the user, and one undo takes it out again.
//! Start at `ComposerPanel::return_to_prompt`.

use gpui_kit::{Context, Window};

use super::ComposerPanel;

impl ComposerPanel {
    /// Puts messages that were not sent back into the prompt box, in order: before the user's
    /// draft, and after messages that returned earlier. The selection stays on the same text.
    pub(super) fn return_to_prompt(
        &mut self,
        messages: &[String],
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let messages = messages.iter().map(|it| it.trim());
        let messages: Vec<&str> = messages.filter(|it| !it.is_empty()).collect();
        if messages.is_empty() {
            return;
        }
        let draft = self.prompt.read(cx).value();
        let insertion = DraftInsertion::new(&draft, &self.returned, &messages.join("\n\n"));
        self.returned = insertion.returned;
        self.prompt.update(cx, |state, cx| {
            let selection = state.selected_range();
            let is_reversed = state.is_selection_reversed();
            state.set_selected_range(insertion.at..insertion.at, cx);
            state.insert(insertion.text.clone(), window, cx);
            // In an empty box the caret stays after the text.
            if !draft.is_empty() {
                let moved = |offset: usize| match offset {
                    offset if offset < insertion.at => offset,
                    offset => offset + insertion.text.len(),
                };
                let selection = moved(selection.start)..moved(selection.end);
                state.set_selected_range_with_direction(selection, is_reversed, cx);
            }
        });
        self.draft_changed(cx);
        cx.notify();
    }

    /// Adds a text after the user's draft, with the caret at its end.
    pub(super) fn append_to_prompt(
        &mut self,
        text: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.prompt.update(cx, |state, cx| {
            let draft = state.value();
            let kept = draft.trim_end().len();
            let text = match kept {
                0 => text.to_owned(),
                _ => format!("\n\n{text}"),
            };
            state.set_selected_range(kept..draft.len(), cx);
            state.replace(text, window, cx);
        });
        self.draft_changed(cx);
        cx.notify();
    }

    /// Empties the prompt box.
    pub(super) fn clear_prompt(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.returned.clear();
        self.prompt
            .update(cx, |state, cx| state.set_value("", window, cx));
        self.draft_changed(cx);
    }
}

/// The insertion of messages into a draft.
#[derive(Debug, PartialEq, Eq)]
struct DraftInsertion {
    /// Byte offset in the draft.
    at: usize,
    /// The text to insert, with the blank lines that part it from the draft.
    text: String,
    /// All returned messages at the start of the new draft.
    returned: String,
}

impl DraftInsertion {
    /// Returns the insertion of `messages` into `draft`, which begins with `returned` unless the
    /// user edited the messages that returned earlier.
    fn new(draft: &str, returned: &str, messages: &str) -> Self {
        let rest = draft.strip_prefix(returned);
        let rest = rest.filter(|rest| rest.trim().is_empty() || rest.starts_with("\n\n"));
        match rest {
            Some(_) if !returned.is_empty() => {
                let text = format!("\n\n{messages}");
                Self {
                    at: returned.len(),
                    returned: format!("{returned}{text}"),
                    text,
                }
            }
            _ => {
                let gap = if draft.trim().is_empty() { "" } else { "\n\n" };
                Self {
                    at: 0,
                    text: format!("{messages}{gap}"),
                    returned: messages.to_owned(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DraftInsertion;

    /// Inserts groups of messages, one after the other, into a draft.
    fn check(draft: &str, groups: &[&str], expected: &str) {
        let (mut draft, mut returned) = (draft.to_owned(), String::new());
        for messages in groups {
            let insertion = DraftInsertion::new(&draft, &returned, messages);
            draft.insert_str(insertion.at, &insertion.text);
            returned = insertion.returned;
            assert!(draft.starts_with(&returned));
        }
        assert_eq!(draft, expected);
    }

    #[test]
    fn returned_messages_come_in_order_before_the_draft() {
        check("", &["one"], "one");
        check("", &["one", "two"], "one\n\ntwo");
        check("draft", &["one"], "one\n\ndraft");
        check(
            "draft",
            &["one", "two", "three"],
            "one\n\ntwo\n\nthree\n\ndraft",
        );
        check("\n", &["one", "two"], "one\n\ntwo\n");
    }

    #[test]
    fn edited_messages_count_as_the_draft() {
        let edited = DraftInsertion::new("one, but better\n\ndraft", "one", "two");
        assert_eq!((edited.at, edited.text.as_str()), (0, "two\n\n"));
        let gone = DraftInsertion::new("draft", "one", "two");
        assert_eq!((gone.at, gone.text.as_str()), (0, "two\n\n"));
    }
}
