//! Delays for fast and slow typing.

use std::time::Duration;

use super::{MAX_WAIT, MIN_WAIT, TypingCadence};

fn typed(interval: u64) -> TypingCadence {
    let mut rhythm = TypingCadence::default();
    for key in 0..50 {
        rhythm.key(Duration::from_millis(key * interval));
    }
    rhythm
}

#[test]
fn bursts_wait_longest_and_slow_keys_least() {
    assert_eq!(typed(40).wait(), MAX_WAIT);
    assert_eq!(typed(300).wait(), MIN_WAIT);
    let between = typed(120).wait();
    assert!(MIN_WAIT < between && between < MAX_WAIT);
    assert_eq!(TypingCadence::default().wait(), MAX_WAIT);
}

#[test]
fn pauses_do_not_count_as_typing() {
    assert_eq!(typed(5_000).wait(), MAX_WAIT);
    assert_eq!(typed(100).keys_in(Duration::from_millis(350)), 4);
    assert_eq!(typed(100).keys_in(Duration::ZERO), 1);
}
