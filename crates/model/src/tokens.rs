//! Token counts and usage.

use serde::{Deserialize, Serialize};

/// A number of tokens, counted by the model's tokenizer or estimated.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TokenCount(pub u64);

/// Usage of one request. The kinds never overlap: the prompt is `input + cache_read +
/// cache_write_5m + cache_write_1h`, and everything written is `output`, regardless of how the wire
/// counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens neither read from nor written to a cache.
    pub input: TokenCount,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: TokenCount,
    /// Prompt tokens written to a five-minute cache.
    pub cache_write_5m: TokenCount,
    /// Prompt tokens written to a one-hour cache.
    pub cache_write_1h: TokenCount,
    /// Output tokens, reasoning included.
    pub output: TokenCount,
    /// The part of `output` that was reasoning.
    pub reasoning: TokenCount,
    /// The part of `output` that the model took over from the request's prediction.
    #[serde(default)]
    pub accepted_prediction: TokenCount,
    /// The part of `output` that was predicted and is missing from the answer. It is billed like
    /// the rest of the output.
    #[serde(default)]
    pub rejected_prediction: TokenCount,
}

impl TokenCount {
    /// Returns the saturating sum.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, at least zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
