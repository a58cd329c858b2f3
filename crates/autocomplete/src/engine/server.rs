//! The model's server as observed: its latencies, and whether it processes one request at a time.
//!
//! A server that processes requests in parallel sometimes completes a later request before an
//! earlier one, or right after it. One that processes them in turn never does: between two
//! completions lies the time that the later one takes.

use std::time::Duration;

use super::in_flight::ActiveRequest;

/// Maximum number of latencies kept.
const REMEMBERED: usize = 32;
/// Assumed latency before the first measurement.
const USUAL: Duration = Duration::from_millis(300);
/// Number of overlapping requests, completed in turn, after which the server counts as serial.
const TURNS: u32 = 8;
/// Requests completed within this part of the shortest latency were processed in parallel.
const SHARE_OF_SHORTEST: u32 = 4;

/// Observations of the server since the model was chosen.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerObservation {
    latencies: Latencies,
    /// Times at which the last completed request was sent and completed.
    last: Option<(Duration, Duration)>,
    /// Number of overlapping requests that were completed in turn.
    turns: u32,
    /// Whether requests were completed that can only have been processed in parallel.
    is_parallel: bool,
}

/// Latencies of recent responses.
#[derive(Clone, Debug, Default)]
struct Latencies {
    latest: Vec<Duration>,
    next: usize,
}

impl ServerObservation {
    /// Records that a request was completed at `now` while `others` were in flight.
    pub(super) fn completed(
        &mut self,
        request: &ActiveRequest,
        others: &[ActiveRequest],
        now: Duration,
    ) {
        let asked = request.asked;
        let has_overtaken = others.iter().any(|other| other.asked < asked);
        let gap = self
            .last
            .filter(|(sent, completed)| *sent < asked && asked < *completed)
            .map(|(_, completed)| now.saturating_sub(completed));
        let shortest = self.latencies.percentile(0);
        let is_at_once = gap.is_some_and(|gap| gap * SHARE_OF_SHORTEST < shortest);
        self.is_parallel |= has_overtaken || is_at_once;
        self.turns += u32::from(gap.is_some());
        self.last = Some((asked, now));
        self.latencies.note(now.saturating_sub(asked));
    }

    /// Whether the server appears to process one request at a time.
    pub(super) fn is_serial(&self) -> bool {
        !self.is_parallel && self.turns >= TURNS
    }

    /// Returns the given percentile of the recent latencies.
    pub(super) fn latency(&self, percent: usize) -> Duration {
        self.latencies.percentile(percent)
    }
}

impl Latencies {
    fn note(&mut self, took: Duration) {
        match self.latest.get_mut(self.next) {
            Some(slot) => *slot = took,
            None => self.latest.push(took),
        }
        self.next = (self.next + 1) % REMEMBERED;
    }

    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latest.clone();
        sorted.sort_unstable();
        let ix = sorted.len() * percent / 100;
        sorted
            .get(ix.min(sorted.len().saturating_sub(1)))
            .copied()
            .unwrap_or(USUAL)
    }
}

#[cfg(test)]
mod tests;
