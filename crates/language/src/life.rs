//! The life of a server's process: when a crashed one is started again, and when it is given up.
//!
//! Must not know: processes, clocks. Invariant: at most `MAX_CRASHES` processes end unexpectedly within
//! `CRASH_WINDOW`.
//! Start at `RestartPolicy::crashed`.

use std::collections::VecDeque;
use std::time::Duration;

/// The crash within `CRASH_WINDOW` after which a server is not started again.
pub(crate) const MAX_CRASHES: usize = 5;
/// Time after which a crash no longer counts.
const CRASH_WINDOW: Duration = Duration::from_secs(180);

/// The crashes of one server.
#[derive(Debug)]
pub(crate) struct RestartPolicy {
    /// Pause before the first restart; each further crash doubles it.
    first_pause: Duration,
    /// Times of recent crashes, oldest first.
    crashes: VecDeque<Duration>,
}

/// The consequence of a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestartDecision {
    /// Start it again at this time.
    RestartAt(Duration),
    /// It crashed too often; it stays stopped.
    GiveUp,
}

impl RestartPolicy {
    /// Creates a policy without crashes.
    pub(crate) fn new(first_pause: Duration) -> Self {
        Self {
            first_pause,
            crashes: VecDeque::new(),
        }
    }

    /// Records an unexpected end of the process at `now`.
    pub(crate) fn crashed(&mut self, now: Duration) -> RestartDecision {
        let is_old = |crash: &Duration| now.saturating_sub(*crash) > CRASH_WINDOW;
        while self.crashes.front().is_some_and(is_old) {
            self.crashes.pop_front();
        }
        self.crashes.push_back(now);
        let count = self.crashes.len();
        if count >= MAX_CRASHES {
            return RestartDecision::GiveUp;
        }
        let doublings = u32::try_from(count - 1).unwrap_or(u32::MAX);
        RestartDecision::RestartAt(now + self.first_pause * 2_u32.saturating_pow(doublings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(crashes: &[u64], expected: Option<u64>) {
        let mut policy = RestartPolicy::new(Duration::from_secs(1));
        let mut last = RestartDecision::GiveUp;
        for second in crashes {
            last = policy.crashed(Duration::from_secs(*second));
        }
        let expected = expected.map_or(RestartDecision::GiveUp, |second| {
            RestartDecision::RestartAt(Duration::from_secs(second))
        });
        assert_eq!(last, expected, "{crashes:?}");
    }

    #[test]
    fn pauses_double_and_the_fifth_crash_is_the_last() {
        check(&[10], Some(11));
        check(&[10, 12], Some(14));
        check(&[10, 12, 15], Some(19));
        check(&[10, 12, 15, 20], Some(28));
        check(&[10, 12, 15, 20, 30], None);
    }

    #[test]
    fn old_crashes_do_not_count() {
        check(&[0, 1, 2, 3, 181], Some(189));
        check(&[0, 1, 2, 3, 1000], Some(1001));
    }
}
