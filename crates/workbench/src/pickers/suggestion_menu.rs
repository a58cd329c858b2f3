//! What Tab does here, and what can be done about it.

use gpui_kit::{App, Context, Entity, SharedString, Task, Window};
use settings::TabShow;
use ui::Icon;
use ui::picker::{After, Picker, PickerDelegate, PickerRow, Taken};

use crate::prediction::{Prediction, Standing};

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing for so many minutes.
    Snooze(u64),
    /// The rest ends.
    Wake,
    /// Another way of showing, from now on.
    Show(TabShow),
    /// A language is left out, or not any more.
    Language {
        /// Its name.
        name: String,
        /// Whether it is left out.
        is_off: bool,
    },
}

/// Shows how Tab stands, and changes it.
pub(crate) struct SuggestionMenu {
    prediction: Entity<Prediction>,
    standing: Standing,
    choices: Vec<Choice>,
}

impl SuggestionMenu {
    pub(crate) fn new(prediction: Entity<Prediction>, cx: &mut App) -> Self {
        let standing = prediction.update(cx, |prediction, cx| prediction.standing(cx));
        Self {
            choices: choices(&standing),
            prediction,
            standing,
        }
    }
}

/// What can be done as things stand.
pub(crate) fn choices(standing: &Standing) -> Vec<Choice> {
    if standing.show == TabShow::Off {
        return vec![Choice::Show(TabShow::Always)];
    }
    let mut choices = match standing.is_snoozed {
        true => vec![Choice::Wake],
        false => vec![Choice::Snooze(5), Choice::Snooze(60)],
    };
    if let Some(name) = &standing.language {
        choices.push(Choice::Language {
            name: name.clone(),
            is_off: !standing.is_language_off,
        });
    }
    choices.push(match standing.show {
        TabShow::Always => Choice::Show(TabShow::Subtle),
        _ => Choice::Show(TabShow::Always),
    });
    choices.push(Choice::Show(TabShow::Off));
    choices
}

impl Choice {
    fn words(&self) -> String {
        match self {
            Self::Snooze(60) => "Rest for an hour".to_owned(),
            Self::Snooze(minutes) => format!("Rest for {minutes} minutes"),
            Self::Wake => "End the rest".to_owned(),
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
        self.choices.len() + self.standing.lines.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        match self.choices.get(ix) {
            Some(choice) => PickerRow::new(choice.words()).start(choice.icon()),
            None => {
                let line = self.standing.lines.get(ix - self.choices.len());
                PickerRow::new(line.cloned().unwrap_or_default())
                    .start(Icon::Info)
                    .muted()
            }
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: Taken,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        let Some(choice) = self.choices.get(ix).cloned() else {
            return After::Stay;
        };
        self.prediction
            .update(cx, |prediction, cx| prediction.choose(choice, cx));
        After::Close
    }
}

#[cfg(test)]
mod tests {
    use settings::TabShow;

    use super::{Choice, choices};
    use crate::prediction::Standing;

    fn words(standing: &Standing) -> Vec<String> {
        choices(standing).iter().map(Choice::words).collect()
    }

    #[test]
    fn only_what_changes_something_is_offered() {
        let mut standing = Standing {
            show: TabShow::Always,
            is_snoozed: false,
            language: Some("Rust".to_owned()),
            is_language_off: false,
            lines: Vec::new(),
        };
        assert_eq!(
            words(&standing),
            [
                "Rest for 5 minutes",
                "Rest for an hour",
                "Turn off in Rust",
                "Show suggestions while Alt is held",
                "Turn suggestions off",
            ]
        );
        standing.is_snoozed = true;
        standing.is_language_off = true;
        assert_eq!(words(&standing)[..2], ["End the rest", "Turn on in Rust"]);
        standing.show = TabShow::Off;
        assert_eq!(words(&standing), ["Show suggestions while typing"]);
    }
}
