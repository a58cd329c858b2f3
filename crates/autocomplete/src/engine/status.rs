//! State of Tab, as data and as a sentence for the status bar.

use std::fmt;
use std::time::Duration;

use model::ModelId;

use super::{BlockReason, CompletionEngine, is_from_model};
use crate::SuggestionSource;
use crate::validate::RejectReason;

/// Current state of Tab, for display: blocked, shown, asking a model, failed, or idle with a
/// reason.
#[derive(Clone, Debug, PartialEq)]
pub enum CompletionStatus {
    /// Suggestions are currently blocked.
    Blocked(BlockReason),
    /// A suggestion is visible.
    Shown {
        /// Origin of the suggestion.
        source: SuggestionSource,
        /// Time from request to display; `None` if it was known at once.
        took: Option<Duration>,
    },
    /// A model request is in flight.
    Asking {
        /// Model that is queried.
        model: ModelId,
    },
    /// The last request failed.
    Failed {
        /// Model that was queried.
        model: ModelId,
        /// Cause, as a sentence.
        message: String,
    },
    /// No suggestion is visible.
    Idle {
        /// Model that would be queried; `None` with the local tier alone.
        model: Option<ModelId>,
        /// Reason why nothing is shown.
        why: IdleReason,
    },
}

/// Reason why nothing is shown although suggestions are not blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdleReason {
    /// Nothing was typed yet that could be completed.
    Waiting,
    /// No source had a suggestion.
    NothingToSay,
    /// The suggestions are too unlikely to be kept.
    Unlikely,
    /// The suggestion failed validation.
    Refused(RejectReason),
}

impl CompletionEngine {
    /// Returns the state of Tab for display. A block takes precedence over a visible suggestion,
    /// and a visible suggestion over a request or a failure.
    pub fn status(&self) -> CompletionStatus {
        if let Some(why) = self.blocked.first() {
            return CompletionStatus::Blocked(*why);
        }
        if let Some(visible) = &self.visible {
            let id = visible.suggestion.id;
            let candidate = self.candidates.iter().find(|it| it.suggestion.id == id);
            return CompletionStatus::Shown {
                source: visible.suggestion.source.clone(),
                took: candidate.and_then(|candidate| candidate.took),
            };
        }
        let model = self.options.model.as_ref().map(|model| model.id.clone());
        match (&model, &self.failed) {
            (Some(model), _) if self.is_asking() => CompletionStatus::Asking {
                model: model.clone(),
            },
            (Some(model), Some(message)) => CompletionStatus::Failed {
                model: model.clone(),
                message: message.clone(),
            },
            _ => CompletionStatus::Idle {
                model,
                why: match (&self.refused, self.asked_for) {
                    _ if !self.candidates.is_empty() => IdleReason::Unlikely,
                    (Some(refused), _) => IdleReason::Refused(refused.clone()),
                    (None, Some(_)) => IdleReason::NothingToSay,
                    (None, None) => IdleReason::Waiting,
                },
            },
        }
    }
}

impl fmt::Display for CompletionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(why) => write!(f, "Nothing is suggested: {why}."),
            Self::Shown { source, took } => {
                f.write_str("Suggested by ")?;
                match source {
                    SuggestionSource::Propagation { places: 1 } => {
                        f.write_str("your previous edits")?
                    }
                    SuggestionSource::Propagation { places } => {
                        write!(f, "your previous edits, {places} places")?;
                    }
                    SuggestionSource::Continuation => {
                        f.write_str("similar code elsewhere in the project")?
                    }
                    SuggestionSource::Syntax => f.write_str("the syntax")?,
                    SuggestionSource::Gap(model) | SuggestionSource::NextEdit(model) => {
                        write!(f, "{model}")?
                    }
                }
                match took {
                    Some(took) => write!(f, " in {} ms.", took.as_millis()),
                    None if is_from_model(source) => f.write_str(", cached."),
                    None => f.write_str("."),
                }
            }
            Self::Asking { model } => write!(f, "Querying {model}."),
            Self::Failed { model, message } => write!(f, "{model} failed: {message}"),
            Self::Idle { model, why } => {
                match why {
                    IdleReason::Waiting => f.write_str("Waiting for you to type")?,
                    IdleReason::NothingToSay => f.write_str("Nothing to suggest here")?,
                    IdleReason::Unlikely => f.write_str("Nothing likely enough to suggest here")?,
                    IdleReason::Refused(why) => write!(f, "A suggestion was rejected: {why}")?,
                }
                match model {
                    Some(model) => write!(f, "; {model} is queried."),
                    None => f.write_str("; no model is queried."),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
