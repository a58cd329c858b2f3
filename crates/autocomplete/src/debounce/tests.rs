//! Delays of single edits and of held keys, and the cadence of typing.

use std::time::Duration;

use super::{FRAME, REPEAT, TypingCadence};

fn typed(interval: u64) -> TypingCadence {
    let mut cadence = TypingCadence::default();
    for key in 0..50 {
        let now = Duration::from_millis(key * interval);
        cadence.edit(now);
        cadence.key(now);
    }
    cadence
}

#[test]
fn only_a_held_key_waits_for_the_last_repetition() {
    assert_eq!(TypingCadence::default().delay(), FRAME);
    assert_eq!(typed(30).delay(), REPEAT);
    assert_eq!(typed(100).delay(), FRAME);
}

#[test]
fn pauses_do_not_count_as_typing() {
    assert_eq!(typed(5_000).interval, None);
    assert_eq!(typed(100).keys_in(Duration::from_millis(350)), 4);
    assert_eq!(typed(100).keys_in(Duration::ZERO), 1);
}
