//! Points in time, always passed in by the caller; nothing in this crate reads a clock.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A point in time, as the duration since a start that the process chooses once. It is unrelated to
/// the wall clock. Times are comparable only within one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(pub Duration);

impl MonotonicTime {
    /// The start of the measurement.
    pub const START: Self = Self(Duration::ZERO);

    /// Returns the time since `earlier`; zero if it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time until `later`; zero if it has passed.
    pub fn until(self, later: Self) -> Duration {
        later.since(self)
    }
}

impl Add<Duration> for MonotonicTime {
    type Output = Self;

    // A provider may request a wait of centuries; the sum must not overflow.
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

impl Sub<Duration> for MonotonicTime {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration))
    }
}
