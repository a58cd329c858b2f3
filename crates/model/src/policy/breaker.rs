//! Circuit breaker: stops sending on a failing route and later probes it with one request.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{FailureClass, MonotonicTime};

/// Number of transient failures within `WINDOW` that opens the breaker.
const FAILURE_THRESHOLD: usize = 5;
const WINDOW: Duration = Duration::from_secs(30);
const OPEN_TIME: Duration = Duration::from_secs(15);
/// An exhausted quota or a rejected key does not recover within seconds.
const ACCOUNT_OPEN_TIME: Duration = Duration::from_secs(300);

/// The circuit breaker of one route. Five transient failures within 30 s open it for 15 s. An
/// exhausted quota, a rejected key or an unknown model opens it for 5 minutes. After that time, one
/// request probes the route.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    /// Times of transient failures within the window, oldest first.
    failures: VecDeque<MonotonicTime>,
    state: BreakerState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BreakerState {
    #[default]
    Closed,
    Open {
        until: MonotonicTime,
    },
    /// One request is in flight to test whether the route has recovered.
    Probing,
}

/// Decision on a request for a route: granted, granted as the probe, or refused with the time of
/// the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerDecision {
    /// The request may be sent.
    Granted,
    /// The request may be sent as the probe of the route; `Breaker::start` claims it.
    Probe,
    /// The request must wait until this time, or for the end of the current probe if `None`.
    Refused {
        /// Time at which a probe will be allowed.
        until: Option<MonotonicTime>,
    },
}

impl BreakerDecision {
    /// Returns whether a request may be sent, as a probe or otherwise.
    pub fn is_granted(self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

impl Breaker {
    /// Returns whether a request may be sent at `now`, without changing the state. Once the open
    /// time has passed, returns `Probe` until a call of `start` claims the probe.
    pub fn decision(&self, now: MonotonicTime) -> BreakerDecision {
        match self.state {
            BreakerState::Closed => BreakerDecision::Granted,
            BreakerState::Open { until } if now >= until => BreakerDecision::Probe,
            BreakerState::Open { until } => BreakerDecision::Refused { until: Some(until) },
            BreakerState::Probing => BreakerDecision::Refused { until: None },
        }
    }

    /// Records the start of a request. Returns whether the request is the probe of an open breaker.
    /// While a probe runs, other requests are refused. Call `succeeded` or `failed` at the end of
    /// every started request.
    pub fn start(&mut self, now: MonotonicTime) -> bool {
        let is_probe = self.decision(now) == BreakerDecision::Probe;
        if is_probe {
            self.state = BreakerState::Probing;
        }
        is_probe
    }

    /// Records an answer, which closes the breaker and forgets earlier failures.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Records a failed request. Invalid requests, our own refusals and rate limits never open the
    /// breaker: the first are not the route's fault, and the rate ledger waits out the last.
    pub fn failed(&mut self, class: FailureClass, now: MonotonicTime) {
        match class {
            FailureClass::Overloaded
            | FailureClass::ServerError
            | FailureClass::Offline
            | FailureClass::Stalled
            | FailureClass::Torn
            | FailureClass::Malformed => self.count(now),
            FailureClass::Quota | FailureClass::Authentication | FailureClass::NoSuchModel => {
                self.open(now + ACCOUNT_OPEN_TIME);
            }
            FailureClass::RateLimited
            | FailureClass::InvalidRequest
            | FailureClass::ContextOverflow => self.answered(),
            FailureClass::Budget | FailureClass::Cancelled => self.abandon(now),
        }
    }

    fn count(&mut self, now: MonotonicTime) {
        if self.state == BreakerState::Probing {
            return self.open(now + OPEN_TIME);
        }
        self.failures.push_back(now);
        while self
            .failures
            .front()
            .is_some_and(|first| now.since(*first) > WINDOW)
        {
            self.failures.pop_front();
        }
        if self.failures.len() >= FAILURE_THRESHOLD && self.state == BreakerState::Closed {
            self.open(now + OPEN_TIME);
        }
    }

    fn open(&mut self, until: MonotonicTime) {
        self.failures.clear();
        self.state = BreakerState::Open { until };
    }

    /// Records a reasoned refusal, which counts as an answer: it ends a probe successfully.
    fn answered(&mut self) {
        if self.state == BreakerState::Probing {
            self.succeeded();
        }
    }

    /// Records a probe that ended without an answer; the next request becomes the probe.
    fn abandon(&mut self, now: MonotonicTime) {
        if self.state == BreakerState::Probing {
            self.state = BreakerState::Open { until: now };
        }
    }

    /// Returns how unhealthy the route is: the share of the failures within 30 s that would open
    /// the breaker, from 0 (no failures) to 1 (open or probing). `decide` uses this value to score
    /// routes.
    pub fn failure_ratio(&self, now: MonotonicTime) -> f64 {
        match self.state {
            BreakerState::Open { .. } | BreakerState::Probing => 1.0,
            BreakerState::Closed => {
                let recent = self.failures.iter();
                let recent = recent.filter(|at| now.since(**at) <= WINDOW).count();
                recent as f64 / FAILURE_THRESHOLD as f64
            }
        }
    }
}

#[cfg(test)]
mod tests;
