//! Ranks all kinds of suggestions by a probability learned from the ones this user keeps.
//!
//! A logistic regression that starts from the sources' own probabilities and is updated a little
//! with every outcome. The display threshold rises while few suggestions are kept and falls while
//! many are.
//!
//! Must not know: the text of suggestions, beyond its length and position.

use serde::{Deserialize, Serialize};

/// Features of a suggestion before it is shown, from which `Ranker` computes its probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankFeatures {
    pub(crate) kind: SuggestionKind,
    /// Probability estimated by its source, from 0 to 1.
    pub(crate) likelihood: f32,
    /// Bytes inserted or removed, whichever is more.
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
    /// Whether only blanks precede the caret in its row.
    pub(crate) is_row_start: bool,
    /// Whether the caret is in a string or a comment.
    pub(crate) is_prose: bool,
}

/// Origin of a local suggestion: a repeated edit, similar code, or syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuggestionKind {
    Propagation,
    Continuation,
    Syntax,
}

const FEATURES: usize = 9;

/// Assumed share of shown suggestions that are kept, before any outcome is known.
const FIRST_KEPT: f32 = 0.45;

/// Learning rate per outcome.
const RATE: f32 = 0.08;

/// Strength of the pull towards the initial weights.
const PULL: f32 = 0.002;

/// Maximum distance of a weight from its initial value, so that no source can be disabled
/// permanently.
const MAX_WEIGHT_SHIFT: f32 = 3.0;

/// Weight of one outcome in the moving average of kept suggestions.
const FORGETTING: f32 = 0.04;

/// Initial weights: the source's own probability.
const FIRST: [f32; FEATURES] = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// A logistic model of whether the user keeps a suggestion, with its learned weights. Stored as
/// JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ranker {
    /// Version of the features; state of another version is unusable.
    version: u32,
    weights: [f32; FEATURES],
    /// Moving average of the share of shown suggestions that were kept.
    kept: f32,
    /// Number of outcomes recorded.
    answers: u32,
}

const VERSION: u32 = 2;

impl Default for Ranker {
    fn default() -> Self {
        Self {
            version: VERSION,
            weights: FIRST,
            kept: FIRST_KEPT,
            answers: 0,
        }
    }
}

impl Ranker {
    /// Returns the probability that a suggestion is kept, from 0 to 1.
    pub(crate) fn likelihood(&self, case: &RankFeatures) -> f32 {
        let sum: f32 = case
            .features()
            .iter()
            .zip(&self.weights)
            .map(|(x, w)| x * w)
            .sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// Returns the probability, from 0.2 to 0.9, below which suggestions are not shown; `first`
    /// before any outcome. The more of the shown suggestions the user keeps, the lower this
    /// threshold.
    pub(crate) fn threshold(&self, first: f32) -> f32 {
        (first + 0.6 * (FIRST_KEPT - self.kept)).clamp(0.2, 0.9)
    }

    /// Learns from one outcome. `weight` is its significance, from 0 to 1.
    pub(crate) fn learn(&mut self, case: &RankFeatures, was_kept: bool, weight: f32) {
        let target = if was_kept { 1.0 } else { 0.0 };
        let error = target - self.likelihood(case);
        for ((own, first), x) in self.weights.iter_mut().zip(FIRST).zip(case.features()) {
            *own += weight * RATE * error * x - PULL * (*own - first);
            *own = own.clamp(first - MAX_WEIGHT_SHIFT, first + MAX_WEIGHT_SHIFT);
        }
        self.kept += weight * FORGETTING * (target - self.kept);
        self.answers = self.answers.saturating_add(1);
    }

    /// Returns the learned state as JSON, for `from_json`.
    pub(crate) fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Restores stored state; `None` if it is invalid or from another version.
    pub(crate) fn from_json(json: &str) -> Option<Self> {
        let stored: Self = serde_json::from_str(json).ok()?;
        let makes_sense = stored.version == VERSION
            && (0.0..=1.0).contains(&stored.kept)
            && stored
                .weights
                .iter()
                .zip(FIRST)
                .all(|(own, first)| (own - first).abs() <= MAX_WEIGHT_SHIFT);
        makes_sense.then_some(stored)
    }
}

impl RankFeatures {
    /// Returns the inputs of the regression, in the order of its weights. The first is the constant
    /// 1.
    fn features(&self) -> [f32; FEATURES] {
        let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        let likelihood = self.likelihood.clamp(0.01, 0.99);
        [
            1.0,
            (likelihood / (1.0 - likelihood)).ln(),
            flag(self.kind == SuggestionKind::Propagation),
            flag(self.kind == SuggestionKind::Continuation),
            flag(self.kind == SuggestionKind::Syntax),
            (1.0 + self.bytes as f32).ln() / 4.0,
            flag(self.lines > 1),
            flag(self.is_row_start),
            flag(self.is_prose),
        ]
    }
}

#[cfg(test)]
mod tests;
