//! Tab suggestions in the window: the focused text, and the user's commands.

use gpui_kit::{Context, Entity, Window};

use super::{GoToPosition, OpenOptions, Workbench};
use crate::actions::suggestions::{ShowStatus, Snooze, Toggle, ToggleLanguage};
use crate::pickers::suggestion_menu::SuggestionMenu;
use crate::prediction::{Prediction, PredictionEvent};

impl Workbench {
    /// Updates the focused view of Tab. Deferred, because the window is borrowed during the call.
    pub(super) fn sync_focused_view(&mut self, cx: &mut Context<Self>) {
        let this = cx.weak_entity();
        let window = self.window;
        cx.defer(move |cx| {
            // The window may have been closed.
            window
                .update(cx, |_, window, cx| {
                    this.update(cx, |this, cx| {
                        let editor = this.active_item().and_then(|item| item.editor()).cloned();
                        this.prediction.update(cx, |prediction, cx| {
                            prediction.set_focused_view(editor, window, cx);
                        });
                    })
                    .ok();
                })
                .ok();
        });
    }

    /// Handles a request of Tab to the window.
    pub(super) fn prediction_event(
        &mut self,
        _: &Entity<Prediction>,
        event: &PredictionEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            PredictionEvent::Enter(path, at) => {
                let goal = GoToPosition::Span(base::Span::at(*at));
                let how = OpenOptions::lasting().at(Some(goal));
                self.open_path(path.clone(), how, window, cx);
            }
        }
    }

    pub(super) fn show_suggestions(
        &mut self,
        _: &ShowStatus,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let menu = SuggestionMenu::new(self.prediction.clone(), cx);
        self.pick(menu, window, cx);
    }

    pub(super) fn snooze_suggestions(
        &mut self,
        _: &Snooze,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.prediction.update(cx, Prediction::toggle_snooze);
    }

    pub(super) fn toggle_suggestions(
        &mut self,
        _: &Toggle,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.prediction.update(cx, Prediction::toggle);
    }

    pub(super) fn toggle_suggestions_of_language(
        &mut self,
        _: &ToggleLanguage,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.prediction.update(cx, Prediction::toggle_language);
    }
}
