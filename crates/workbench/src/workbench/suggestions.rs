//! Tab suggestions in the window: the focused text, and the user's commands.

use gpui_kit::{Context, Div, Entity, InteractiveElement as _, Stateful, Window};

use super::Workbench;
use crate::actions::suggestions::{ShowLog, ShowStatus, Snooze, Toggle, ToggleLanguage};
use crate::open_options::{GoToPosition, OpenOptions};
use crate::pickers::suggestion_log::SuggestionLog;
use crate::pickers::suggestion_menu::SuggestionMenu;
use crate::prediction::{Prediction, PredictionEvent};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_suggestions))
        .on_action(cx.listener(show_log))
        .on_action(cx.listener(snooze_suggestions))
        .on_action(cx.listener(toggle_suggestions))
        .on_action(cx.listener(toggle_suggestions_of_language))
}

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
}

/// Handles a request of Tab to the window.
pub(super) fn prediction_event(
    workbench: &mut Workbench,
    _: &Entity<Prediction>,
    event: &PredictionEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        PredictionEvent::Enter(path, at) => {
            let position = GoToPosition::Span(base::Span::at(*at));
            let options = OpenOptions::lasting().at(Some(position));
            workbench.open_path(path.clone(), options, window, cx);
        }
    }
}

fn show_suggestions(
    workbench: &mut Workbench,
    _: &ShowStatus,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let menu = SuggestionMenu::new(workbench.prediction.clone(), cx);
    workbench.pick(menu, window, cx);
}

fn show_log(
    workbench: &mut Workbench,
    _: &ShowLog,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let refused = workbench.prediction.read(cx).refused_suggestions();
    workbench.pick(SuggestionLog::new(refused), window, cx);
}

fn snooze_suggestions(
    workbench: &mut Workbench,
    _: &Snooze,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.prediction.update(cx, Prediction::toggle_snooze);
}

fn toggle_suggestions(
    workbench: &mut Workbench,
    _: &Toggle,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.prediction.update(cx, Prediction::toggle);
}

fn toggle_suggestions_of_language(
    workbench: &mut Workbench,
    _: &ToggleLanguage,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.prediction.update(cx, Prediction::toggle_language);
}
