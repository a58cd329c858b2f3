//! Something that could be shown, and how it is taken along.

use std::time::Duration;

use text::Change;

use super::RequestId;
use crate::{Fate, Scene, Source, Suggestion};

/// Something that could be shown.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) suggestion: Suggestion,
    /// From asking to having it.
    pub(super) took: Option<Duration>,
    /// Chars that were typed of it.
    pub(super) typed: usize,
    /// Whether the person was shown it.
    pub(super) was_shown: bool,
    /// The request whose first lines it is, while more of them may come.
    pub(super) partial: Option<RequestId>,
    /// Since when nothing happened to it.
    pub(super) since: Duration,
    /// Whether the text behind taking it was asked for.
    pub(super) has_looked_ahead: bool,
}

impl Offer {
    pub(super) fn new(suggestion: Suggestion, took: Option<Duration>, now: Duration) -> Self {
        Self {
            suggestion,
            took,
            typed: 0,
            was_shown: false,
            partial: None,
            since: now,
            has_looked_ahead: false,
        }
    }

    /// Takes it along a change of the text in front.
    pub(super) fn follow(&mut self, change: &Change, scene: &Scene) -> Fate {
        // Those for other files are told anew by the local tier.
        if self.suggestion.file.is_some() {
            return Fate::Dropped;
        }
        let before = self.chars();
        let fate = self.suggestion.follow(change, &scene.snapshot);
        let is_away = goes_on(&self.suggestion.source)
            && matches!(fate, Fate::Moved | Fate::Consumed)
            && self.suggestion.start() != scene.caret;
        if is_away {
            return Fate::Dropped;
        }
        if fate == Fate::Consumed {
            self.typed += before.saturating_sub(self.chars());
        }
        fate
    }

    /// How many chars it brings in.
    pub(super) fn chars(&self) -> usize {
        let edits = self.suggestion.edits.iter();
        edits.map(|edit| edit.new.chars().count()).sum()
    }
}

/// Whether suggestions from there go on from the caret, and nowhere else.
pub(super) fn goes_on(source: &Source) -> bool {
    matches!(
        source,
        Source::Gap(_) | Source::Continuation | Source::Syntax
    )
}
