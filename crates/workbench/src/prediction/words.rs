//! The key that writes words: what this machine knows that may stand at the caret, for the view to go through.

use autocomplete::{Scene, SuggestionId};
use editor::{Cycle, EditorEvent};
use gpui_kit::{Context, Window};
use text::Timestamp;

use super::Prediction;

/// Longer beginnings of words are not repeated to the person, in characters.
const LONGEST: usize = 40;

impl Prediction {
    /// Has the view at hand write the first of the words, or the last; says so where none is known.
    pub(super) fn write_words(
        &mut self,
        cycle: Cycle,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (Some(scene), Some(front)) = (self.scene(cx), &self.front) else {
            return;
        };
        let at = Timestamp(self.services.clock.wall_ms());
        let last = &mut self.last_id;
        let words = self.local.words(&scene, at, &mut || {
            *last += 1;
            SuggestionId(*last)
        });
        front.editor.update(cx, |editor, cx| {
            if words.is_empty() {
                cx.emit(EditorEvent::Refused(nothing_known(&scene)));
            } else {
                editor.write_words(&words, cycle, window, cx);
            }
        });
    }
}

fn nothing_known(scene: &Scene) -> String {
    let before = scene.snapshot.chars_before(scene.caret).take(LONGEST);
    let typed = before.take_while(|ch| ch.is_alphanumeric() || *ch == '_');
    let typed: Vec<char> = typed.collect();
    match typed.is_empty() {
        true => "no word is known that may stand here".to_owned(),
        false => {
            let typed: String = typed.into_iter().rev().collect();
            format!("no word is known that begins with “{typed}”")
        }
    }
}
