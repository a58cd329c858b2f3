//! How long to wait behind a key before a model is asked, by how the person types.

use std::time::Duration;

/// The least to wait, and the most.
const LEAST: Duration = Duration::from_millis(30);
const MOST: Duration = Duration::from_millis(75);
/// Keys this far apart, or nearer, are a burst: waiting the longest is best. From `SLOW` on waiting helps nobody.
const BURST: f32 = 75.0;
const SLOW: f32 = 180.0;
/// Longer pauses are no typing.
const PAUSE: Duration = Duration::from_secs(1);
/// How much the newest interval counts.
const WEIGHT: f32 = 0.2;

/// The rhythm of a person's keys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rhythm {
    /// Milliseconds between keys, smoothed; none before the second key.
    interval: Option<f32>,
    last: Option<Duration>,
}

impl Rhythm {
    /// A key was pressed.
    pub(crate) fn key(&mut self, now: Duration) {
        let gap = self.last.map(|last| now.saturating_sub(last));
        self.last = Some(now);
        let Some(gap) = gap.filter(|gap| *gap < PAUSE) else {
            return;
        };
        let gap = gap.as_secs_f32() * 1_000.0;
        self.interval = Some(match self.interval {
            Some(interval) => interval + WEIGHT * (gap - interval),
            None => gap,
        });
    }

    /// How long to wait behind a key.
    pub(crate) fn wait(&self) -> Duration {
        let interval = self.interval.unwrap_or(BURST);
        let slow = ((interval - BURST) / (SLOW - BURST)).clamp(0.0, 1.0);
        let spared = (MOST - LEAST).as_secs_f32() * 1_000.0 * slow;
        MOST - Duration::from_millis(spared.round() as u64)
    }

    /// How many keys the person presses in a time, at least one.
    pub(crate) fn keys_in(&self, time: Duration) -> usize {
        let interval = self.interval.unwrap_or(SLOW).max(30.0);
        ((time.as_secs_f32() * 1_000.0 / interval).ceil() as usize).max(1)
    }
}

#[cfg(test)]
mod tests;
