//! How many requests a lane bears at once: additive increase, multiplicative decrease.

use crate::Moment;

/// The limit of one lane, and how many requests are under way in it.
///
/// Invariant: the limit stays between 1 and `most`.
#[derive(Clone, Debug)]
pub struct Concurrency {
    limit: f64,
    most: f64,
    in_flight: u32,
    shrunk: Option<Moment>,
}

impl Concurrency {
    /// Starts at `start` requests and never grows beyond `most`; both are at least one.
    pub fn new(start: u32, most: u32) -> Self {
        let most = f64::from(most.max(1));
        Self {
            limit: f64::from(start.max(1)).min(most),
            most,
            in_flight: 0,
            shrunk: None,
        }
    }

    /// How many may be under way at once now.
    pub fn limit(&self) -> u32 {
        self.limit as u32
    }

    /// How many are under way.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether one more may start.
    pub fn has_room(&self) -> bool {
        self.in_flight < self.limit()
    }

    /// One more starts. The caller has asked `has_room`, or sends it in spite of the answer, as for Tab.
    pub fn start(&mut self) {
        self.in_flight += 1;
    }

    /// One ended well: the limit grows by one per round of as many.
    pub fn succeeded(&mut self) {
        // A limit that is not reached teaches nothing, so it doesn't grow.
        if self.in_flight >= self.limit() {
            self.limit = (self.limit + 1.0 / self.limit).min(self.most);
        }
        self.end();
    }

    /// One that started at `started` was refused because of a limit or an overload: the limit halves. Those
    /// sent before the last halving tell of the same overload and do not halve it again.
    pub fn overloaded(&mut self, started: Moment, now: Moment) {
        if self.shrunk.is_none_or(|shrunk| started >= shrunk) {
            self.limit = (self.limit / 2.0).max(1.0);
            self.shrunk = Some(now);
        }
        self.end();
    }

    /// One ended in a way that says nothing about load: cancelled, or wrong in itself.
    pub fn ended(&mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
