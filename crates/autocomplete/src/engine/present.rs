//! Candidates from the cache and models: adds them, chooses the visible one and emits it.

use std::time::Duration;

use text::Change;

use super::candidate::{SuggestionCandidate, applies_at_caret};
use super::in_flight::{ActiveRequest, ExpectedReply, RequestPurpose};
use super::{CompletionEngine, EngineEffect, TabEvent, TabKind, VisibleSuggestion, is_from_model};
use crate::cache::CaretText;
use crate::format::{self, ParsedResponse};
use crate::validate::{CompletionStream, RejectReason, check, joined, without_last_word};
use crate::{EditorState, FollowResult, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};

/// Maximum number of alternatives kept.
pub(super) const MAX_ALTERNATIVES: usize = 16;

impl CompletionEngine {
    /// Adds cached completions and pending hunks for the current text unless something is shown.
    /// Returns whether a model's response for it is known, including an empty one. A response that
    /// validation refuses does not count: with more text typed, the next one may be better.
    pub(super) fn present(&mut self) -> bool {
        let Some(state) = self.state.clone() else {
            return true;
        };
        self.present_later(&state);
        let Some(model) = self.options.model.clone() else {
            return true;
        };
        if self.has_remote() || model.kind != TabKind::Gap {
            return self.has_remote();
        }
        let found = self.cache.find(&CaretText::of(&state), &model.id);
        let is_nothing = found.iter().any(String::is_empty);
        let has_any = !found.is_empty();
        for rest in found.into_iter().filter(|rest| !rest.is_empty()) {
            let edit = joined(&state.snapshot, state.caret, &rest);
            let source = SuggestionSource::Gap(model.id.clone());
            self.add_edits(&state, vec![edit], source, None);
        }
        let is_known = is_nothing || self.has_remote();
        self.has_missed |= has_any && !is_known;
        is_known
    }

    /// Whether a model's suggestion is among the candidates.
    pub(super) fn has_remote(&self) -> bool {
        let mut sources = self
            .candidates
            .iter()
            .map(|candidate| &candidate.suggestion.source);
        sources.any(is_from_model)
    }

    /// Offers the nearest of the remaining hunks of the last response.
    fn present_later(&mut self, state: &EditorState) {
        if !self.candidates.is_empty() {
            return;
        }
        let distance = |it: &Suggestion| it.start().0.abs_diff(state.caret.0);
        let nearest =
            (0..self.pending_hunks.len()).min_by_key(|ix| distance(&self.pending_hunks[*ix]));
        if let Some(nearest) = nearest {
            let mut next = self.pending_hunks.swap_remove(nearest);
            next.id = self.ids.next_id();
            self.add(state, SuggestionCandidate::new(next, None, self.now));
        }
    }

    /// Adds edits of the current text as a candidate. Returns `false` if `add` rejects it.
    pub(super) fn add_edits(
        &mut self,
        state: &EditorState,
        edits: Vec<SuggestedEdit>,
        source: SuggestionSource,
        took: Option<Duration>,
    ) -> bool {
        let suggestion = Suggestion {
            id: self.ids.next_id(),
            file: None,
            revision: state.snapshot.revision(),
            edits,
            source,
            confidence: self.success_rate,
        };
        self.add(state, SuggestionCandidate::new(suggestion, took, self.now))
    }

    /// Adds a candidate and makes it the current one if it is preferable to the shown one. Returns
    /// `false` if validation refuses it, `MAX_ALTERNATIVES` exist, or one has the same edits.
    /// Records the reason of a refusal and clears it on success. A response that stops within a word
    /// is right up to that word.
    pub(super) fn add(&mut self, state: &EditorState, mut candidate: SuggestionCandidate) -> bool {
        if let Err(refused) = check(state, &candidate.suggestion, &self.recent) {
            let shorter = (refused == RejectReason::CutsWord)
                .then(|| without_last_word(&candidate.suggestion))
                .flatten()
                .filter(|shorter| check(state, shorter, &self.recent).is_ok());
            let Some(shorter) = shorter else {
                self.record_refused(&candidate.suggestion, refused);
                return false;
            };
            candidate.suggestion = shorter;
        }
        let is_alike =
            |known: &SuggestionCandidate| known.suggestion.edits == candidate.suggestion.edits;
        if self.candidates.len() >= MAX_ALTERNATIVES || self.candidates.iter().any(is_alike) {
            return false;
        }
        self.refused = None;
        let shown = self.candidates.get(self.at);
        // A suggestion that the user has begun to type stays; otherwise the likelier one is shown.
        // The local tier reports the most useful suggestion first, so its first likely enough one
        // stays.
        let is_better = shown.is_none_or(|shown| {
            let visible = self.visible.as_ref().map(|visible| visible.suggestion.id);
            let is_typed = shown.typed > 0 && visible == Some(shown.suggestion.id);
            let (old, new) = (&shown.suggestion, &candidate.suggestion);
            let is_settled = !is_from_model(&old.source)
                && !is_from_model(&new.source)
                && (old.confidence >= self.threshold(old) || self.is_explicit);
            !is_typed && !is_settled && old.confidence < new.confidence
        });
        self.candidates.push(candidate);
        if is_better {
            self.at = self.candidates.len() - 1;
        }
        true
    }

