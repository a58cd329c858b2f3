//! Suggestions for other files: describes their location, opens the file and shows the suggestion
//! there.

use autocomplete::engine::EngineInput;
use autocomplete::{Suggestion, SuggestionId};
use editor::{Editor, SuggestionPlace};
use gpui_kit::{App, Context};

use super::{Prediction, PredictionEvent};
use crate::documents::Documents;

impl Prediction {
    /// Returns the location of a suggestion for another file, or `None` for a suggestion for the
    /// same file.
    pub(super) fn place_of(&self, suggestion: &Suggestion, cx: &App) -> Option<SuggestionPlace> {
        let path = suggestion.file.as_ref()?;
        let open = Documents::of_path(path, cx).map(|model| model.read(cx).snapshot());
        Some(SuggestionPlace::of(suggestion, open.as_ref()))
    }

    /// Opens the file of a suggestion to show it there.
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

    /// Shows a suggestion in the file opened for it, if the text at its location is unchanged.
    pub(super) fn enter(&mut self, cx: &mut Context<Self>) {
        let Some(state) = self.state(cx) else {
            return;
        };
        let is_here = |it: &Suggestion| it.file.is_some() && it.file == state.path;
        let Some(mut suggestion) = self.entering.take_if(|it| is_here(it)) else {
            return;
        };
        suggestion.file = None;
        suggestion.revision = state.snapshot.revision();
        if suggestion.applies_to(&state.snapshot) {
            self.handle(EngineInput::Entered(Box::new(suggestion)), cx);
            if let Some(focused) = &self.focused {
                focused.editor.update(cx, Editor::note_entered);
            }
        }
    }
}
