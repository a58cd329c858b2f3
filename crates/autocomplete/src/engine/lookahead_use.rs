//! Usefulness of the text after a suggestion that is typed to its end.
//!
//! Some models end each response where the user stops as well; text that they add afterwards is not
//! used. Others end in the middle, as at a limit of their length. The engine measures it: it
//! requests such text while enough of it is used, and otherwise tries from time to time.

use crate::cache::CaretText;

/// Weight of the newest request in the moving average.
const WEIGHT: f32 = 0.1;
/// Minimum fraction of used texts at which one is worth a request.
const MIN_USED: f32 = 0.2;
/// Number of opportunities of which one is tried nevertheless.
const MAX_SKIPPED: u32 = 16;

/// Observations of requested texts since the model was chosen.
#[derive(Clone, Debug)]
pub(super) struct LookaheadUse {
    /// Moving average of the fraction that was used.
    rate: f32,
    /// Number of opportunities skipped since the last request.
    skipped: u32,
    /// Position of the last request; `None` once it was used.
    position: Option<CaretText>,
}

impl Default for LookaheadUse {
    fn default() -> Self {
        Self {
            rate: 0.5,
            skipped: 0,
            position: None,
        }
    }
}

impl LookaheadUse {
    /// Whether the text after a finished suggestion is worth a request. Counts the opportunity.
    pub(super) fn is_worthwhile(&mut self) -> bool {
        let is_worthwhile = self.rate >= MIN_USED || self.skipped + 1 >= MAX_SKIPPED;
        self.skipped = if is_worthwhile { 0 } else { self.skipped + 1 };
        is_worthwhile
    }

    /// Records that the text at a position was requested.
    pub(super) fn requested(&mut self, position: CaretText) {
        self.rate -= WEIGHT * self.rate;
        self.position = Some(position);
    }

    /// Records that the user typed the first `bytes` of a model's suggestion, or accepted it with
    /// none of it typed, which led to the position `now`.
    pub(super) fn suggestion_used(&mut self, bytes: usize, now: impl FnOnce() -> CaretText) {
        let Some(position) = &self.position else {
            return;
        };
        let now = now();
        let typed = position.typed_since(&now);
        if typed.is_some_and(|typed| typed.len() == bytes) {
            self.rate += WEIGHT;
            self.position = None;
        }
    }
}

#[cfg(test)]
mod tests;
