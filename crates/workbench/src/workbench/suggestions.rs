//! Tab in the window: which text it looks at, and what the person says about it.

use gpui_kit::{Context, Entity, Window};

use super::{Goal, How, Workbench};
use crate::actions::suggestions::{ShowStatus, Snooze, Toggle, ToggleLanguage};
use crate::pickers::suggestion_menu::SuggestionMenu;
use crate::prediction::{Prediction, PredictionEvent};

impl Workbench {
    /// Tab looks at what shows in the active pane. Called while the window is busy, so it is done behind that.
    pub(super) fn follow_front(&mut self, cx: &mut Context<Self>) {
        let this = cx.weak_entity();
        let window = self.window;
        cx.defer(move |cx| {
            // The window may be gone.
            window
                .update(cx, |_, window, cx| {
                    this.update(cx, |this, cx| {
                        let editor = this.active_item().and_then(|item| item.editor()).cloned();
                        this.prediction.update(cx, |prediction, cx| {
                            prediction.set_front(editor, window, cx);
                        });
                    })
                    .ok();
                })
                .ok();
        });
    }

    /// What Tab asks of the window.
    pub(super) fn prediction_event(
        &mut self,
        _: &Entity<Prediction>,
        event: &PredictionEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            PredictionEvent::Enter(path, at) => {
                let goal = Goal::Span(base::Span::at(*at));
                let how = How::lasting().at(Some(goal));
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
