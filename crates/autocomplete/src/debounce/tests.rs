//! Fast and slow typing.

use std::time::Duration;

use super::{LEAST, MOST, Rhythm};

fn typed(interval: u64) -> Rhythm {
    let mut rhythm = Rhythm::default();
    for key in 0..50 {
        rhythm.key(Duration::from_millis(key * interval));
    }
    rhythm
}

#[test]
fn bursts_wait_longest_and_slow_keys_least() {
    assert_eq!(typed(40).wait(), MOST);
    assert_eq!(typed(300).wait(), LEAST);
    let between = typed(120).wait();
    assert!(LEAST < between && between < MOST);
    assert_eq!(Rhythm::default().wait(), MOST);
}

#[test]
fn pauses_are_no_typing() {
    assert_eq!(typed(5_000).wait(), MOST);
    assert_eq!(typed(100).keys_in(Duration::from_millis(350)), 4);
    assert_eq!(typed(100).keys_in(Duration::ZERO), 1);
}
