//! A ticker thread, used to measure how late another thread runs.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::clock::Clock;

/// Sends `Clock::elapsed` every `interval` from a dedicated thread until the receiver is dropped. A
/// tick is skipped while the previous one is still unread. Returns `None` if the thread cannot be
/// started.
pub fn ticker(
    interval: Duration,
    clock: Arc<dyn Clock>,
) -> Option<async_channel::Receiver<Duration>> {
    let (sender, receiver) = async_channel::bounded(1);
    let beat = move || {
        while !sender.is_closed() {
            thread::sleep(interval);
            // A full channel means that the receiver is late; the unread tick already shows it.
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

    use super::ticker;
    use crate::RealClock;

    #[test]
    fn ticks_are_skipped_while_one_is_unread() {
        let clock = Arc::new(RealClock::default());
        let beats = ticker(Duration::from_millis(1), clock).expect("a thread");
        let first = beats.recv_blocking().expect("a beat");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(beats.len(), 1);
        assert!(beats.recv_blocking().expect("a beat") > first);
    }
}
