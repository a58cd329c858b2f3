//! Outcomes of suggestions, sent to the local tier, which learns from them, and to the ledger.

use std::collections::VecDeque;
use std::time::Duration;

use autocomplete::engine::TabEvent;
use autocomplete::local::{LocalPredictor, SuggestionOutcome};
use autocomplete::{AcceptGranularity, Suggestion, SuggestionId, SuggestionSource};
use serde_json::json;

/// Number of shown suggestions whose outcome is tracked.
const MAX_SUGGESTIONS: usize = 64;
/// If less than this fraction of an accepted suggestion remains, it was accepted by mistake.
const KEPT: f64 = 0.3;

/// Minimum time on screen: the user cannot have judged a suggestion shown for less.
const GLIMPSE: Duration = Duration::from_millis(700);

/// Recently shown suggestions and their counts in this window.
#[derive(Default)]
pub(super) struct ShownSuggestions {
    /// The suggestions with the time each was first shown.
    latest: VecDeque<(Suggestion, Duration)>,
    pub(super) tally: Tally,
}

/// Counts of suggestions in this window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Number of suggestions shown.
    pub(super) shown: u32,
    /// Number of suggestions accepted, or typed to their end.
    pub(super) accepted: u32,
    /// Bytes accepted at least half a minute ago, and how many of them remain.
    pub(super) taken: usize,
    pub(super) kept: usize,
}

/// A measurement for the ledger.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) tags: String,
}

impl ShownSuggestions {
    /// Records that a suggestion is shown.
    pub(super) fn show(&mut self, suggestion: &Suggestion, now: Duration) {
        let known = self.latest.iter().find(|(it, _)| it.id == suggestion.id);
        let since = known.map_or(now, |(_, since)| *since);
        self.latest.retain(|(known, _)| known.id != suggestion.id);
        self.latest.push_back((suggestion.clone(), since));
        if self.latest.len() > MAX_SUGGESTIONS {
            self.latest.pop_front();
        }
    }

    /// Returns a shown suggestion in its original form.
    pub(super) fn find(&self, id: SuggestionId) -> Option<&Suggestion> {
        let known = self.latest.iter().find(|(known, _)| known.id == id);
        known.map(|(known, _)| known)
    }

    /// Records the outcome of a suggestion and whether any part of it was painted: updates the
    /// local tier and returns the measurement for the ledger.
    pub(super) fn note(
        &mut self,
        happened: &TabEvent,
        (now, is_seen): (Duration, bool),
        local: &mut LocalPredictor,
    ) -> Measurement {
        let (id, mut answer) = (happened.id(), answer(happened));
        let known = self.latest.iter().find(|(known, _)| known.id == id);
        let is_glimpse = known.is_some_and(|(_, since)| now.saturating_sub(*since) < GLIMPSE);
        if (is_glimpse || !is_seen) && matches!(happened, TabEvent::Ignored { .. }) {
            answer = None;
        }
        match happened {
            TabEvent::Shown { .. } => self.tally.shown += 1,
            TabEvent::Accepted { .. } | TabEvent::Typed { .. } => self.tally.accepted += 1,
            TabEvent::Kept {
                after, bytes, kept, ..
            } if after.as_secs() >= 30 => {
                self.tally.taken += bytes;
                self.tally.kept += kept;
            }
            _ => {}
        }
        if let (Some(answer), Some(suggestion)) = (answer, self.find(id)) {
            local.record_outcome(suggestion, answer);
        }
        measured(happened)
    }
}

/// Returns the feedback for the local tier.
fn answer(happened: &TabEvent) -> Option<SuggestionOutcome> {
    match happened {
        TabEvent::Shown { .. } => None,
        TabEvent::Accepted { part, .. } => Some(SuggestionOutcome::Accepted(*part)),
        TabEvent::Typed { .. } => Some(SuggestionOutcome::Accepted(AcceptGranularity::All)),
        TabEvent::Dismissed { .. } => Some(SuggestionOutcome::Dismissed),
        // Typing part of it and then diverging means that the suggestion was wrong.
        TabEvent::Ignored { typed, .. } if *typed > 0 => Some(SuggestionOutcome::TypedOver),
        TabEvent::Ignored { .. } => Some(SuggestionOutcome::Ignored),
        TabEvent::Kept {
            after, bytes, kept, ..
        } => {
            let is_first_look = after.as_secs() < 30;
            let is_gone = (*kept as f64) < KEPT * *bytes as f64;
            (is_first_look && is_gone).then_some(SuggestionOutcome::Undone)
        }
    }
}

/// Converts an outcome into a measurement. Contains no text.
fn measured(happened: &TabEvent) -> Measurement {
    let (name, value, source, more) = match happened {
        TabEvent::Shown {
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
        TabEvent::Accepted {
            source,
            part,
            chars,
            ..
        } => (
            "tab.accepted",
            *chars as f64,
            source,
            json!({ "part": match part { AcceptGranularity::All => "all", AcceptGranularity::Word => "word", AcceptGranularity::Line => "line" } }),
        ),
        TabEvent::Typed { source, .. } => ("tab.typed", 1.0, source, json!({})),
        TabEvent::Dismissed { source, .. } => ("tab.dismissed", 1.0, source, json!({})),
        TabEvent::Ignored { source, typed, .. } => {
            ("tab.ignored", 1.0, source, json!({ "typed": typed }))
        }
        TabEvent::Kept {
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
    Measurement {
        name,
        value,
        tags: tags.to_string(),
    }
}

fn source_name(source: &SuggestionSource) -> String {
    match source {
        SuggestionSource::Propagation { .. } => "propagation".to_owned(),
        SuggestionSource::Continuation => "continuation".to_owned(),
        SuggestionSource::Syntax => "syntax".to_owned(),
        SuggestionSource::Gap(model) | SuggestionSource::NextEdit(model) => model.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(after: u64, kept: usize) -> TabEvent {
        TabEvent::Kept {
            id: SuggestionId(1),
            source: SuggestionSource::Continuation,
            after: Duration::from_secs(after),
            bytes: 100,
            kept,
        }
    }

    #[test]
    fn what_is_gone_soon_counts_as_taken_back() {
        assert_eq!(answer(&kept(10, 10)), Some(SuggestionOutcome::Undone));
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
            source: SuggestionSource::Continuation,
            confidence: 0.5,
        };
        let ignored = TabEvent::Ignored {
            id: SuggestionId(1),
            source: SuggestionSource::Continuation,
            typed: 0,
        };
        let threshold = |seen: u64, is_painted: bool| {
            let (mut shown, mut local) = (ShownSuggestions::default(), LocalPredictor::new());
            let text = text::Snapshot::new("fn a() {\n    b();\n}\n\nfn a() {\n    ");
            let state = autocomplete::EditorState {
                path: None,
                caret: text.len(),
                rows: (base::Row(0), base::Row(9)),
                syntax: None,
                language: None,
                indent: "    ".to_owned(),
                snapshot: text,
            };
            let mut next = || SuggestionId(1);
            local.all_suggestions(&state, text::Timestamp(0), &mut next);
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
        let mut shown = ShownSuggestions::default();
        let mut local = LocalPredictor::new();
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
