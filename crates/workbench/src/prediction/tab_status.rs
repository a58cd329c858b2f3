//! Status of Tab suggestions as text, and the user's choices about it.

use autocomplete::SuggestionSource;
use autocomplete::engine::{CompletionStatus, IdleReason};
use gpui_kit::{Context, SharedString};
use serde_json::Value;
use settings::TabShow;
use ui::ActiveSettings as _;

use super::Prediction;
use super::shown_suggestions::{RefusedSuggestion, Tally};
use super::suggestion_settings::DisabledReason;
use crate::configuration::Configuration;
use crate::suggestion_action::SuggestionAction;

/// Status of suggestions in the focused text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TabStatus {
    /// When suggestions are shown.
    pub(crate) show: TabShow,
    /// Whether suggestions are snoozed.
    pub(crate) is_snoozed: bool,
    /// Language of the text.
    pub(crate) language: Option<String>,
    /// Whether suggestions are disabled for that language.
    pub(crate) is_language_off: bool,
    /// Further status messages, one line each.
    pub(crate) lines: Vec<String>,
}

impl Prediction {
    /// Returns the current status.
    pub(crate) fn tab_status(&mut self, cx: &mut Context<Self>) -> TabStatus {
        let focused = self.focused.as_ref().map(|focused| focused.model.read(cx));
        let language = focused.and_then(|model| model.language());
        let language = language.map(|language| language.name().to_owned());
        let off = self.disabled_reason(cx);
        let mut lines = vec![match (&off, self.blocker) {
            (Some(off), _) => format!("Nothing is suggested: {off}."),
            (None, Some(blocker)) => format!("Nothing is suggested: {blocker}."),
            (None, None) => self.engine.status().to_string(),
        }];
        lines.extend(self.model_state.problem.clone());
        lines.extend(self.engine.local_problem());
        lines.extend(tally_line(self.shown.tally));
        lines.extend(self.shown.refusal_line());
        TabStatus {
            show: self.settings.show(),
            is_snoozed: self.settings.snoozed_until() > self.services.clock.wall_ms(),
            is_language_off: matches!(off, Some(DisabledReason::Language(_))),
            language,
            lines,
        }
    }

    /// Returns the refused suggestions of this window for the Tab log, the newest first.
    pub(crate) fn refused_suggestions(&self) -> Vec<RefusedSuggestion> {
        self.shown.refused().cloned().collect()
    }

    /// Returns the text for the status bar, and whether it reports a problem.
    pub(crate) fn short(&self, cx: &gpui_kit::App) -> (SharedString, bool) {
        let words = match self.disabled_reason(cx) {
            Some(DisabledReason::Everywhere) => "Tab off".to_owned(),
            Some(DisabledReason::Language(_) | DisabledReason::File) => "Tab off here".to_owned(),
            Some(DisabledReason::Snoozed(left)) => {
                format!("Tab rests {} min", left.div_ceil(60_000))
            }
            None => match self.engine.status() {
                CompletionStatus::Shown { source, took } => {
                    let who = source_label(&source);
                    match took {
                        Some(took) => format!("Tab: {who} {} ms", took.as_millis()),
                        None => format!("Tab: {who}"),
                    }
                }
                CompletionStatus::Asking { .. } => "Tab \u{2026}".to_owned(),
                CompletionStatus::Failed { .. } => return ("Tab: no answer".into(), true),
                CompletionStatus::Idle {
                    why: IdleReason::Refused(_),
                    ..
                } => "Tab: refused".to_owned(),
                CompletionStatus::Blocked(_) | CompletionStatus::Idle { .. } => "Tab".to_owned(),
            },
        };
        (words.into(), false)
    }

