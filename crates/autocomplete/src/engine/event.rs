//! Tab events that are recorded in the ledger.

use std::time::Duration;

use crate::validate::RejectReason;
use crate::{AcceptGranularity, SuggestionId, SuggestionSource};

/// A ledger event: a suggestion shown or refused, its outcome, or how much of it was kept later.
/// `EngineEffect::Note` carries it.
#[derive(Clone, Debug, PartialEq)]
pub enum TabEvent {
    /// A suggestion became visible.
    Shown {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
        /// Number of characters it inserts.
        chars: usize,
        /// Time from request to display; `None` if it was known already.
        took: Option<Duration>,
    },
    /// The user accepted it, whole or in part.
    Accepted {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
        /// Amount that was accepted.
        part: AcceptGranularity,
        /// Number of characters inserted.
        chars: usize,
    },
    /// The user typed all of it.
    Typed {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
    },
    /// The user dismissed it.
    Dismissed {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
    },
    /// The user did something else.
    Ignored {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
        /// Number of its characters that were typed before.
        typed: usize,
    },
    /// Validation refused a model's suggestion. Each refused text is reported once, although it is
    /// validated again after every key.
    Refused {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
        /// Reason why it is not shown.
        reason: RejectReason,
        /// The new text of its edits.
        text: String,
    },
    /// Measures how much of an accepted suggestion remains.
    Kept {
        /// Identifier of the suggestion.
        id: SuggestionId,
        /// Origin of the suggestion.
        source: SuggestionSource,
        /// Time since it was accepted.
        after: Duration,
        /// Number of bytes inserted.
        bytes: usize,
        /// Number of those bytes that remain.
        kept: usize,
    },
}

impl TabEvent {
    /// Returns the identifier of the suggestion.
    pub fn id(&self) -> SuggestionId {
        match self {
            Self::Shown { id, .. }
            | Self::Accepted { id, .. }
            | Self::Typed { id, .. }
            | Self::Dismissed { id, .. }
            | Self::Ignored { id, .. }
            | Self::Refused { id, .. }
            | Self::Kept { id, .. } => *id,
        }
    }
}
