//! Expected latency of a route, from recent answers.

use std::collections::VecDeque;
use std::time::Duration;

use crate::TokenCount;

/// Weight of the newest observation.
const WEIGHT: f64 = 0.2;
/// Number of observations kept for the quantile.
const MAX_SAMPLES: usize = 64;

/// Moving averages of one route: time to the first token, and output speed. Both are unknown until
/// the first observation.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    first_token: Option<f64>,
    tokens_per_second: Option<f64>,
    /// Times to the first token in seconds, oldest first; at most `MAX_SAMPLES`.
    recent: VecDeque<f64>,
}

impl Latency {
    /// Records a time to the first token.
    pub fn observe_first_token(&mut self, wait: Duration) {
        let wait = wait.as_secs_f64();
        self.first_token = Some(blend(self.first_token, wait));
        if self.recent.len() == MAX_SAMPLES {
            self.recent.pop_front();
        }
        self.recent.push_back(wait);
    }

    /// Records an answer of `tokens` that streamed for `streaming` after its first token. Ignores
    /// short answers, which are too noisy.
    pub fn observe_answer(&mut self, tokens: TokenCount, streaming: Duration) {
        if tokens.0 < 16 || streaming < Duration::from_millis(1) {
            return;
        }
        let speed = tokens.0 as f64 / streaming.as_secs_f64();
        self.tokens_per_second = Some(blend(self.tokens_per_second, speed));
    }

    /// Returns the moving average of the time to the first token, or `None` without observations.
    pub fn first_token(&self) -> Option<Duration> {
        self.first_token.map(Duration::from_secs_f64)
    }

    /// Returns the moving average of the output speed in tokens per second, or `None` without
    /// observations.
    pub fn tokens_per_second(&self) -> Option<f64> {
        self.tokens_per_second
    }

    /// Returns the expected time from sending to the end of an answer of `output` tokens. Returns
    /// `None` if no time to a first token was observed, and only that time if no speed was
    /// observed.
    pub fn expected(&self, output: TokenCount) -> Option<Duration> {
        let stream = match self.tokens_per_second {
            Some(speed) => output.0 as f64 / speed,
            None => 0.0,
        };
        let seconds = self.first_token? + stream;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Returns the 95th percentile of the time to the first token: for Tab, a second request after
    /// this time is worth its price. `None` with fewer than 20 observations.
    pub fn first_token_p95(&self) -> Option<Duration> {
        if self.recent.len() < 20 {
            return None;
        }
        let mut sorted: Vec<f64> = self.recent.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * 95).div_ceil(100) - 1;
        Some(Duration::from_secs_f64(sorted[rank]))
    }
}

/// Moves an average toward a new observation by the share `WEIGHT`; the first observation is the
/// average.
fn blend(average: Option<f64>, new: f64) -> f64 {
    match average {
        Some(average) => average + WEIGHT * (new - average),
        None => new,
    }
}

#[cfg(test)]
mod tests;
