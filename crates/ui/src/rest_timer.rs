//! A timer that fires after a pause in a series of events.

use std::time::{Duration, Instant};

use gpui_kit::{Context, Task};

/// Calls a method of an entity after a pause. Each event delays the call; it moves the deadline and
/// starts no further timer of the system.
pub struct RestTimer<T> {
    rest: Duration,
    own: fn(&mut T) -> &mut RestTimer<T>,
    fire: fn(&mut T, &mut Context<T>),
    /// `None` while it is not running.
    due: Option<Instant>,
    task: Option<Task<()>>,
}

impl<T: 'static> RestTimer<T> {
    /// Creates a timer that is not running. `own` returns this timer of the entity, and `fire` is
    /// called after a pause of `rest`.
    pub fn new(
        rest: Duration,
        own: fn(&mut T) -> &mut RestTimer<T>,
        fire: fn(&mut T, &mut Context<T>),
    ) -> Self {
        Self {
            rest,
            own,
            fire,
            due: None,
            task: None,
        }
    }

    /// Returns whether it will fire unless it is cancelled.
    pub fn is_running(&self) -> bool {
        self.due.is_some()
    }

    /// Starts the timer, or delays it if it is running.
    pub fn put_off(&mut self, cx: &mut Context<T>) {
        self.due = Some(cx.background_executor().now() + self.rest);
        if self.task.is_some() {
            return;
        }
        let (own, fire) = (self.own, self.fire);
        self.task = Some(cx.spawn(async move |this, cx| {
            loop {
                let left = this.update(cx, |entity, cx| {
                    let now = cx.background_executor().now();
                    own(entity)
                        .due
                        .map(|due| due.saturating_duration_since(now))
                });
                // The entity may be gone.
                let Ok(Some(left)) = left else {
                    return;
                };
                if left.is_zero() {
                    break;
                }
                cx.background_executor().timer(left).await;
            }
            this.update(cx, |entity, cx| {
                own(entity).cancel();
                fire(entity, cx);
            })
            .ok();
        }));
    }

    /// Stops the timer.
    pub fn cancel(&mut self) {
        self.due = None;
        self.task = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gpui_kit::{AppContext as _, Context, TestAppContext};

    use super::RestTimer;

    struct Typist {
        timer: RestTimer<Typist>,
        rests: u32,
    }

    impl Typist {
        fn new(_: &mut Context<Self>) -> Self {
            let rest = Duration::from_millis(300);
            Self {
                timer: RestTimer::new(rest, |it| &mut it.timer, |it, _| it.rests += 1),
                rests: 0,
            }
        }
    }

    #[gpui_kit::test]
    fn it_fires_once_after_each_pause(cx: &mut TestAppContext) {
        let typist = cx.new(Typist::new);
        let type_key = |cx: &mut TestAppContext, gap: u64| {
            typist.update(cx, |typist, cx| typist.timer.put_off(cx));
            cx.run_until_parked();
            cx.executor().advance_clock(Duration::from_millis(gap));
            cx.run_until_parked();
            typist.read_with(cx, |typist, _| typist.rests)
        };
        for _ in 0..10 {
            assert_eq!(type_key(cx, 125), 0);
        }
        assert_eq!(type_key(cx, 299), 0);
        assert_eq!(type_key(cx, 300), 1);
        cx.executor().advance_clock(Duration::from_secs(5));
        cx.run_until_parked();
        assert_eq!(type_key(cx, 100), 1);
        typist.update(cx, |typist, _| {
            assert!(typist.timer.is_running());
            typist.timer.cancel();
        });
        cx.executor().advance_clock(Duration::from_secs(5));
        cx.run_until_parked();
        assert_eq!(type_key(cx, 300), 2);
    }
}
