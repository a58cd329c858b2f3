//! The user's typing cadence, and the delay after an edit that it implies.
//!
//! A person's keystrokes wait only for the frame that draws them, since a prompt takes time to
//! gather. A request in flight that may still be right takes the place of a longer delay: while it
//! is, typing sends no other. Edits that follow one another faster than a person types, such as
//! those of a held key or a macro, wait for the last of them.

use std::time::Duration;

/// Time in which the window draws the frame of a keystroke.
const FRAME: Duration = Duration::from_millis(16);
/// Edits that follow one another within this time are made by a held key or by a program.
const REPEAT: Duration = Duration::from_millis(50);
/// Typing interval in milliseconds, before one is measured.
const USUAL: f32 = 180.0;
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
    /// Time of the last edit of any kind.
    last_edit: Option<Duration>,
    /// Whether the last two edits were made by a held key or by a program.
    is_repeating: bool,
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

    /// Records an edit of any kind at `now`.
    pub(crate) fn edit(&mut self, now: Duration) {
        let gap = self.last_edit.map(|last| now.saturating_sub(last));
        self.is_repeating = gap.is_some_and(|gap| gap < REPEAT);
        self.last_edit = Some(now);
    }

    /// Returns the delay between the last edit and the request to a model.
    pub(crate) fn delay(&self) -> Duration {
        if self.is_repeating { REPEAT } else { FRAME }
    }

    /// Returns how many keys the user is expected to press in `time`, at least one.
    pub(crate) fn keys_in(&self, time: Duration) -> usize {
        let interval = self.interval.unwrap_or(USUAL).max(30.0);
        ((time.as_secs_f32() * 1_000.0 / interval).ceil() as usize).max(1)
    }
}

#[cfg(test)]
mod tests;
