//! Time, passed as an argument.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time. Callers receive one as an argument, so that tests can stop it.
pub trait Clock: Send + Sync {
    /// Returns the wall-clock time in milliseconds since 1970; it may jump.
    fn wall_ms(&self) -> u64;
    /// Returns the time since a fixed moment of this run; it never goes back.
    fn elapsed(&self) -> Duration;
}

/// The system's wall clock and monotonic clock.
#[derive(Debug)]
pub struct RealClock {
    start: Instant,
}

impl Default for RealClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Clock for RealClock {
    fn wall_ms(&self) -> u64 {
        // A clock set before 1970 reads as 1970.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as u64)
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that moves only through `advance`.
#[derive(Debug)]
pub struct FakeClock {
    elapsed: Mutex<Duration>,
    start_ms: u64,
}

impl FakeClock {
    /// Creates a clock whose wall time starts at `wall_ms` milliseconds since 1970.
    pub fn at(wall_ms: u64) -> Self {
        Self {
            elapsed: Mutex::new(Duration::ZERO),
            start_ms: wall_ms,
        }
    }

    /// Advances the clock by `time`.
    pub fn advance(&self, time: Duration) {
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner) += time;
    }
}

impl Clock for FakeClock {
    fn wall_ms(&self) -> u64 {
        self.start_ms + self.elapsed().as_millis() as u64
    }

    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
