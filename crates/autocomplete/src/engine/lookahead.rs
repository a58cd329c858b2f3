//! Requests the text after a suggestion before it is accepted, so that the next suggestion is
//! available at once.

use std::time::Duration;

use super::candidate::SuggestionCandidate;
use super::in_flight::RequestPurpose;
use super::{CompletionEngine, CycleStep, TabKind};
use crate::cache::CaretText;
use crate::context::ContextSource;
use crate::validate::applied;
use crate::{EditorState, SuggestionSource};

/// After looking at a suggestion for this long, the user is likely to accept it.
const LIKELY_AFTER: Duration = Duration::from_millis(400);
/// Minimum success rate at which requesting ahead is worthwhile.
const MIN_SUCCESS_AHEAD: f32 = 0.4;
/// Minimum success rate at which the end of a barely typed suggestion is requested ahead.
const MIN_SUCCESS_EARLY: f32 = 0.6;
/// Maximum number of remaining characters at which the end of a suggestion counts as near.
const MAX_CHARS_LEFT: usize = 24;

impl CompletionEngine {
    /// Requests the text after the visible suggestion if the user is likely to accept it or to type
    /// it to its end soon.
    pub(super) fn request_ahead(&mut self, source: &dyn ContextSource) {
        let due = self.ahead_due().is_some_and(|due| due <= self.now);
        let Some(state) = self.state.clone().filter(|_| due) else {
            return;
        };
        let Some(candidate) = self.candidates.get_mut(self.at) else {
            return;
        };
        candidate.has_looked_ahead = true;
        let id = candidate.suggestion.id;
        let Some(next) = state_after_accept(&state, candidate) else {
            return;
        };
        let model = self.options.model.as_ref().map(|model| model.id.clone());
        let is_known = model.is_none_or(|model| {
            let caret_text = CaretText::of(&next);
            !self.cache.find(&caret_text, &model).is_empty()
        });
        if !is_known && self.lookahead_use.is_worthwhile() {
            self.lookahead_use.requested(CaretText::of(&next));
            self.ask(&next, RequestPurpose::Ahead(id), source);
        }
    }

    /// Returns when the text after the visible suggestion should be requested.
    pub(super) fn ahead_due(&self) -> Option<Duration> {
        let model = self.options.model.as_ref()?;
        let candidate = self.candidates.get(self.at)?;
        let is_gap = model.kind == TabKind::Gap
            && matches!(candidate.suggestion.source, SuggestionSource::Gap(_));
        let is_whole = candidate.partial.is_none() && !candidate.has_looked_ahead;
        if !is_gap || !is_whole || self.is_asking() || !self.blocked.is_empty() {
            return None;
        }
        if self.ends_soon(candidate) {
            return Some(self.now);
        }
        (self.success_rate >= MIN_SUCCESS_AHEAD).then(|| candidate.since + LIKELY_AFTER)
    }

    /// Whether the user will have typed the rest before a response could arrive.
    fn ends_soon(&self, candidate: &SuggestionCandidate) -> bool {
        let left = candidate.chars();
        let latency = self.server.latency(75);
        let near = self.cadence.keys_in(latency).min(MAX_CHARS_LEFT);
        let is_sure = candidate.typed >= left || self.success_rate >= MIN_SUCCESS_EARLY;
        left <= near && is_sure
    }

    /// Cycles to another alternative, or requests one from the model if there is none.
    pub(super) fn cycle(&mut self, turn: CycleStep, source: &dyn ContextSource) {
        let count = self.candidates.len();
        if count > 1 {
            self.at = match turn {
                CycleStep::Next => (self.at + 1) % count,
                CycleStep::Previous => (self.at + count - 1) % count,
            };
            return;
        }
        let is_gap = |kind: TabKind| kind == TabKind::Gap;
        let can = self
            .options
            .model
            .as_ref()
            .is_some_and(|model| is_gap(model.kind));
        if let Some(state) = self.state.clone()
            && can
            && self.blocked.is_empty()
            && !self.is_asking()
        {
            self.ask(&state, RequestPurpose::Another, source);
        }
    }
}

/// Returns the editor state after accepting a suggestion; `None` unless it is a single edit at the
/// caret.
fn state_after_accept(state: &EditorState, candidate: &SuggestionCandidate) -> Option<EditorState> {
    let [edit] = candidate.suggestion.edits.as_slice() else {
        return None;
    };
    if edit.span.start != state.caret {
        return None;
    }
    let (change, after) = applied(&state.snapshot, &candidate.suggestion);
    let caret = change.splices.last()?.new.end;
    Some(EditorState {
        snapshot: after,
        caret,
        syntax: None,
        ..state.clone()
    })
}
