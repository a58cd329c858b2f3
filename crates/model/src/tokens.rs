//! Counts of tokens, and what a request used of them.

use serde::{Deserialize, Serialize};

/// A number of tokens, as the model's own tokenizer counts them or as we estimate it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TokenCount(pub u64);

/// What one request used. The kinds never overlap: the prompt is `input + cache_read + cache_write_5m +
/// cache_write_1h`, whatever the wire's own habit of counting is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens neither read from nor written to a cache.
    pub input: TokenCount,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: TokenCount,
    /// Prompt tokens written to a cache that lives five minutes.
    pub cache_write_5m: TokenCount,
    /// Prompt tokens written to a cache that lives an hour.
    pub cache_write_1h: TokenCount,
    /// Tokens written by the model, reasoning included.
    pub output: TokenCount,
    /// The part of `output` that was reasoning.
    pub reasoning: TokenCount,
}

impl TokenCount {
    /// The sum; what does not fit stays at the most.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, at least zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
