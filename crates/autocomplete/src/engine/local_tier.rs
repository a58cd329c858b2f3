//! The local tier inside the engine: its background work, its facts, and its suggestions among the
//! candidates.

use std::sync::Arc;

use super::candidate::SuggestionCandidate;
use super::present::MAX_ALTERNATIVES;
use super::{ChangedFiles, CompletionEngine, is_from_model};
use crate::local::{BackgroundResult, BackgroundTask, CorpusView, UnopenedFileSearch};
use crate::{EditorState, Suggestion, SuggestionSource};

impl CompletionEngine {
    /// Sets the tokens of the project that continuations come from, in place of the earlier view.
    /// Affects later suggestions only.
    pub fn set_corpus(&mut self, corpus: Arc<CorpusView>) {
        self.local.set_corpus(corpus);
    }

    /// Records that a text was opened or parsed again. Without it the first change of the text
    /// lacks a syntax tree.
    pub fn note_tree(&mut self, state: &EditorState) {
        self.local.note_tree(state);
    }

    /// Returns pending work proportional to the open texts, for a background thread; `None` if
    /// everything is known. Its result is handed in as `EngineInput::TaskFinished`.
    pub fn background_task(&self, open: &[EditorState]) -> Option<BackgroundTask> {
        self.local.background_task(open)
    }

    /// Returns the pending search of unopened files, for a background thread; `None` if there is
    /// none. Its result is handed in as `EngineInput::TaskFinished`.
    pub fn unopened_search(&self) -> Option<UnopenedFileSearch> {
        self.local.unopened_search()
    }

    /// Returns the words that may complete the text at the caret, the most useful first, for the
    /// command that completes a word and cycles through the choices.
    pub fn word_suggestions(&mut self, state: &EditorState) -> Vec<Suggestion> {
        self.local.word_suggestions(state, &mut self.ids)
    }

    /// Returns the weights that the local tier has learned from outcomes, as JSON to be stored.
    /// Contains no text of the user.
    pub fn learned_json(&self) -> Result<String, serde_json::Error> {
        self.local.to_json()
    }

    /// Restores weights stored by `learned_json`. Returns whether `learned` was usable. If it was
    /// not, the initial weights apply.
    pub fn restore_learned(&mut self, learned: &str) -> bool {
        self.local.restore_json(learned)
    }

    /// Returns the problem of the local tier as a sentence for the user; `None` if all of it works.
    pub fn local_problem(&self) -> Option<String> {
        let error = self.local.table_error()?;
        Some(format!("Text from similar code is not suggested: {error}."))
    }

    /// Returns the probability below which a suggestion is not shown unasked.
    pub(super) fn threshold(&self, suggestion: &Suggestion) -> f32 {
        let threshold = self.options.threshold;
        threshold.unwrap_or_else(|| self.local.threshold(&suggestion.source))
    }

    /// Handles the result of a background task.
    pub(super) fn task_finished(&mut self, result: BackgroundResult) {
        self.local.finish(result);
        self.is_local_due = true;
    }

    /// Handles a change of files on disk.
    pub(super) fn files_changed(&mut self, files: &ChangedFiles) {
        self.is_local_due |= self.local.invalidate_changed(&|path| files.contains(path));
    }

    /// Returns whether the suggestions of the local tier may have changed and can be shown.
    pub(super) fn can_query_local(&self) -> bool {
        self.is_local_due && self.options.has_local_tier && self.blocked.is_empty()
    }

    /// Replaces the candidates of the local tier by its suggestions for the current text, if they
    /// may have changed. Returns whether it did.
    pub(super) fn query_local(&mut self) -> bool {
        let can = self.can_query_local();
        self.is_local_due = false;
        let Some(state) = self.state.as_ref().filter(|_| can) else {
            return false;
        };
        let suggestions = if self.is_explicit {
            self.local.requested_suggestions(state, &mut self.ids)
        } else {
            self.local.all_suggestions(state, &mut self.ids)
        };
        self.replace_local(suggestions);
        true
    }

    /// Handles that the file of a cross-file suggestion was opened.
    pub(super) fn entered(&mut self, suggestion: Suggestion) {
        let revision = self.state.as_ref().map(|state| state.snapshot.revision());
        if self.blocked.is_empty() && revision == Some(suggestion.revision) {
            self.replace_local(vec![suggestion]);
        }
    }

    /// Replaces the candidates of the local tier by these, the most useful first.
    pub(super) fn replace_local(&mut self, suggestions: Vec<Suggestion>) {
        let Some(state) = self.state.clone() else {
            return;
        };
        let shown = self
            .candidates
            .get(self.at)
            .map(|candidate| candidate.suggestion.id);
        // The visible suggestion stays, except for a further site of an edit: that edit may have
        // grown, or its file changed.
        let is_suggested_again = |candidate: &SuggestionCandidate| {
            let known = &candidate.suggestion;
            let mut suggestions = suggestions.iter();
            suggestions.any(|it| it.file == known.file && it.edits == known.edits)
        };
        self.candidates.retain(|candidate| {
            let is_shown = Some(candidate.suggestion.id) == shown;
            let source = &candidate.suggestion.source;
            let is_site = matches!(source, SuggestionSource::Propagation { .. });
            is_from_model(source) || is_shown && (!is_site || is_suggested_again(candidate))
        });
        let at = self
            .candidates
            .iter()
            .position(|it| Some(it.suggestion.id) == shown);
        self.at = at.unwrap_or(0);
        for suggestion in suggestions {
            let candidate = SuggestionCandidate::new(suggestion, None, self.now);
            match &candidate.suggestion.file {
                Some(file) if Some(file) != state.path.as_ref() => self.add_cross_file(candidate),
                _ => {
                    self.add(&state, candidate);
                }
            }
        }
    }

    /// Adds a suggestion for another file, which only the local tier could validate.
    fn add_cross_file(&mut self, candidate: SuggestionCandidate) {
        let is_known =
            |known: &SuggestionCandidate| known.suggestion.edits == candidate.suggestion.edits;
        if self.candidates.len() < MAX_ALTERNATIVES && !self.candidates.iter().any(is_known) {
            self.candidates.push(candidate);
        }
    }
}
