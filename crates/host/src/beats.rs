//! A steady beat from a thread of its own, for telling how late another thread comes to what is due.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::clock::Clock;

/// Sends the time (`Clock::elapsed`) every `interval`, from a thread that does nothing else, until the receiver is
/// dropped. A beat that finds the one before still waiting is left out. `None` where no thread can be had.
pub fn beats(
    interval: Duration,
    clock: Arc<dyn Clock>,
) -> Option<async_channel::Receiver<Duration>> {
    let (sender, receiver) = async_channel::bounded(1);
    let beat = move || {
        while !sender.is_closed() {
            thread::sleep(interval);
            // Full: whoever listens is late already and will see it from the beat that waits.
            sender.try_send(clock.elapsed()).ok();
        }
    };
    let started = thread::Builder::new().name("beats".to_owned()).spawn(beat);
    started.ok().map(|_| receiver)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::beats;
    use crate::RealClock;

    #[test]
    fn beats_come_in_order_and_the_late_ones_are_left_out() {
        let clock = Arc::new(RealClock::default());
        let beats = beats(Duration::from_millis(1), clock).expect("a thread");
        let first = beats.recv_blocking().expect("a beat");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(beats.len(), 1);
        assert!(beats.recv_blocking().expect("a beat") > first);
    }
}
