//! A point in time that the caller names; nothing in this crate asks a clock.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A point in time, told as the time since a start that one process chooses once and keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub Duration);

impl Moment {
    /// The start itself.
    pub const START: Self = Self(Duration::ZERO);

    /// How long ago `earlier` was; zero where it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// How long until `later`; zero where it has passed.
    pub fn until(self, later: Self) -> Duration {
        later.since(self)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    // A provider may ask to wait for centuries; the sum must not panic.
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration))
    }
}
