//! Counts of shown and refused suggestions, measurements of their outcomes for the ledger, and the
//! refused texts for the Tab log.
//!
//! Invariant: the texts stay in this window; a measurement contains none.

use std::collections::{BTreeMap, VecDeque};

use autocomplete::engine::TabEvent;
use autocomplete::{AcceptGranularity, Suggestion, SuggestionId, SuggestionSource};
use serde_json::json;

/// Maximum number of shown suggestions kept.
const MAX_SUGGESTIONS: usize = 64;
/// Maximum number of refused suggestions kept.
const MAX_REFUSED: usize = 100;

/// Recently shown suggestions and their counts in this window.
#[derive(Default)]
pub(super) struct ShownSuggestions {
    /// Sorted from the one shown first.
    latest: VecDeque<Suggestion>,
    pub(super) tally: Tally,
    /// The last one is the newest.
    refused: VecDeque<RefusedSuggestion>,
    /// Numbers of refused suggestions by reason.
    refusals: BTreeMap<&'static str, u32>,
}

/// A model's suggestion that failed validation, for the Tab log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefusedSuggestion {
    /// New text of the suggestion.
    pub(crate) text: String,
    /// Reason why it is not shown.
    pub(crate) reason: String,
    /// Name of the model.
    pub(crate) model: String,
}

/// Counts of suggestions in this window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Number of suggestions shown.
    pub(super) shown: u32,
    /// Number of suggestions accepted, or typed to their end.
    pub(super) accepted: u32,
    /// Bytes accepted at least half a minute ago.
    pub(super) accepted_bytes: usize,
    /// Number of those bytes that remain.
    pub(super) kept_bytes: usize,
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
    pub(super) fn show(&mut self, suggestion: &Suggestion) {
        self.latest.retain(|known| known.id != suggestion.id);
        self.latest.push_back(suggestion.clone());
        if self.latest.len() > MAX_SUGGESTIONS {
            self.latest.pop_front();
        }
    }

    /// Returns a suggestion as it was last shown, or `None` if it was not shown recently.
    pub(super) fn find(&self, id: SuggestionId) -> Option<&Suggestion> {
        self.latest.iter().find(|known| known.id == id)
    }

    /// Counts an event and returns its measurement for the ledger.
    pub(super) fn note(&mut self, event: &TabEvent) -> Measurement {
        match event {
            TabEvent::Shown { .. } => self.tally.shown += 1,
            TabEvent::Accepted { .. } | TabEvent::Typed { .. } => self.tally.accepted += 1,
            TabEvent::Kept {
                after, bytes, kept, ..
            } if after.as_secs() >= 30 => {
                self.tally.accepted_bytes += bytes;
                self.tally.kept_bytes += kept;
            }
            TabEvent::Refused {
                source,
                reason,
                text,
                ..
            } => {
                *self.refusals.entry(reason.name()).or_default() += 1;
                if self.refused.len() == MAX_REFUSED {
                    self.refused.pop_front();
                }
                self.refused.push_back(RefusedSuggestion {
                    text: text.clone(),
                    reason: reason.to_string(),
                    model: source_name(source),
                });
            }
            _ => {}
        }
        measurement(event)
    }

    /// Returns the refused suggestions, the newest first.
    pub(super) fn refused(&self) -> impl Iterator<Item = &RefusedSuggestion> {
        self.refused.iter().rev()
    }

    /// Summarises the refusals of this window by reason in one line; `None` if there are none.
    pub(super) fn refusal_line(&self) -> Option<String> {
        let total: u32 = self.refusals.values().sum();
        let reasons = self.refusals.iter();
        let reasons: Vec<String> = reasons
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        (total > 0).then(|| format!("{total} refused: {}", reasons.join(", ")))
    }
}

/// Converts an event into a measurement. Contains no text.
fn measurement(event: &TabEvent) -> Measurement {
    let (name, value, source, more) = match event {
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
        TabEvent::Refused {
            source,
            reason,
            text,
            ..
        } => (
            "tab.refused",
            text.chars().count() as f64,
            source,
            json!({ "reason": reason.name() }),
        ),
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
    use std::time::Duration;

    use autocomplete::validate::RejectReason;

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
    fn refusals_are_counted_by_reason_and_listed_with_their_text() {
        let mut shown = ShownSuggestions::default();
        assert_eq!(shown.refusal_line(), None);
        let model = model::ModelId::parse("local/tab").expect("a name");
        let mut note = |text: &str, reason: RejectReason| {
            shown.note(&TabEvent::Refused {
                id: SuggestionId(1),
                source: SuggestionSource::Gap(model.clone()),
                reason,
                text: text.to_owned(),
            })
        };
        let measured = note("f(a]", RejectReason::Breaks);
        note("f(b]", RejectReason::Breaks);
        note("gone()", RejectReason::JustGone);
        assert_eq!((measured.name, measured.value), ("tab.refused", 4.0));
        let tags: serde_json::Value = serde_json::from_str(&measured.tags).expect("JSON");
        assert_eq!(tags, json!({ "reason": "breaks", "source": "local/tab" }));
        let line = shown.refusal_line();
        assert_eq!(line.as_deref(), Some("3 refused: 2 breaks, 1 just gone"));
        let texts: Vec<&str> = shown.refused().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["gone()", "f(b]", "f(a]"]);
    }

    #[test]
    fn remaining_bytes_are_counted_and_measured() {
        let mut shown = ShownSuggestions::default();
        shown.note(&kept(10, 100));
        let measured = shown.note(&kept(30, 80));
        let tally = shown.tally;
        assert_eq!((tally.accepted_bytes, tally.kept_bytes), (100, 80));
        assert_eq!(measured.name, "tab.kept");
        assert!((measured.value - 0.8).abs() < 1e-9);
        let tags: serde_json::Value = serde_json::from_str(&measured.tags).expect("JSON");
        let expected = json!({ "bytes": 100, "seconds": 30, "source": "continuation" });
        assert_eq!(tags, expected);
    }
}