    /// Applies an action of the menu.
    pub(crate) fn choose(&mut self, choice: SuggestionAction, cx: &mut Context<Self>) {
        match choice {
            SuggestionAction::Snooze(minutes) => self.snooze(minutes, cx),
            SuggestionAction::Wake => self.snooze(0, cx),
            SuggestionAction::Show(show) => {
                let word = match show {
                    TabShow::Always => "always",
                    TabShow::Subtle => "subtle",
                    TabShow::Asked => "asked",
                    TabShow::Off => "off",
                };
                write(&["tab", "show"], Value::from(word), cx);
            }
            SuggestionAction::Language { name, is_off } => {
                let mut names = cx.settings().tab.off_languages.clone();
                names.retain(|known| !known.eq_ignore_ascii_case(&name));
                if is_off {
                    names.push(name);
                }
                write(&["tab", "off_languages"], Value::from(names), cx);
            }
        }
    }

    /// Turns suggestions off or on.
    pub(crate) fn toggle(&mut self, cx: &mut Context<Self>) {
        let show = match self.settings.show() {
            TabShow::Off => TabShow::Always,
            _ => TabShow::Off,
        };
        self.choose(SuggestionAction::Show(show), cx);
    }

    /// Turns suggestions off or on for the language of the focused text.
    pub(crate) fn toggle_language(&mut self, cx: &mut Context<Self>) {
        let standing = self.tab_status(cx);
        if let Some(name) = standing.language {
            let is_off = !standing.is_language_off;
            self.choose(SuggestionAction::Language { name, is_off }, cx);
        }
    }

    /// Snoozes suggestions, or ends the snooze.
    pub(crate) fn toggle_snooze(&mut self, cx: &mut Context<Self>) {
        let is_snoozed = self.settings.snoozed_until() > self.services.clock.wall_ms();
        self.snooze(if is_snoozed { 0 } else { SNOOZE }, cx);
    }

    fn snooze(&mut self, minutes: u64, cx: &mut Context<Self>) {
        let now = self.services.clock.wall_ms();
        self.snooze = None;
        if minutes == 0 {
            self.settings.snooze(0);
        } else {
            self.settings.snooze(now + minutes * 60_000);
            // The status bar counts down the minutes; just after the end, suggestions may be shown
            // again.
            self.snooze = Some(cx.spawn(async move |this, cx| {
                for _ in 0..minutes {
                    let minute = std::time::Duration::from_millis(60_001);
                    cx.background_executor().timer(minute).await;
                    this.update(cx, |this, cx| this.sync_blocks(None, cx)).ok();
                }
            }));
        }
        self.sync_blocks(None, cx);
        cx.notify();
    }
}

/// Default length of a snooze, in minutes.
const SNOOZE: u64 = 5;

fn write(path: &[&str], value: Value, cx: &mut Context<Prediction>) {
    let configuration = Configuration::of(cx);
    configuration.update(cx, |configuration, cx| {
        configuration.write_setting(path, value, cx).detach();
    });
}

/// Returns a short label of a suggestion's source. For a model, its name without the part before
/// the slash.
fn source_label(source: &SuggestionSource) -> String {
    match source {
        SuggestionSource::Propagation { .. } => "your edits".to_owned(),
        SuggestionSource::Continuation => "project".to_owned(),
        SuggestionSource::Syntax => "syntax".to_owned(),
        SuggestionSource::Gap(model) | SuggestionSource::NextEdit(model) => model.model.clone(),
    }
}

/// Summarises the counts of this window in one line; `None` if all are zero.
pub(super) fn tally_line(tally: Tally) -> Option<String> {
    if tally.shown == 0 {
        return None;
    }
    let mut line = format!("{} shown, {} taken", tally.shown, tally.accepted);
    if let Some(percent) = (tally.kept_bytes * 100).checked_div(tally.accepted_bytes) {
        line = format!("{line}, {percent}\u{2009}% of it kept");
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::{Tally, tally_line};

    #[test]
    fn zero_counts_give_no_line() {
        let mut tally = Tally::default();
        assert_eq!(tally_line(tally), None);
        tally.shown = 12;
        tally.accepted = 4;
        assert_eq!(tally_line(tally).as_deref(), Some("12 shown, 4 taken"));
        tally.accepted_bytes = 200;
        tally.kept_bytes = 150;
        let line = "12 shown, 4 taken, 75\u{2009}% of it kept";
        assert_eq!(tally_line(tally).as_deref(), Some(line));
    }
}
