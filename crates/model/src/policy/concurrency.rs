//! Limits concurrent requests per route by additive increase and multiplicative decrease.

use crate::MonotonicTime;

/// Concurrency limit of one route and its requests in flight.
///
/// Invariant: the limit stays between 1 and `max`.
#[derive(Clone, Debug)]
pub struct Concurrency {
    limit: f64,
    max: f64,
    in_flight: u32,
    halved_at: Option<MonotonicTime>,
}

impl Concurrency {
    /// Creates a limit that starts at `start` and never exceeds `max`; both are at least one.
    pub fn new(start: u32, max: u32) -> Self {
        let max = f64::from(max.max(1));
        Self {
            limit: f64::from(start.max(1)).min(max),
            max,
            in_flight: 0,
            halved_at: None,
        }
    }

    /// Returns the current maximum number of concurrent requests, rounded down.
    pub fn limit(&self) -> u32 {
        self.limit as u32
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns whether one more request may start. Does not count a request as started.
    pub fn has_room(&self) -> bool {
        self.in_flight < self.limit()
    }

    /// Records a started request. The caller has checked `has_room`, or ignores the limit, as for
    /// Tab.
    pub fn start(&mut self) {
        self.in_flight += 1;
    }

    /// Records a successful request; the limit grows by one per full round of requests.
    pub fn succeeded(&mut self) {
        // A limit that is not reached teaches nothing, so it doesn't grow.
        if self.in_flight >= self.limit() {
            self.limit = (self.limit + 1.0 / self.limit).min(self.max);
        }
        self.finish_one();
    }

    /// Records a request, started at `started`, that was refused by a limit or an overload: the
    /// limit halves. Requests sent before the last halving met the same overload and do not halve
    /// it again.
    pub fn overloaded(&mut self, started: MonotonicTime, now: MonotonicTime) {
        if self.halved_at.is_none_or(|halved_at| started >= halved_at) {
            self.limit = (self.limit / 2.0).max(1.0);
            self.halved_at = Some(now);
        }
        self.finish_one();
    }

    /// Records a request that ended without information about load: cancelled or invalid.
    pub fn ended_neutrally(&mut self) {
        self.finish_one();
    }

    fn finish_one(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
