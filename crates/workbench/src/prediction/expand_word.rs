//! Expand Word: cycles through known words that may complete the text at the caret.

use autocomplete::EditorState;
use editor::{CycleDirection, EditorEvent};
use gpui_kit::{Context, Window};

use super::Prediction;

/// Maximum length of a prefix quoted in messages, in characters.
const MAX_PREFIX_CHARS: usize = 40;

impl Prediction {
    /// Inserts the first or the last candidate word in the focused view; reports if there is none.
    pub(super) fn expand_word(
        &mut self,
        cycle: CycleDirection,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (Some(state), Some(focused)) = (self.state(cx), &self.focused) else {
            return;
        };
        let words = self.engine.word_suggestions(&state);
        focused.editor.update(cx, |editor, cx| {
            if words.is_empty() {
                cx.emit(EditorEvent::Refused(no_words_notice(&state)));
            } else {
                editor.write_words(&words, cycle, window, cx);
            }
        });
    }
}

fn no_words_notice(state: &EditorState) -> String {
    let before = state
        .snapshot
        .chars_before(state.caret)
        .take(MAX_PREFIX_CHARS);
    let typed = before.take_while(|ch| ch.is_alphanumeric() || *ch == '_');
    let typed: Vec<char> = typed.collect();
    if typed.is_empty() {
        "no word is known that may stand here".to_owned()
    } else {
        let typed: String = typed.into_iter().rev().collect();
        format!("no word is known that begins with “{typed}”")
    }
}
