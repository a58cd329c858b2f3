//! Suggestions for other files: what is told of their places, and how one is opened and stood before.

use autocomplete::engine::Input;
use autocomplete::{Suggestion, SuggestionId};
use editor::{Editor, SuggestionPlace};
use gpui_kit::{App, Context};

use super::{Prediction, PredictionEvent};
use crate::documents::Documents;

impl Prediction {
    /// What is known of the place of a suggestion for another file.
    pub(super) fn place_of(&self, suggestion: &Suggestion, cx: &App) -> Option<SuggestionPlace> {
        let path = suggestion.file.as_ref()?;
        let open = Documents::of_path(path, cx).map(|model| model.read(cx).snapshot());
        Some(SuggestionPlace::of(suggestion, open.as_ref()))
    }

    /// Has the file of a suggestion opened, to be shown there.
    pub(super) fn open_place(&mut self, id: SuggestionId, cx: &mut Context<Self>) {
        let Some(suggestion) = self.shown.find(id).cloned() else {
            return;
        };
        if let Some(path) = suggestion.file.clone() {
            let at = suggestion.start();
            self.entering = Some(suggestion);
            cx.emit(PredictionEvent::Enter(path, at));
        }
    }

    /// Shows a suggestion in the file that was opened for it, if its place still is what it was.
    pub(super) fn enter(&mut self, cx: &mut Context<Self>) {
        let Some(scene) = self.scene(cx) else {
            return;
        };
        let is_here = |it: &Suggestion| it.file.is_some() && it.file == scene.path;
        let Some(mut suggestion) = self.entering.take_if(|it| is_here(it)) else {
            return;
        };
        suggestion.file = None;
        suggestion.revision = scene.snapshot.revision();
        if suggestion.stands_in(&scene.snapshot) {
            let revision = suggestion.revision;
            let suggestions = vec![suggestion];
            self.feed(
                Input::Local {
                    revision,
                    suggestions,
                },
                cx,
            );
            if let Some(front) = &self.front {
                front.editor.update(cx, Editor::note_entered);
            }
        }
    }
}
