//! What became of suggestions: told to the local tier, which learns from it, and to the ledger.

use std::collections::VecDeque;
use std::time::Duration;

use autocomplete::engine::Happened;
use autocomplete::local::{Answer, Local};
use autocomplete::{Part, Source, Suggestion, SuggestionId};
use serde_json::json;

/// Suggestions whose fate is still told.
const MOST: usize = 64;
/// Less than this share of it left means that it was taken by mistake.
const KEPT: f64 = 0.3;

/// What was in sight for less has not been judged by whoever typed on.
const GLIMPSE: Duration = Duration::from_millis(700);

/// What was shown lately, and how it went in this window.
#[derive(Default)]
pub(super) struct Shown {
    /// With the time when each came in sight.
    latest: VecDeque<(Suggestion, Duration)>,
    pub(super) tally: Tally,
}

/// Counts of this window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// How many were seen.
    pub(super) shown: u32,
    /// How many were taken, or typed to their end.
    pub(super) accepted: u32,
    /// Bytes that were taken half a minute ago or longer, and how many of them still stand.
    pub(super) taken: usize,
    pub(super) kept: usize,
}

/// A measurement for the ledger.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) tags: String,
}

impl Shown {
    /// Something comes in sight.
    pub(super) fn show(&mut self, suggestion: &Suggestion, now: Duration) {
        let known = self.latest.iter().find(|(it, _)| it.id == suggestion.id);
        let since = known.map_or(now, |(_, since)| *since);
        self.latest.retain(|(known, _)| known.id != suggestion.id);
        self.latest.push_back((suggestion.clone(), since));
        if self.latest.len() > MOST {
            self.latest.pop_front();
        }
    }

    /// Something that was in sight, as it was when it came.
    pub(super) fn find(&self, id: SuggestionId) -> Option<&Suggestion> {
        let known = self.latest.iter().find(|(known, _)| known.id == id);
        known.map(|(known, _)| known)
    }

    /// Takes note of what became of one, and of whether anything of it was painted: the local tier learns, and what is
    /// to be written down is told.
    pub(super) fn note(
        &mut self,
        happened: &Happened,
        (now, is_seen): (Duration, bool),
        local: &mut Local,
    ) -> Measured {
        let (id, mut answer) = (happened.id(), answer(happened));
        let known = self.latest.iter().find(|(known, _)| known.id == id);
        let is_glimpse = known.is_some_and(|(_, since)| now.saturating_sub(*since) < GLIMPSE);
        if (is_glimpse || !is_seen) && matches!(happened, Happened::Ignored { .. }) {
            answer = None;
        }
        match happened {
            Happened::Shown { .. } => self.tally.shown += 1,
            Happened::Accepted { .. } | Happened::Typed { .. } => self.tally.accepted += 1,
            Happened::Kept {
                after, bytes, kept, ..
            } if after.as_secs() >= 30 => {
                self.tally.taken += bytes;
                self.tally.kept += kept;
            }
            _ => {}
        }
        if let (Some(answer), Some(suggestion)) = (answer, self.find(id)) {
            local.answered(suggestion, answer);
        }
        measured(happened)
    }
}

/// What the local tier learns from it.
fn answer(happened: &Happened) -> Option<Answer> {
    match happened {
        Happened::Shown { .. } => None,
        Happened::Accepted { part, .. } => Some(Answer::Accepted(*part)),
        Happened::Typed { .. } => Some(Answer::Accepted(Part::All)),
        Happened::Dismissed { .. } => Some(Answer::Dismissed),
        // Who typed a part of it and then something else was shown something wrong.
        Happened::Ignored { typed, .. } if *typed > 0 => Some(Answer::TypedOver),
        Happened::Ignored { .. } => Some(Answer::Ignored),
        Happened::Kept {
            after, bytes, kept, ..
        } => {
            let is_first_look = after.as_secs() < 30;
            let is_gone = (*kept as f64) < KEPT * *bytes as f64;
            (is_first_look && is_gone).then_some(Answer::Undone)
        }
    }
}

