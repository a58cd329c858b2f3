//! Outcomes of suggestions: notes them for the ledger and teaches them to the local tier.

use std::time::Duration;

use super::candidate::SuggestionCandidate;
use super::{CompletionEngine, EngineEffect, TabEvent, is_from_model};
use crate::cache::CaretText;
use crate::local::SuggestionOutcome;
use crate::validate::RejectReason;
use crate::{AcceptGranularity, DocumentEdit, Suggestion, SuggestionId};

/// Weight of the newest outcome in the moving average of the success rate.
const WEIGHT: f32 = 0.1;
/// If less than this fraction of an accepted suggestion remains, it was accepted by mistake.
const KEPT: f64 = 0.3;
/// Remainders measured later than this say nothing about the suggestion.
const SOON: Duration = Duration::from_secs(30);
/// Maximum number of refused texts that are recognised when they are checked again.
const MAX_REFUSED: usize = 16;
/// Minimum time on screen: the user cannot have judged a suggestion shown for less.
const GLIMPSE: Duration = Duration::from_millis(700);

impl CompletionEngine {
    /// Records that a frame showed part of a suggestion. The driver reports it before the next
    /// input; a suggestion that was never painted is not counted as ignored.
    pub fn note_painted(&mut self, id: SuggestionId) {
        let mut candidates = self.candidates.iter();
        if candidates.any(|candidate| candidate.suggestion.id == id) {
            self.painted = Some(id);
        }
    }

    /// Notes an event for the ledger, and teaches it to the local tier.
    pub(super) fn note(&mut self, event: TabEvent) {
        if let Some(outcome) = outcome(&event) {
            self.local.record_outcome(event.id(), outcome);
        }
        self.effects.push(EngineEffect::Note(event));
    }

    /// Handles the acceptance of the visible suggestion.
    pub(super) fn accepted(&mut self, part: AcceptGranularity, edit: DocumentEdit) {
        self.record_edit(&edit);
        let Some(candidate) = self.candidates.get(self.at) else {
            self.apply_edit(edit);
            return;
        };
        let (id, source) = (candidate.suggestion.id, candidate.suggestion.source.clone());
        self.note(TabEvent::Accepted {
            id,
            source: source.clone(),
            part,
            chars: inserted_chars(&edit),
        });
        if let Some(state) = self.state.as_ref().filter(|_| is_from_model(&source)) {
            self.lookahead_use
                .suggestion_used(0, || CaretText::of(state));
        }
        let (path, change) = (edit.state.path.clone(), edit.change.clone());
        if part == AcceptGranularity::All {
            // The whole suggestion is in the text now; the other candidates follow the change.
            self.candidates.remove(self.at);
            self.at = 0;
            self.record_success(true);
        }
        self.apply_edit(edit);
        self.keep_tracker
            .record_accepted((id, &source), path.as_ref(), &change, self.now);
    }

    /// Handles the dismissal of the visible suggestion.
    pub(super) fn dismissed(&mut self) {
        let (Some(state), Some(candidate)) = (self.state.clone(), self.candidates.get(self.at))
        else {
            return;
        };
        let suggestion = candidate.suggestion.clone();
        self.note(TabEvent::Dismissed {
            id: suggestion.id,
            source: suggestion.source.clone(),
        });
        for candidate in &self.candidates {
            self.recent
                .rejected(&state, &candidate.suggestion, self.now);
        }
        self.record_success(false);
        self.candidates.clear();
        self.at = 0;
        self.pending_hunks.clear();
        self.cancel_all();
        // Suggests nothing until the next keystroke.
        self.last_edit = None;
        self.has_missed = true;
    }

    /// Records that the user typed the whole visible suggestion.
    pub(super) fn record_typed(&mut self, candidate: &SuggestionCandidate) {
        self.has_missed = false;
        self.is_finished = is_from_model(&candidate.suggestion.source);
        self.record_success(true);
        self.note(TabEvent::Typed {
            id: candidate.suggestion.id,
            source: candidate.suggestion.source.clone(),
        });
    }

    /// Records that the user deviated from the visible suggestion.
    pub(super) fn record_miss(&mut self, candidate: &SuggestionCandidate) {
        self.has_missed = true;
        self.record_success(false);
        self.record_ignored(candidate);
    }

    /// Records that the user did something else than accept a suggestion.
    pub(super) fn record_ignored(&mut self, candidate: &SuggestionCandidate) {
        let id = candidate.suggestion.id;
        let Some(shown_at) = candidate.shown_at else {
            return;
        };
        let event = TabEvent::Ignored {
            id,
            source: candidate.suggestion.source.clone(),
            typed: candidate.typed,
        };
        let is_glimpse = self.now.saturating_sub(shown_at) < GLIMPSE;
        if self.painted == Some(id) && !is_glimpse {
            self.note(event);
        } else {
            self.effects.push(EngineEffect::Note(event));
        }
    }

    /// Records that a suggestion failed validation. Reports a model's suggestion unless it is the
    /// rest of one that was reported.
    pub(super) fn record_refused(&mut self, suggestion: &Suggestion, reason: RejectReason) {
        self.refused = Some(reason.clone());
        if !is_from_model(&suggestion.source) {
            return;
        }
        let text: Vec<&str> = suggestion.edits.iter().map(|it| it.new.as_ref()).collect();
        let text = text.join("\n");
        let is_known = |(why, known): &(RejectReason, String)| {
            *why == reason && (*known == text || !text.is_empty() && known.ends_with(&text))
        };
        if self.latest_refused.iter().any(is_known) {
            return;
        }
        if self.latest_refused.len() == MAX_REFUSED {
            self.latest_refused.pop_front();
        }
        self.latest_refused
            .push_back((reason.clone(), text.clone()));
        self.note(TabEvent::Refused {
            id: suggestion.id,
            source: suggestion.source.clone(),
            reason,
            text,
        });
    }

    fn record_success(&mut self, is_right: bool) {
        let outcome = if is_right { 1.0 } else { 0.0 };
        self.success_rate += WEIGHT * (outcome - self.success_rate);
    }
}

/// Returns the number of chars that an edit inserted, over all of its splices.
fn inserted_chars(edit: &DocumentEdit) -> usize {
    let after = edit.after();
    let splices = edit.change.splices.iter();
    splices.map(|splice| after.char_count(splice.new)).sum()
}

/// Returns what an event says about its suggestion.
pub(super) fn outcome(event: &TabEvent) -> Option<SuggestionOutcome> {
    match event {
        TabEvent::Shown { .. } | TabEvent::Refused { .. } => None,
        TabEvent::Accepted { part, .. } => Some(SuggestionOutcome::Accepted(*part)),
        TabEvent::Typed { .. } => Some(SuggestionOutcome::Accepted(AcceptGranularity::All)),
        TabEvent::Dismissed { .. } => Some(SuggestionOutcome::Dismissed),
        // Typing part of it and then diverging means that the suggestion was wrong.
        TabEvent::Ignored { typed, .. } if *typed > 0 => Some(SuggestionOutcome::TypedOver),
        TabEvent::Ignored { .. } => Some(SuggestionOutcome::Ignored),
        TabEvent::Kept {
            after, bytes, kept, ..
        } => {
            let is_gone = (*kept as f64) < KEPT * *bytes as f64;
            (*after < SOON && is_gone).then_some(SuggestionOutcome::Undone)
        }
    }
}
