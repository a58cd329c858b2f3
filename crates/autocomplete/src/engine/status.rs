//! What Tab is doing, in data and in a sentence.

use std::fmt;
use std::time::Duration;

use model::ModelId;

use super::{Blocked, Engine, is_remote};
use crate::Source;
use crate::validate::Refused;

/// What Tab is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It may show nothing.
    Blocked(Blocked),
    /// A suggestion is shown.
    Shown {
        /// Where it comes from.
        source: Source,
        /// From asking to showing; none if it was there at once.
        took: Option<Duration>,
    },
    /// A model is being asked.
    Asking {
        /// Which one.
        model: ModelId,
    },
    /// The last request failed.
    Failed {
        /// Whom it went to.
        model: ModelId,
        /// Why, as a sentence.
        message: String,
    },
    /// Nothing is shown.
    Idle {
        /// Who would be asked; nobody if only the local tier works.
        model: Option<ModelId>,
        /// Why nothing is shown.
        why: Idle,
    },
}

/// Why nothing is shown although it could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing was typed yet that something could follow.
    Waiting,
    /// Nobody had anything to say.
    NothingToSay,
    /// What there is is not likely enough to be kept.
    Unlikely,
    /// What was said may not be shown.
    Refused(Refused),
}

/// How long answers took lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    latest: Vec<Duration>,
    next: usize,
}

/// How many are remembered.
const REMEMBERED: usize = 32;
/// What is expected before anything is known.
const USUAL: Duration = Duration::from_millis(300);

impl Latencies {
    pub(super) fn note(&mut self, took: Duration) {
        match self.latest.get_mut(self.next) {
            Some(slot) => *slot = took,
            None => self.latest.push(took),
        }
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// So many of a hundred answers took at most this long.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latest.clone();
        sorted.sort_unstable();
        let ix = sorted.len() * percent / 100;
        sorted
            .get(ix.min(sorted.len().saturating_sub(1)))
            .copied()
            .unwrap_or(USUAL)
    }
}

impl Engine {
    /// What Tab is doing.
    pub fn status(&self) -> Status {
        if let Some(why) = self.blocked.first() {
            return Status::Blocked(*why);
        }
        if let Some(told) = &self.told {
            let id = told.suggestion.id;
            let offer = self.offers.iter().find(|it| it.suggestion.id == id);
            return Status::Shown {
                source: told.suggestion.source.clone(),
                took: offer.and_then(|offer| offer.took),
            };
        }
        let model = self.options.model.as_ref().map(|model| model.id.clone());
        match (&model, &self.failed) {
            (Some(model), _) if !self.flights.is_empty() => Status::Asking {
                model: model.clone(),
            },
            (Some(model), Some(message)) => Status::Failed {
                model: model.clone(),
                message: message.clone(),
            },
            _ => Status::Idle {
                model,
                why: match (&self.refused, self.asked_for) {
                    _ if !self.offers.is_empty() => Idle::Unlikely,
                    (Some(refused), _) => Idle::Refused(refused.clone()),
                    (None, Some(_)) => Idle::NothingToSay,
                    (None, None) => Idle::Waiting,
                },
            },
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(why) => write!(f, "Nothing is suggested: {why}."),
            Self::Shown { source, took } => {
                f.write_str("Suggested by ")?;
                match source {
                    Source::Propagation { places: 1 } => f.write_str("your edits before")?,
                    Source::Propagation { places } => {
                        write!(f, "your edits before, {places} places")?;
                    }
                    Source::Continuation => f.write_str("the like elsewhere in the project")?,
                    Source::Syntax => f.write_str("the grammar")?,
                    Source::Gap(model) | Source::NextEdit(model) => write!(f, "{model}")?,
                }
                match took {
                    Some(took) => write!(f, " in {} ms.", took.as_millis()),
                    None if is_remote(source) => f.write_str(", known before."),
                    None => f.write_str("."),
                }
            }
            Self::Asking { model } => write!(f, "Asking {model}."),
            Self::Failed { model, message } => write!(f, "{model} cannot be asked: {message}"),
            Self::Idle { model, why } => {
                match why {
                    Idle::Waiting => f.write_str("Waits for you to type")?,
                    Idle::NothingToSay => f.write_str("Nothing to suggest here")?,
                    Idle::Unlikely => f.write_str("Nothing likely enough to suggest here")?,
                    Idle::Refused(why) => write!(f, "A suggestion was left out: {why}")?,
                }
                match model {
                    Some(model) => write!(f, "; {model} is asked."),
                    None => f.write_str("; no model is asked."),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
