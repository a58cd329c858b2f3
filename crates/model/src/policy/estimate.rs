//! Estimates token counts from byte counts and from the counts that providers report.

use crate::TokenCount;

/// Bytes per token before any observation: prose has four or more, code about three, and non-Latin
/// scripts about three as well, since their letters take three bytes.
const BYTES_PER_TOKEN: f64 = 3.0;
/// Weight of this initial guess, in tokens.
const PRIOR_TOKENS: f64 = 2_000.0;
/// Maximum weight of past observations, in tokens; older ones fade.
const MAX_WEIGHT: f64 = 200_000.0;
/// Safety factor, since an underestimate exceeds rate limits.
const MARGIN: f64 = 1.1;

/// Estimates the tokens of a text from its bytes for one model, calibrated by the usage that the
/// provider reports.
#[derive(Clone, Debug)]
pub struct TokenEstimator {
    bytes: f64,
    tokens: f64,
}

impl Default for TokenEstimator {
    fn default() -> Self {
        Self {
            bytes: PRIOR_TOKENS * BYTES_PER_TOKEN,
            tokens: PRIOR_TOKENS,
        }
    }
}

impl TokenEstimator {
    /// Estimates the tokens of a text of `bytes` bytes. The estimate is a tenth above the average,
    /// and at most `bytes`.
    pub fn estimate(&self, bytes: u64) -> TokenCount {
        let tokens = bytes as f64 * (self.tokens / self.bytes) * MARGIN;
        // A token has at least one byte.
        TokenCount((tokens.ceil() as u64).min(bytes))
    }

    /// Records that a request of `bytes` had `tokens`, as counted by the provider. Ignores
    /// impossible counts, and returns whether the count is possible.
    pub fn observe(&mut self, bytes: u64, tokens: TokenCount) -> bool {
        if bytes == 0 || tokens.0 == 0 || tokens.0 > bytes || bytes / tokens.0 > 50 {
            return false;
        }
        self.bytes += bytes as f64;
        self.tokens += tokens.0 as f64;
        if self.tokens > MAX_WEIGHT {
            let fade = MAX_WEIGHT / self.tokens;
            self.bytes *= fade;
            self.tokens *= fade;
        }
        true
    }
}

#[cfg(test)]
mod tests;
