//! One ranking over all kinds of suggestions, learned from what this person keeps.
//!
//! A logistic regression that starts with the sources' own likelihoods and moves a little with every answer. The
//! threshold for showing rises while little is kept and falls while much is.
//! Must not know: what the suggestions say, beyond their length and their place.

use serde::{Deserialize, Serialize};

/// What is known of a suggestion before it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    /// As its source says, from 0 to 1.
    pub(crate) likelihood: f32,
    /// The bytes that it brings in or takes away.
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
    /// Whether nothing stands before the caret in its row.
    pub(crate) is_row_start: bool,
    /// Whether the caret is in a string or a comment.
    pub(crate) is_prose: bool,
}

/// Where a suggestion comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Propagation,
    Continuation,
    Syntax,
}

const FEATURES: usize = 9;

/// What is shown to begin with. On replayed commits 0.35 shows fewer wrong ones and saves fewer keys; the
/// answers of a person who keeps little lead there.
const FIRST_THRESHOLD: f32 = 0.25;

/// The share of what is shown that is taken to be kept before there are answers.
const FIRST_KEPT: f32 = 0.45;

/// How far one answer moves a weight.
const RATE: f32 = 0.08;

/// How strongly the weights are drawn back to where they began.
const PULL: f32 = 0.002;

/// Weights stay within this distance of where they began, so that a bad day cannot switch a source off for ever.
const MOST_MOVED: f32 = 3.0;

/// How much one answer counts in the rate of what is kept.
const FORGETTING: f32 = 0.04;

/// The weights to begin with: what the source says, and prose is guessed worse than code.
const FIRST: [f32; FEATURES] = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.5];

/// What was learned, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ranker {
    /// Grows when the features change; what was learned of others is of no use.
    version: u32,
    weights: [f32; FEATURES],
    /// The share of what was shown that was kept, the last answers counting most.
    kept: f32,
    /// How many answers were heard.
    answers: u32,
}

const VERSION: u32 = 1;

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
    /// How likely a suggestion is kept, from 0 to 1.
    pub(crate) fn likelihood(&self, case: &Case) -> f32 {
        let sum: f32 = case
            .features()
            .iter()
            .zip(&self.weights)
            .map(|(x, w)| x * w)
            .sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// Suggestions that are less likely than this are not shown.
    pub(crate) fn threshold(&self) -> f32 {
        (FIRST_THRESHOLD + 0.6 * (FIRST_KEPT - self.kept)).clamp(0.2, 0.7)
    }

    /// Learns from one answer. `weight` is how much it tells, from 0 to 1.
    pub(crate) fn learn(&mut self, case: &Case, was_kept: bool, weight: f32) {
        let target = if was_kept { 1.0 } else { 0.0 };
        let error = target - self.likelihood(case);
        for ((own, first), x) in self.weights.iter_mut().zip(FIRST).zip(case.features()) {
            *own += weight * RATE * error * x - PULL * (*own - first);
            *own = own.clamp(first - MOST_MOVED, first + MOST_MOVED);
        }
        self.kept += weight * FORGETTING * (target - self.kept);
        self.answers = self.answers.saturating_add(1);
    }

    pub(crate) fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// What was stored; nothing where it was stored by another version or makes no sense.
    pub(crate) fn from_json(json: &str) -> Option<Self> {
        let stored: Self = serde_json::from_str(json).ok()?;
        let makes_sense = stored.version == VERSION
            && (0.0..=1.0).contains(&stored.kept)
            && stored
                .weights
                .iter()
                .zip(FIRST)
                .all(|(own, first)| (own - first).abs() <= MOST_MOVED);
        makes_sense.then_some(stored)
    }
}

impl Case {
    fn features(&self) -> [f32; FEATURES] {
        let flag = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        let likelihood = self.likelihood.clamp(0.01, 0.99);
        [
            1.0,
            (likelihood / (1.0 - likelihood)).ln(),
            flag(self.kind == Kind::Propagation),
            flag(self.kind == Kind::Continuation),
            flag(self.kind == Kind::Syntax),
            (1.0 + self.bytes as f32).ln() / 4.0,
            flag(self.lines > 1),
            flag(self.is_row_start),
            flag(self.is_prose),
        ]
    }
}

#[cfg(test)]
mod tests;
