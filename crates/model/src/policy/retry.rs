//! What to do about a failure: wait and send again, go to another lane, or stop.

use std::time::Duration;

use crate::{Failure, FailureClass};

/// The rules of retrying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The most attempts in one lane, the first included.
    pub per_lane: u32,
    /// The most attempts in all lanes together.
    pub in_all: u32,
    /// The wait after the first failure; it doubles with each further one in the lane.
    pub first_wait: Duration,
    /// The longest wait that is not the provider's own wish.
    pub longest_wait: Duration,
    /// How long the waits may take together. A wish that goes beyond it leads to another lane.
    pub patience: Duration,
}

/// What was tried so far for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Attempts in this lane, the failed one included.
    pub in_lane: u32,
    /// Attempts in all lanes, the failed one included.
    pub in_all: u32,
    /// How long was waited between them.
    pub waited: Duration,
}

/// How much of the answer came before the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Nothing that the caller has seen.
    Nothing,
    /// Text, thought, or a tool call that was not complete: the answer may begin again.
    Partial,
    /// A complete tool call, which may be running: the answer must not begin again.
    ToolEnded,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Send it again in the same lane after this wait.
    Wait(Duration),
    /// Send it in the next lane of the fallback chain, or stop if there is none.
    FallBack,
    /// Tell the caller.
    Stop,
}

impl Default for Retry {
    /// Five attempts in a lane with waits of about 0.5, 1, 2 and 4 s, eight in all, two minutes of waiting.
    fn default() -> Self {
        Self {
            per_lane: 5,
            in_all: 8,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            patience: Duration::from_secs(120),
        }
    }
}

impl Retry {
    /// What to do about `failure`. `jitter` is a random number from 0 to 1, so that many callers do not come
    /// back at once.
    pub fn next(
        &self,
        failure: &Failure,
        attempts: Attempts,
        progress: Progress,
        jitter: f64,
    ) -> NextStep {
        if progress == Progress::ToolEnded || attempts.in_all >= self.in_all {
            return NextStep::Stop;
        }
        match failure.class {
            // These end elsewhere, or not at all: the same request here fails again.
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
            | FailureClass::Malformed => self.again(failure, attempts, jitter),
        }
    }

    fn again(&self, failure: &Failure, attempts: Attempts, jitter: f64) -> NextStep {
        let wait = match failure.retry_after {
            Some(wish) => stretched(wish, jitter),
            None => self.wait(attempts.in_lane, jitter),
        };
        let is_patient = attempts.waited.saturating_add(wait) <= self.patience;
        if attempts.in_lane < self.per_lane && is_patient {
            NextStep::Wait(wait)
        } else {
            NextStep::FallBack
        }
    }

    /// Half of the doubled wait is certain, the other half is drawn.
    fn wait(&self, attempts: u32, jitter: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(31);
        let wait = self.first_wait.saturating_mul(1 << doublings);
        let wait = wait.min(self.longest_wait);
        wait.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

/// The provider's wish is kept, never cut short, and stretched by a twentieth at most.
fn stretched(wish: Duration, jitter: f64) -> Duration {
    let more = wish.as_secs_f64() * 0.05 * jitter.clamp(0.0, 1.0);
    let more = Duration::try_from_secs_f64(more).unwrap_or_default();
    wish.saturating_add(more)
}

#[cfg(test)]
mod tests;
