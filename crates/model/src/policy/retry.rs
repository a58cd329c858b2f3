//! Handling of failures: wait and retry, fall back to another route, or stop.

use std::time::Duration;

use crate::{Failure, FailureClass};

/// Limits on attempts, and the waits after failures. `next` applies them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Maximum attempts on one route, including the first.
    pub per_route: u32,
    /// Maximum attempts on all routes together.
    pub in_all: u32,
    /// Wait after the first failure; it doubles with each further failure on the route.
    pub first_wait: Duration,
    /// Maximum wait, except where the provider requests a longer one.
    pub max_wait: Duration,
    /// Maximum total wait. A requested wait beyond it leads to another route.
    pub max_total_wait: Duration,
}

/// Attempts made so far for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Attempts on this route, including the failed one.
    pub on_route: u32,
    /// Attempts on all routes, including the failed one.
    pub in_all: u32,
    /// Total wait between attempts.
    pub waited: Duration,
}

/// The part of the answer that the caller had received before the failure. It determines whether
/// the answer may start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResponseProgress {
    /// Nothing that the caller has seen.
    Nothing,
    /// Text, reasoning or an incomplete tool call: the answer may start over.
    Partial,
    /// A complete tool call, which may be running: the answer must not start over.
    ToolEnded,
}

/// Action to take after a failure: wait and repeat, use another route, or give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Send it again on the same route after this wait.
    Wait(Duration),
    /// Send it on the next route of the fallback chain, or stop if there is none.
    FallBack,
    /// Report the failure to the caller.
    Stop,
}

impl Default for Retry {
    /// Five attempts per route with waits of about 0.5, 1, 2 and 4 s, eight attempts in all, two
    /// minutes of waiting.
    fn default() -> Self {
        Self {
            per_route: 5,
            in_all: 8,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(20),
            max_total_wait: Duration::from_secs(120),
        }
    }
}

impl Retry {
    /// Returns the action after `failure`. `attempts` includes the failed attempt, and `progress`
    /// is the part of the answer that the caller has received. `jitter` is a random number from 0
    /// to 1 that lengthens the wait, to spread out concurrent callers.
    pub fn next(
        &self,
        failure: &Failure,
        attempts: Attempts,
        progress: ResponseProgress,
        jitter: f64,
    ) -> NextStep {
        if progress == ResponseProgress::ToolEnded || attempts.in_all >= self.in_all {
            return NextStep::Stop;
        }
        match failure.class {
            // Other routes may succeed, but the same request on this one fails again.
            FailureClass::Quota | FailureClass::Authentication | FailureClass::NoSuchModel => {
                NextStep::FallBack
            }
            FailureClass::InvalidRequest
            | FailureClass::ContextOverflow
            | FailureClass::Budget
            | FailureClass::Cancelled => NextStep::Stop,
            FailureClass::RateLimited
            | FailureClass::Overloaded
            | FailureClass::Offline
            | FailureClass::ServerError
            | FailureClass::Stalled
            | FailureClass::Torn
            | FailureClass::Malformed => self.retry(failure, attempts, jitter),
        }
    }

    fn retry(&self, failure: &Failure, attempts: Attempts, jitter: f64) -> NextStep {
        let wait = match failure.retry_after {
            Some(requested) => with_jitter(requested, jitter),
            None => self.wait(attempts.on_route, jitter),
        };
        let is_short_enough = attempts.waited.saturating_add(wait) <= self.max_total_wait;
        if attempts.on_route < self.per_route && is_short_enough {
            NextStep::Wait(wait)
        } else {
            NextStep::FallBack
        }
    }

    /// Half of the doubled wait is fixed, the other half is random.
    fn wait(&self, attempts: u32, jitter: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(31);
        let wait = self.first_wait.saturating_mul(1 << doublings);
        let wait = wait.min(self.max_wait);
        wait.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

/// Honours the provider's requested wait in full, extended by at most a twentieth.
fn with_jitter(requested: Duration, jitter: f64) -> Duration {
    let more = requested.as_secs_f64() * 0.05 * jitter.clamp(0.0, 1.0);
    let more = Duration::try_from_secs_f64(more).unwrap_or_default();
    requested.saturating_add(more)
}

#[cfg(test)]
mod tests;
