//! Menu of Tab suggestions: their status here, and the actions that change it.

use gpui_kit::{App, Context, Entity, SharedString, Task, Window};
use settings::TabShow;
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::prediction::{Prediction, TabStatus};
use crate::suggestion_action::SuggestionAction;

/// Picker delegate that shows the status of suggestions and changes it.
pub(crate) struct SuggestionMenu {
    prediction: Entity<Prediction>,
    status: TabStatus,
    choices: Vec<SuggestionAction>,
}

impl SuggestionMenu {
    /// Creates the menu with the present status of suggestions.
    pub(crate) fn new(prediction: Entity<Prediction>, cx: &mut App) -> Self {
        let status = prediction.update(cx, |prediction, cx| prediction.tab_status(cx));
        Self {
            choices: choices(&status),
            prediction,
            status,
        }
    }
}

/// Returns the actions available in the current state.
pub(crate) fn choices(status: &TabStatus) -> Vec<SuggestionAction> {
    if status.show == TabShow::Off {
        return vec![SuggestionAction::Show(TabShow::Always)];
    }
    let mut choices = if status.is_snoozed {
        vec![SuggestionAction::Wake]
    } else {
        vec![SuggestionAction::Snooze(5), SuggestionAction::Snooze(60)]
    };
    if let Some(name) = &status.language {
        choices.push(SuggestionAction::Language {
            name: name.clone(),
            is_off: !status.is_language_off,
        });
    }
    choices.push(match status.show {
        TabShow::Always => SuggestionAction::Show(TabShow::Subtle),
        _ => SuggestionAction::Show(TabShow::Always),
    });
    choices.push(SuggestionAction::Show(TabShow::Off));
    choices
}

impl SuggestionAction {
    fn label(&self) -> String {
        match self {
            Self::Snooze(60) => "Snooze for an hour".to_owned(),
            Self::Snooze(minutes) => format!("Snooze for {minutes} minutes"),
            Self::Wake => "End snooze".to_owned(),
            Self::Show(TabShow::Always) => "Show suggestions while typing".to_owned(),
            Self::Show(TabShow::Subtle) => "Show suggestions while Alt is held".to_owned(),
            Self::Show(TabShow::Asked) => "Show suggestions when asked for".to_owned(),
            Self::Show(TabShow::Off) => "Turn suggestions off".to_owned(),
            Self::Language { name, is_off: true } => format!("Turn off in {name}"),
            Self::Language {
                name,
                is_off: false,
            } => format!("Turn on in {name}"),
        }
    }

    fn icon(&self) -> Icon {
        match self {
            Self::Snooze(_) => Icon::Clock,
            Self::Wake | Self::Show(TabShow::Always) | Self::Language { is_off: false, .. } => {
                Icon::Refresh
            }
            Self::Show(TabShow::Off) | Self::Language { is_off: true, .. } => Icon::Stop,
            Self::Show(TabShow::Subtle | TabShow::Asked) => Icon::Settings,
        }
    }
}

impl PickerDelegate for SuggestionMenu {
    type Found = ();

    fn name(&self) -> SharedString {
        "Suggestions".into()
    }

    fn placeholder(&self) -> SharedString {
        "Suggestions in this text".into()
    }

    fn search(
        &mut self,
        _: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(())
    }

    fn accept(&mut self, (): Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        0
    }

    fn count(&self) -> usize {
        self.choices.len() + self.status.lines.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        match self.choices.get(ix) {
            Some(choice) => PickerRow::new(choice.label()).start(choice.icon()),
            None => {
                let line = self.status.lines.get(ix - self.choices.len());
                PickerRow::new(line.cloned().unwrap_or_default())
                    .start(Icon::Info)
                    .muted()
            }
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(choice) = self.choices.get(ix).cloned() else {
            return AfterConfirm::Stay;
        };
        self.prediction
            .update(cx, |prediction, cx| prediction.choose(choice, cx));
        AfterConfirm::Close
    }
}

#[cfg(test)]
mod tests {
    use settings::TabShow;

    use super::{SuggestionAction, choices};
    use crate::prediction::TabStatus;

    fn words(status: &TabStatus) -> Vec<String> {
        choices(status)
            .iter()
            .map(SuggestionAction::label)
            .collect()
    }

    #[test]
    fn only_what_changes_something_is_offered() {
        let mut status = TabStatus {
            show: TabShow::Always,
            is_snoozed: false,
            language: Some("Rust".to_owned()),
            is_language_off: false,
            lines: Vec::new(),
        };
        assert_eq!(
            words(&status),
            [
                "Snooze for 5 minutes",
                "Snooze for an hour",
                "Turn off in Rust",
                "Show suggestions while Alt is held",
                "Turn suggestions off",
            ]
        );
        status.is_snoozed = true;
        status.is_language_off = true;
        assert_eq!(words(&status)[..2], ["End snooze", "Turn on in Rust"]);
        status.show = TabShow::Off;
        assert_eq!(words(&status), ["Show suggestions while typing"]);
    }
}
