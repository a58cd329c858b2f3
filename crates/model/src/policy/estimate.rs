//! How many tokens a text has, told from its bytes and from what providers counted so far.

use crate::TokenCount;

/// Bytes per token before anything was observed: prose has four and more, code about three, and other scripts about
/// three, too, as their letters take three bytes.
const BYTES_PER_TOKEN: f64 = 3.0;
/// Tokens that this first guess weighs.
const GUESS: f64 = 2_000.0;
/// Tokens of observations that are remembered; older ones fade.
const REMEMBERED: f64 = 200_000.0;
/// What is added, as an estimate that is too small overruns limits.
const MARGIN: f64 = 1.1;

/// The estimate for one model, corrected by what it used.
#[derive(Clone, Debug)]
pub struct TokenEstimator {
    bytes: f64,
    tokens: f64,
}

impl Default for TokenEstimator {
    fn default() -> Self {
        Self {
            bytes: GUESS * BYTES_PER_TOKEN,
            tokens: GUESS,
        }
    }
}

impl TokenEstimator {
    /// The tokens of so many bytes, a little too many rather than too few.
    pub fn estimate(&self, bytes: u64) -> TokenCount {
        let tokens = bytes as f64 * (self.tokens / self.bytes) * MARGIN;
        // A token has a byte at least.
        TokenCount((tokens.ceil() as u64).min(bytes))
    }

    /// A request of `bytes` had `tokens`, as the provider counted them. Counts that cannot be are passed over.
    pub fn observe(&mut self, bytes: u64, tokens: TokenCount) {
        if bytes == 0 || tokens.0 == 0 || tokens.0 > bytes || bytes / tokens.0 > 50 {
            return;
        }
        self.bytes += bytes as f64;
        self.tokens += tokens.0 as f64;
        if self.tokens > REMEMBERED {
            let fade = REMEMBERED / self.tokens;
            self.bytes *= fade;
            self.tokens *= fade;
        }
    }
}

#[cfg(test)]
mod tests;
