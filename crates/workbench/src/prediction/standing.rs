//! How Tab stands, in words, and what the person chooses about it.

use autocomplete::Source;
use autocomplete::engine::Status;
use gpui_kit::{Context, SharedString};
use serde_json::Value;
use settings::TabShow;
use ui::ActiveSettings as _;

use super::Prediction;
use super::gate::Off;
use super::learn::Tally;
use crate::configuration::Configuration;
use crate::pickers::suggestion_menu::Choice;

/// How Tab stands in the text at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// When something is shown.
    pub(crate) show: TabShow,
    /// Whether it rests.
    pub(crate) is_snoozed: bool,
    /// The language of the text.
    pub(crate) language: Option<String>,
    /// Whether nothing is offered in that language.
    pub(crate) is_language_off: bool,
    /// Everything else there is to tell, a line each.
    pub(crate) lines: Vec<String>,
}

impl Prediction {
    /// How it stands now.
    pub(crate) fn standing(&mut self, cx: &mut Context<Self>) -> Standing {
        let front = self.front.as_ref().map(|front| front.model.read(cx));
        let language = front.and_then(|model| model.language());
        let language = language.map(|language| language.name().to_owned());
        let off = self.off(cx);
        let mut lines = vec![match (&off, self.unsuited) {
            (Some(off), _) => format!("Nothing is suggested: {off}."),
            (None, Some(unsuited)) => format!("Nothing is suggested: {unsuited}."),
            (None, None) => self.engine.status().to_string(),
        }];
        lines.extend(self.asking.problem.clone());
        lines.extend(tally_line(self.shown.tally));
        Standing {
            show: self.gate.show(),
            is_snoozed: self.gate.snoozed_until() > self.services.clock.wall_ms(),
            is_language_off: matches!(off, Some(Off::Language(_))),
            language,
            lines,
        }
    }

    /// What the status bar says, and whether something is wrong.
    pub(crate) fn short(&self, cx: &gpui_kit::App) -> (SharedString, bool) {
        let words = match self.off(cx) {
            Some(Off::Everywhere) => "Tab off".to_owned(),
            Some(Off::Language(_) | Off::File) => "Tab off here".to_owned(),
            Some(Off::Snoozed(left)) => format!("Tab rests {} min", left.div_ceil(60_000)),
            None => match self.engine.status() {
                Status::Shown { source, took } => {
                    let who = who(&source);
                    match took {
                        Some(took) => format!("Tab: {who} {} ms", took.as_millis()),
                        None => format!("Tab: {who}"),
                    }
                }
                Status::Asking { .. } => "Tab \u{2026}".to_owned(),
                Status::Failed { .. } => return ("Tab: no answer".into(), true),
                Status::Blocked(_) | Status::Idle { .. } => "Tab".to_owned(),
            },
        };
        (words.into(), false)
    }

    /// Does what the person chose.
    pub(crate) fn choose(&mut self, choice: Choice, cx: &mut Context<Self>) {
        match choice {
            Choice::Snooze(minutes) => self.snooze(minutes, cx),
            Choice::Wake => self.snooze(0, cx),
            Choice::Show(show) => {
                let word = match show {
                    TabShow::Always => "always",
                    TabShow::Subtle => "subtle",
                    TabShow::Asked => "asked",
                    TabShow::Off => "off",
                };
                write(&["tab", "show"], Value::from(word), cx);
            }
            Choice::Language { name, is_off } => {
                let mut names = cx.settings().tab.off_languages.clone();
                names.retain(|known| !known.eq_ignore_ascii_case(&name));
                if is_off {
                    names.push(name);
                }
                write(&["tab", "off_languages"], Value::from(names), cx);
            }
        }
    }

    /// Turns suggestions off, or on again.
    pub(crate) fn toggle(&mut self, cx: &mut Context<Self>) {
        let show = match self.gate.show() {
            TabShow::Off => TabShow::Always,
            _ => TabShow::Off,
        };
        self.choose(Choice::Show(show), cx);
    }

    /// Leaves the language of the text at hand out, or not any more.
    pub(crate) fn toggle_language(&mut self, cx: &mut Context<Self>) {
        let standing = self.standing(cx);
        if let Some(name) = standing.language {
            let is_off = !standing.is_language_off;
            self.choose(Choice::Language { name, is_off }, cx);
        }
    }

    /// Rests for a while, or ends the rest.
    pub(crate) fn toggle_snooze(&mut self, cx: &mut Context<Self>) {
        let is_snoozed = self.gate.snoozed_until() > self.services.clock.wall_ms();
        self.snooze(if is_snoozed { 0 } else { SNOOZE }, cx);
    }

    fn snooze(&mut self, minutes: u64, cx: &mut Context<Self>) {
        let now = self.services.clock.wall_ms();
        self.waking = None;
        if minutes == 0 {
            self.gate.snooze(0);
        } else {
            self.gate.snooze(now + minutes * 60_000);
            // The bar counts the minutes down, and a moment later than the end something may be shown again.
            self.waking = Some(cx.spawn(async move |this, cx| {
                for _ in 0..minutes {
                    let minute = std::time::Duration::from_millis(60_001);
                    cx.background_executor().timer(minute).await;
                    this.update(cx, |this, cx| this.follow_blocks(None, cx))
                        .ok();
                }
            }));
        }
        self.follow_blocks(None, cx);
        cx.notify();
    }
}

/// Minutes of a rest, where nobody says how long.
const SNOOZE: u64 = 5;

fn write(path: &[&str], value: Value, cx: &mut Context<Prediction>) {
    let configuration = Configuration::of(cx);
    configuration.update(cx, |configuration, cx| {
        configuration.write_setting(path, value, cx).detach();
    });
}

/// Who suggested, in a word or two. Of a model, its name without what stands before the slash.
fn who(source: &Source) -> String {
    match source {
        Source::Propagation { .. } => "your edits".to_owned(),
        Source::Continuation => "project".to_owned(),
        Source::Syntax => "syntax".to_owned(),
        Source::Gap(model) | Source::NextEdit(model) => model.model.clone(),
    }
}

/// What happened in this window, in a line; none where nothing did.
pub(super) fn tally_line(tally: Tally) -> Option<String> {
    if tally.shown == 0 {
        return None;
    }
    let mut line = format!("{} shown, {} taken", tally.shown, tally.accepted);
    if let Some(percent) = (tally.kept * 100).checked_div(tally.taken) {
        line = format!("{line}, {percent}\u{2009}% of it kept");
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::{Tally, tally_line};

    #[test]
    fn counts_are_told_once_there_are_any() {
        let mut tally = Tally::default();
        assert_eq!(tally_line(tally), None);
        tally.shown = 12;
        tally.accepted = 4;
        assert_eq!(tally_line(tally).as_deref(), Some("12 shown, 4 taken"));
        tally.taken = 200;
        tally.kept = 150;
        let line = "12 shown, 4 taken, 75\u{2009}% of it kept";
        assert_eq!(tally_line(tally).as_deref(), Some(line));
    }
}