    /// Handles the end of a model response.
    pub(super) fn finished(&mut self, request: ActiveRequest) {
        let took = self.now.saturating_sub(request.asked);
        self.server.completed(&request, &self.requests, self.now);
        self.failed = None;
        let Some(state) = self.state.clone() else {
            return;
        };
        // The complete response replaces the candidate made of its first lines.
        let partial = self
            .candidates
            .iter()
            .position(|it| it.partial == Some(request.id));
        let partial = partial.map(|ix| self.candidates.remove(ix));
        self.at = self.at.min(self.candidates.len().saturating_sub(1));
        match request.expected {
            ExpectedReply::Gap {
                caret_text,
                mut stream,
                ..
            } => {
                stream.close();
                let text = accepted_text(&stream, &caret_text).to_owned();
                self.cache.insert(caret_text, request.model, text);
                // A response to a request ahead stays cached until its text is reached, and one for an
                // earlier position until the user returns there.
                let is_ahead = matches!(request.purpose, RequestPurpose::Ahead(_));
                if !is_ahead && !request.is_outdated {
                    self.show_found(&state, took, partial, request.purpose);
                }
            }
            ExpectedReply::NextEdit {
                format,
                window,
                since,
                text,
            } => {
                let reading = format::read(format, &window, &text);
                let source = SuggestionSource::NextEdit(request.model);
                self.add_next_edits(&state, reading, &since, (source, took));
            }
        }
    }

    /// Shows the completion that a response has added to the cache.
    fn show_found(
        &mut self,
        state: &EditorState,
        took: Duration,
        partial: Option<SuggestionCandidate>,
        purpose: RequestPurpose,
    ) {
        let Some(model) = self.options.model.clone() else {
            return;
        };
        let found = self.cache.find(&CaretText::of(state), &model.id);
        let Some(rest) = found.into_iter().next() else {
            // The response does not agree with what was typed meanwhile.
            self.has_missed = true;
            return;
        };
        if rest.is_empty() {
            return;
        }
        let before = self.candidates.len();
        let edit = joined(&state.snapshot, state.caret, &rest);
        if !self.add_edits(
            state,
            vec![edit],
            SuggestionSource::Gap(model.id),
            Some(took),
        ) {
            self.has_missed |= !self.has_remote();
            return;
        }
        if let (Some(partial), Some(candidate)) = (partial, self.candidates.get_mut(before)) {
            // The same suggestion, now longer, keeps its identity.
            candidate.suggestion.id = partial.suggestion.id;
            candidate.typed = partial.typed;
            candidate.shown_at = partial.shown_at;
            self.at = before;
        }
        if purpose == RequestPurpose::Another {
            self.at = before;
        }
    }

