//! Tests that only transient failures open the breaker and that one answered probe closes it.

use super::*;
use crate::random::TestRng;

fn at(seconds: u64) -> MonotonicTime {
    MonotonicTime(Duration::from_secs(seconds))
}

#[test]
fn five_failures_in_thirty_seconds_open_for_fifteen() {
    let mut breaker = Breaker::default();
    for second in [0, 5, 10, 15] {
        breaker.failed(FailureClass::ServerError, at(second));
        assert_eq!(breaker.decision(at(second)), BreakerDecision::Granted);
    }
    breaker.failed(FailureClass::Stalled, at(20));
    assert_eq!(
        breaker.decision(at(34)),
        BreakerDecision::Refused {
            until: Some(at(35))
        }
    );
    assert_eq!(breaker.decision(at(35)), BreakerDecision::Probe);
    assert!(breaker.start(at(35)));
    assert!(!breaker.start(at(36)), "one probe at a time");
    assert_eq!(
        breaker.decision(at(36)),
        BreakerDecision::Refused { until: None }
    );
    breaker.succeeded();
    assert_eq!(breaker.decision(at(37)), BreakerDecision::Granted);
}

#[test]
fn failures_outside_the_window_do_not_count() {
    let mut breaker = Breaker::default();
    for turn in 0..100 {
        breaker.failed(FailureClass::Torn, at(turn * 8));
        assert_eq!(breaker.decision(at(turn * 8)), BreakerDecision::Granted);
    }
}

#[test]
fn failed_probe_reopens_the_breaker() {
    let mut breaker = Breaker::default();
    for _ in 0..5 {
        breaker.failed(FailureClass::Offline, at(0));
    }
    assert!(breaker.start(at(15)));
    breaker.failed(FailureClass::Offline, at(16));
    assert_eq!(
        breaker.decision(at(17)),
        BreakerDecision::Refused {
            until: Some(at(31))
        }
    );
}

#[test]
fn cancelled_probe_lets_the_next_request_probe() {
    let mut breaker = Breaker::default();
    for _ in 0..5 {
        breaker.failed(FailureClass::Offline, at(0));
    }
    assert!(breaker.start(at(15)));
    breaker.failed(FailureClass::Cancelled, at(16));
    assert_eq!(breaker.decision(at(16)), BreakerDecision::Probe);
}

#[test]
fn invalid_requests_and_rate_limits_never_open_the_breaker() {
    let never = [
        FailureClass::InvalidRequest,
        FailureClass::ContextOverflow,
        FailureClass::RateLimited,
        FailureClass::Budget,
        FailureClass::Cancelled,
    ];
    for seed in 0..100 {
        let mut random = TestRng::new(seed);
        let mut breaker = Breaker::default();
        for step in 0..200 {
            let class = *random.pick(&never);
            assert!(!breaker.start(at(step)));
            breaker.failed(class, at(step));
            assert_eq!(
                breaker.decision(at(step)),
                BreakerDecision::Granted,
                "{class:?}"
            );
            assert_eq!(breaker.failure_ratio(at(step)), 0.0);
        }
    }
}

#[test]
fn exhausted_quota_opens_the_breaker_at_once() {
    let mut breaker = Breaker::default();
    breaker.failed(FailureClass::Quota, at(0));
    assert_eq!(
        breaker.decision(at(200)),
        BreakerDecision::Refused {
            until: Some(at(300))
        }
    );
}

#[test]
fn breaker_eventually_admits_a_request() {
    let classes = [
        FailureClass::Overloaded,
        FailureClass::Quota,
        FailureClass::InvalidRequest,
        FailureClass::Cancelled,
        FailureClass::Offline,
        FailureClass::RateLimited,
    ];
    for seed in 0..200 {
        let mut random = TestRng::new(seed);
        let mut breaker = Breaker::default();
        let mut now = MonotonicTime::START;
        for _ in 0..300 {
            now = now + Duration::from_secs(random.next_below(20));
            if matches!(breaker.decision(now), BreakerDecision::Refused { .. }) {
                continue;
            }
            breaker.start(now);
            if random.one_in(4) {
                breaker.succeeded()
            } else {
                breaker.failed(*random.pick(&classes), now)
            }
        }
        let later = now + Duration::from_secs(301);
        assert!(
            !matches!(breaker.decision(later), BreakerDecision::Refused { .. }),
            "seed {seed}"
        );
    }
}
