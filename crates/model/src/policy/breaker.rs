//! Stops sending into a lane that fails, and tries again later with one request.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{FailureClass, Moment};

/// Failures of the transient classes within `WINDOW` that open the breaker.
const FAILURES: usize = 5;
const WINDOW: Duration = Duration::from_secs(30);
const OPEN: Duration = Duration::from_secs(15);
/// A used-up quota or a refused key does not mend within seconds.
const OPEN_FOR_ACCOUNT: Duration = Duration::from_secs(300);

/// The breaker of one lane.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    /// When transient failures came, oldest first; those outside the window are dropped.
    failures: VecDeque<Moment>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    Open {
        until: Moment,
    },
    /// One request is under way to see whether the lane has mended.
    Probing,
}

/// Whether a request may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Yes.
    Granted,
    /// Yes, as the one request that tries the lane; `Breaker::start` takes it.
    Probe,
    /// Not before then, or until the probe under way ends where that is `None`.
    Refused {
        /// When a probe will be allowed.
        until: Option<Moment>,
    },
}

impl Permission {
    /// Whether a request may be sent, as a probe or otherwise.
    pub fn is_granted(self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

impl Breaker {
    /// Whether a request may be sent now. Asking changes nothing.
    pub fn permission(&self, now: Moment) -> Permission {
        match self.state {
            State::Closed => Permission::Granted,
            State::Open { until } if now >= until => Permission::Probe,
            State::Open { until } => Permission::Refused { until: Some(until) },
            State::Probing => Permission::Refused { until: None },
        }
    }

    /// A request is sent. Returns whether it is the probe.
    pub fn start(&mut self, now: Moment) -> bool {
        let is_probe = self.permission(now) == Permission::Probe;
        if is_probe {
            self.state = State::Probing;
        }
        is_probe
    }

    /// An answer came: the lane is well.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// A request failed. Wrong requests, refused ones of ours and rate limits never open the breaker: the
    /// first are not the lane's fault, and the ledger waits out the last.
    pub fn failed(&mut self, class: FailureClass, now: Moment) {
        match class {
            FailureClass::Overloaded
            | FailureClass::ServerError
            | FailureClass::Offline
            | FailureClass::Stalled
            | FailureClass::Torn
            | FailureClass::Malformed => self.count(now),
            FailureClass::Quota | FailureClass::Authentication | FailureClass::NoSuchModel => {
                self.open(now + OPEN_FOR_ACCOUNT);
            }
            FailureClass::RateLimited
            | FailureClass::InvalidRequest
            | FailureClass::ContextOverflow => self.answered(),
            FailureClass::Budget | FailureClass::Cancelled => self.abandon(now),
        }
    }

    fn count(&mut self, now: Moment) {
        if self.state == State::Probing {
            return self.open(now + OPEN);
        }
        self.failures.push_back(now);
        while self
            .failures
            .front()
            .is_some_and(|first| now.since(*first) > WINDOW)
        {
            self.failures.pop_front();
        }
        if self.failures.len() >= FAILURES && self.state == State::Closed {
            self.open(now + OPEN);
        }
    }

    fn open(&mut self, until: Moment) {
        self.failures.clear();
        self.state = State::Open { until };
    }

    /// A refusal with a reason is an answer: a probe that gets one has found the lane well.
    fn answered(&mut self) {
        if self.state == State::Probing {
            self.succeeded();
        }
    }

    /// A probe that ended without an answer says nothing, so the next request is the probe.
    fn abandon(&mut self, now: Moment) {
        if self.state == State::Probing {
            self.state = State::Open { until: now };
        }
    }

    /// How unwell the lane is, from 0 (nothing failed lately) to 1 (open).
    pub fn sickness(&self, now: Moment) -> f64 {
        match self.state {
            State::Open { .. } | State::Probing => 1.0,
            State::Closed => {
                let recent = self.failures.iter();
                let recent = recent.filter(|at| now.since(**at) <= WINDOW).count();
                recent as f64 / FAILURES as f64
            }
        }
    }
}

#[cfg(test)]
mod tests;