/// It as a measurement. Holds no text.
fn measured(happened: &Happened) -> Measured {
    let (name, value, source, more) = match happened {
        Happened::Shown {
            source,
            chars,
            took,
            ..
        } => (
            "tab.shown",
            *chars as f64,
            source,
            json!({ "ms": took.map(|took| took.as_millis() as u64) }),
        ),
        Happened::Accepted {
            source,
            part,
            chars,
            ..
        } => (
            "tab.accepted",
            *chars as f64,
            source,
            json!({ "part": match part { Part::All => "all", Part::Word => "word", Part::Line => "line" } }),
        ),
        Happened::Typed { source, .. } => ("tab.typed", 1.0, source, json!({})),
        Happened::Dismissed { source, .. } => ("tab.dismissed", 1.0, source, json!({})),
        Happened::Ignored { source, typed, .. } => {
            ("tab.ignored", 1.0, source, json!({ "typed": typed }))
        }
        Happened::Kept {
            source,
            after,
            bytes,
            kept,
            ..
        } => (
            "tab.kept",
            *kept as f64 / (*bytes).max(1) as f64,
            source,
            json!({ "seconds": after.as_secs(), "bytes": bytes }),
        ),
    };
    let mut tags = more;
    if let Some(tags) = tags.as_object_mut() {
        tags.insert("source".to_owned(), json!(source_name(source)));
    }
    Measured {
        name,
        value,
        tags: tags.to_string(),
    }
}

fn source_name(source: &Source) -> String {
    match source {
        Source::Propagation { .. } => "propagation".to_owned(),
        Source::Continuation => "continuation".to_owned(),
        Source::Syntax => "syntax".to_owned(),
        Source::Gap(model) | Source::NextEdit(model) => model.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(after: u64, kept: usize) -> Happened {
        Happened::Kept {
            id: SuggestionId(1),
            source: Source::Continuation,
            after: Duration::from_secs(after),
            bytes: 100,
            kept,
        }
    }

    #[test]
    fn what_is_gone_soon_counts_as_taken_back() {
        assert_eq!(answer(&kept(10, 10)), Some(Answer::Undone));
        assert_eq!(answer(&kept(10, 60)), None);
        assert_eq!(answer(&kept(30, 0)), None);
    }

    #[test]
    fn what_was_hardly_in_sight_is_not_judged() {
        let suggestion = Suggestion {
            id: SuggestionId(1),
            file: None,
            revision: base::Revision(0),
            edits: Vec::new(),
            source: Source::Continuation,
            confidence: 0.5,
        };
        let ignored = Happened::Ignored {
            id: SuggestionId(1),
            source: Source::Continuation,
            typed: 0,
        };
        let threshold = |seen: u64, is_painted: bool| {
            let (mut shown, mut local) = (Shown::default(), Local::new());
            let text = text::Snapshot::new("fn a() {\n    b();\n}\n\nfn a() {\n    ");
            let scene = autocomplete::Scene {
                path: None,
                caret: text.len(),
                rows: (base::Row(0), base::Row(9)),
                syntax: None,
                language: None,
                indent: "    ".to_owned(),
                snapshot: text,
            };
            let mut next = || SuggestionId(1);
            local.everything(&scene, text::Timestamp(0), &mut next);
            shown.show(&suggestion, Duration::ZERO);
            let before = local.threshold();
            let now = Duration::from_millis(seen);
            shown.note(&ignored, (now, is_painted), &mut local);
            local.threshold() > before
        };
        assert!(!threshold(300, true));
        assert!(threshold(2_000, true));
        assert!(!threshold(2_000, false), "nobody has seen it");
    }

    #[test]
    fn what_is_left_is_counted_and_written_down() {
        let mut shown = Shown::default();
        let mut local = Local::new();
        let now = (Duration::ZERO, true);
        shown.note(&kept(10, 100), now, &mut local);
        let measured = shown.note(&kept(30, 80), now, &mut local);
        assert_eq!((shown.tally.taken, shown.tally.kept), (100, 80));
        assert_eq!(measured.name, "tab.kept");
        assert!((measured.value - 0.8).abs() < 1e-9);
        let tags: serde_json::Value = serde_json::from_str(&measured.tags).expect("JSON");
        let expected = json!({ "bytes": 100, "seconds": 30, "source": "continuation" });
        assert_eq!(tags, expected);
    }
}
