//! Decides when a tree that may differ from a fresh parse is parsed afresh.
//!
//! A fresh parse and its comparison take time in proportion to the text, and rarely change a colour. Typing leaves
//! such a tree behind at most pauses, so fresh parses take at most a twentieth of the time.

use std::time::Duration;

use gpui_kit::{Context, Task};

use super::DocumentModel;

/// Pause after a fresh parse, as a multiple of its duration.
const PAUSE_FACTOR: u32 = 20;

/// Maximum pause that is left out, so that short texts have the right tree at once.
const SHORT_PAUSE: Duration = Duration::from_millis(250);

/// The times of fresh parses, as those of the monotonic clock.
#[derive(Default)]
pub(super) struct SettleTimes {
    /// The start of the fresh parse that runs.
    started: Option<Duration>,
    /// The earliest start of the next one.
    next: Duration,
    /// Waits for `next`.
    waiting: Option<Task<()>>,
}

impl SettleTimes {
    /// Notes that a fresh parse has begun.
    fn begin(&mut self, now: Duration) {
        self.started = Some(now);
        self.waiting = None;
    }

    /// Notes that a running fresh parse has ended or was stopped.
    pub(super) fn end(&mut self, now: Duration) {
        if let Some(started) = self.started.take() {
            self.next = now + now.saturating_sub(started) * PAUSE_FACTOR;
        }
    }

    /// Returns the time until the next fresh parse may begin; `None` if it may begin now.
    fn pause(&self, now: Duration) -> Option<Duration> {
        let pause = self.next.saturating_sub(now);
        (pause > SHORT_PAUSE).then_some(pause)
    }
}

impl DocumentModel {
    /// Parses the text again if its tree may differ from a fresh parse: now, or after a pause in proportion to the
    /// time that this took before.
    pub(super) fn settle(&mut self, cx: &mut Context<Self>) {
        let now = self.environment.clock.elapsed();
        let Some(pause) = self.settle_times.pause(now) else {
            self.settle_now(cx);
            return;
        };
        self.settle_times.waiting = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(pause).await;
            // A dropped model needs no tree. After an edit, the next pause in typing settles the tree.
            this.update(cx, |model, cx| {
                if !model.rest.is_running() {
                    model.settle_now(cx);
                }
            })
            .ok();
        }));
    }

    fn settle_now(&mut self, cx: &mut Context<Self>) {
        let snapshot = self.document.snapshot();
        let job = self
            .tree
            .as_mut()
            .and_then(|tree| tree.repair_job(&snapshot));
        if let Some(job) = job {
            self.settle_times.begin(self.environment.clock.elapsed());
            self.run_parse(job, cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::SettleTimes;

    #[test]
    fn the_pause_grows_with_the_duration_of_a_parse() {
        let at = Duration::from_millis;
        let mut times = SettleTimes::default();
        assert_eq!(times.pause(at(0)), None);
        times.begin(at(1000));
        times.end(at(1010));
        assert_eq!(times.pause(at(1010)), None, "200 ms are short");
        times.begin(at(2000));
        times.end(at(2100));
        // Nothing runs, so this is the end of no parse.
        times.end(at(2500));
        assert_eq!(times.pause(at(2500)), Some(at(1600)));
        assert_eq!(times.pause(at(4100)), None);
    }
}
