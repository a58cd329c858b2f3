//! How long a lane takes, from what it took lately.

use std::collections::VecDeque;
use std::time::Duration;

use crate::TokenCount;

/// The weight of the newest observation.
const WEIGHT: f64 = 0.2;
/// Observations kept for the quantile.
const KEPT: usize = 64;

/// Moving averages of one lane.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    first_token: Option<f64>,
    tokens_per_second: Option<f64>,
    /// Times to the first token in seconds, oldest first; at most `KEPT`.
    recent: VecDeque<f64>,
}

impl Latency {
    /// The first token came after `wait`.
    pub fn observe_first_token(&mut self, wait: Duration) {
        let wait = wait.as_secs_f64();
        self.first_token = Some(blend(self.first_token, wait));
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(wait);
    }

    /// An answer of `tokens` streamed for `streaming` after its first token. Short ones say nothing and are
    /// passed over.
    pub fn observe_answer(&mut self, tokens: TokenCount, streaming: Duration) {
        if tokens.0 < 16 || streaming < Duration::from_millis(1) {
            return;
        }
        let speed = tokens.0 as f64 / streaming.as_secs_f64();
        self.tokens_per_second = Some(blend(self.tokens_per_second, speed));
    }

    /// The average time to the first token.
    pub fn first_token(&self) -> Option<Duration> {
        self.first_token.map(Duration::from_secs_f64)
    }

    /// The average speed of an answer.
    pub fn tokens_per_second(&self) -> Option<f64> {
        self.tokens_per_second
    }

    /// How long an answer of `output` tokens is expected to take. `None` before anything was observed.
    pub fn expected(&self, output: TokenCount) -> Option<Duration> {
        let stream = match self.tokens_per_second {
            Some(speed) => output.0 as f64 / speed,
            None => 0.0,
        };
        let seconds = self.first_token? + stream;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// The time within which 95 of 100 first tokens came: a second request after it is worth its price for
    /// Tab. `None` before there are 20 observations.
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

fn blend(average: Option<f64>, new: f64) -> f64 {
    match average {
        Some(average) => average + WEIGHT * (new - average),
        None => new,
    }
}

#[cfg(test)]
mod tests;
