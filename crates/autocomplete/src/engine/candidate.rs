//! A suggestion that could be shown, kept up to date while the text changes.

use std::time::Duration;

use text::Change;

use super::RequestId;
use crate::{EditorState, FollowResult, Suggestion, SuggestionSource};

/// A suggestion that could be shown.
#[derive(Clone, Debug)]
pub(super) struct SuggestionCandidate {
    pub(super) suggestion: Suggestion,
    /// Time from request to response.
    pub(super) took: Option<Duration>,
    /// Number of its characters that the user has typed.
    pub(super) typed: usize,
    /// Time at which it first became visible.
    pub(super) shown_at: Option<Duration>,
    /// Request whose first lines it holds, while more may arrive.
    pub(super) partial: Option<RequestId>,
    /// Time since which it is unchanged.
    pub(super) since: Duration,
    /// Whether the text after it has been requested.
    pub(super) has_looked_ahead: bool,
}

impl SuggestionCandidate {
    pub(super) fn new(suggestion: Suggestion, took: Option<Duration>, now: Duration) -> Self {
        Self {
            suggestion,
            took,
            typed: 0,
            shown_at: None,
            partial: None,
            since: now,
            has_looked_ahead: false,
        }
    }

    /// Updates the candidate after a change of the current text.
    pub(super) fn follow(&mut self, change: &Change, state: &EditorState) -> FollowResult {
        // The local tier reports suggestions for other files again after each change.
        if self.suggestion.file.is_some() {
            return FollowResult::Dropped;
        }
        let before = self.chars();
        let result = self.suggestion.follow(change, &state.snapshot);
        let is_away = applies_at_caret(&self.suggestion.source)
            && matches!(result, FollowResult::Moved | FollowResult::Consumed)
            && self.suggestion.start() != state.caret;
        if is_away {
            return FollowResult::Dropped;
        }
        if result == FollowResult::Consumed {
            self.typed += before.saturating_sub(self.chars());
        }
        result
    }

    /// Returns the number of characters it inserts.
    pub(super) fn chars(&self) -> usize {
        let edits = self.suggestion.edits.iter();
        edits.map(|edit| edit.new.chars().count()).sum()
    }
}

/// Whether suggestions of this source apply only at the caret.
pub(super) fn applies_at_caret(source: &SuggestionSource) -> bool {
    matches!(
        source,
        SuggestionSource::Gap(_) | SuggestionSource::Continuation | SuggestionSource::Syntax
    )
}
