//! Delay between a keystroke and a model request, adapted to the user's typing cadence.

use std::time::Duration;

/// Bounds of the delay.
const MIN_WAIT: Duration = Duration::from_millis(30);
const MAX_WAIT: Duration = Duration::from_millis(75);
/// Typing intervals in milliseconds. At `BURST` or faster the delay is the longest; from `SLOW` on
/// it is the shortest, since the next key is far off anyway.
const BURST: f32 = 75.0;
const SLOW: f32 = 180.0;
/// Longer pauses are not counted as typing.
const PAUSE: Duration = Duration::from_secs(1);
/// Weight of the newest interval in the moving average.
const WEIGHT: f32 = 0.2;

/// The user's typing cadence: a moving average of the time between keystrokes. Pauses do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TypingCadence {
    /// Moving average of milliseconds between keystrokes; `None` before the second one.
    interval: Option<f32>,
    last: Option<Duration>,
}

impl TypingCadence {
    /// Records a keystroke at `now`.
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

    /// Returns the delay between a keystroke and the request to a model. The slower the user types,
    /// the shorter the delay, within fixed bounds.
    pub(crate) fn wait(&self) -> Duration {
        let interval = self.interval.unwrap_or(BURST);
        let slow = ((interval - BURST) / (SLOW - BURST)).clamp(0.0, 1.0);
        let spared = (MAX_WAIT - MIN_WAIT).as_secs_f32() * 1_000.0 * slow;
        MAX_WAIT - Duration::from_millis(spared.round() as u64)
    }

    /// Returns how many keys the user is expected to press in `time`, at least one.
    pub(crate) fn keys_in(&self, time: Duration) -> usize {
        let interval = self.interval.unwrap_or(SLOW).max(30.0);
        ((time.as_secs_f32() * 1_000.0 / interval).ceil() as usize).max(1)
    }
}

#[cfg(test)]
mod tests;