    /// Shows the first complete lines of a response that is still streaming.
    pub(super) fn show_lines(&mut self, ix: usize) {
        let Some(state) = self.state.clone() else {
            return;
        };
        let request = &self.requests[ix];
        let (
            ExpectedReply::Gap {
                caret_text, stream, ..
            },
            RequestPurpose::Now,
        ) = (&request.expected, request.purpose)
        else {
            return;
        };
        let lines = stream.complete_lines().to_owned();
        if self.has_remote() || lines.is_empty() {
            return;
        }
        let rest = caret_text
            .remaining_completion(&lines, &CaretText::of(&state))
            .map(str::to_owned);
        let took = self.now.saturating_sub(request.asked);
        let (id, model) = (request.id, request.model.clone());
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            let edit = joined(&state.snapshot, state.caret, &rest);
            let before = self.candidates.len();
            self.add_edits(&state, vec![edit], SuggestionSource::Gap(model), Some(took));
            if let Some(candidate) = self.candidates.get_mut(before) {
                candidate.partial = Some(id);
            }
        }
    }

    /// Shows the nearest hunk of a next-edit response and keeps the others for later. If the text
    /// would parse worse with that hunk alone, all hunks are offered together.
    fn add_next_edits(
        &mut self,
        state: &EditorState,
        reading: ParsedResponse,
        (base, change): &(text::Snapshot, Change),
        (source, took): (SuggestionSource, Duration),
    ) {
        let ParsedResponse::Edits(edits) = reading else {
            self.refused = None;
            return;
        };
        let mut hunks: Vec<Suggestion> = Vec::new();
        for edit in edits {
            let mut hunk = Suggestion {
                id: SuggestionId(0),
                file: None,
                revision: base.revision(),
                edits: vec![edit],
                source: source.clone(),
                confidence: self.success_rate,
            };
            let is_left = if change.is_empty() {
                hunk.applies_to(&state.snapshot)
            } else {
                matches!(
                    hunk.follow(change, &state.snapshot),
                    FollowResult::Moved | FollowResult::Consumed
                )
            };
            if is_left {
                hunk.revision = state.snapshot.revision();
                hunks.push(hunk);
            }
        }
        hunks.sort_by_key(|hunk| hunk.start().0.abs_diff(state.caret.0));
        let mut hunks = hunks.into_iter();
        let Some(nearest) = hunks.next() else {
            return;
        };
        let rest: Vec<Suggestion> = hunks.collect();
        if self.add_edits(state, nearest.edits.clone(), source.clone(), Some(took)) {
            self.pending_hunks = rest;
            return;
        }
        let mut all = nearest.edits;
        all.extend(rest.into_iter().flat_map(|hunk| hunk.edits));
        all.sort_by_key(|edit| edit.span.start);
        if all.len() > 1 {
            self.add_edits(state, all, source, Some(took));
        }
    }

    /// Drops the candidates that apply only at a previous caret.
    pub(super) fn drop_misplaced(&mut self) {
        let Some(caret) = self.state.as_ref().map(|state| state.caret) else {
            return;
        };
        let shown = self
            .candidates
            .get(self.at)
            .map(|candidate| candidate.suggestion.id);
        let candidates = std::mem::take(&mut self.candidates);
        let (here, gone): (Vec<SuggestionCandidate>, Vec<SuggestionCandidate>) =
            candidates.into_iter().partition(|candidate| {
                !applies_at_caret(&candidate.suggestion.source)
                    || candidate.suggestion.start() == caret
            });
        let at = here.iter().position(|it| Some(it.suggestion.id) == shown);
        self.candidates = here;
        self.at = at.unwrap_or(0);
        gone.iter()
            .for_each(|candidate| self.record_ignored(candidate));
    }

    /// Drops and reports all candidates.
    pub(super) fn clear_candidates(&mut self) {
        for candidate in std::mem::take(&mut self.candidates) {
            self.record_ignored(&candidate);
        }
        self.at = 0;
    }

    /// Emits the visible suggestion to the driver if it has changed.
    pub(super) fn emit_visible(&mut self) {
        let revision = self.state.as_ref().map(|state| state.snapshot.revision());
        let is_asked_for = matches!(self.last_edit, Some((_, super::DebounceMode::Eager)));
        let count = self.candidates.len();
        let current = self.candidates.get(self.at);
        let threshold = current.map_or(1.0, |current| self.threshold(&current.suggestion));
        let shown = self.candidates.get_mut(self.at).filter(|candidate| {
            let is_likely = candidate.suggestion.confidence >= threshold;
            let is_here = candidate.suggestion.file.is_some()
                || Some(candidate.suggestion.revision) == revision;
            is_here && (is_likely || is_asked_for)
        });
        let Some(candidate) = shown else {
            if self.visible.take().is_some() {
                self.effects.push(EngineEffect::Hide);
            }
            return;
        };
        let next = VisibleSuggestion {
            suggestion: candidate.suggestion.clone(),
            index: self.at,
            count,
        };
        if self.visible.as_ref() == Some(&next) {
            return;
        }
        let shown = candidate.shown_at.is_none().then(|| TabEvent::Shown {
            id: candidate.suggestion.id,
            source: candidate.suggestion.source.clone(),
            chars: candidate.chars(),
            took: candidate.took,
        });
        candidate.shown_at.get_or_insert(self.now);
        candidate.since = self.now;
        self.effects.extend(shown.map(EngineEffect::Note));
        self.effects.push(EngineEffect::Show(next.clone()));
        self.visible = Some(next);
    }
}

/// Returns the accepted text of a response. Blanks at its end belong to it only if more text follows
/// in the row; at the end of a row, they would remain as trailing whitespace.
fn accepted_text<'a>(stream: &'a CompletionStream, caret_text: &CaretText) -> &'a str {
    let text = stream.text();
    if text.is_empty() || caret_text.is_row_end() {
        return text;
    }
    let rest = &stream.raw()[text.len()..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    &stream.raw()[..text.len() + blanks]
}
