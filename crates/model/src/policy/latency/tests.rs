//! Tests that averages follow observations and that the quantile waits for enough of them.

use std::time::Duration;

use super::*;

#[test]
fn average_follows_a_change() {
    let mut latency = Latency::default();
    assert_eq!(latency.expected(TokenCount(100)), None);
    for _ in 0..30 {
        latency.observe_first_token(Duration::from_millis(200));
        latency.observe_answer(TokenCount(500), Duration::from_secs(10));
    }
    let expected = latency.expected(TokenCount(100)).expect("observed");
    assert!((expected.as_secs_f64() - 2.2).abs() < 1e-6, "{expected:?}");
    for _ in 0..30 {
        latency.observe_first_token(Duration::from_millis(800));
    }
    let first = latency.first_token().expect("observed").as_secs_f64();
    assert!((first - 0.8).abs() < 0.01, "{first}");
}

#[test]
fn quantile_requires_enough_observations() {
    let mut latency = Latency::default();
    for wait in 1..20 {
        latency.observe_first_token(Duration::from_millis(wait));
        assert_eq!(latency.first_token_p95(), None);
    }
    for wait in 20..=100 {
        latency.observe_first_token(Duration::from_millis(wait));
    }
    // The last 64 waits are 37 to 100 ms; 61 of them are at most 97 ms.
    assert_eq!(latency.first_token_p95(), Some(Duration::from_millis(97)));
}

#[test]
fn short_answers_do_not_affect_speed() {
    let mut latency = Latency::default();
    latency.observe_answer(TokenCount(3), Duration::from_secs(1));
    latency.observe_answer(TokenCount(300), Duration::ZERO);
    assert_eq!(latency.tokens_per_second(), None);
}
