//! Opens on transient failures alone, lets one probe through, closes when it is answered.

use super::*;
use crate::random::Random;

fn at(seconds: u64) -> Moment {
    Moment(Duration::from_secs(seconds))
}

#[test]
fn five_failures_in_thirty_seconds_open_it_for_fifteen() {
    let mut breaker = Breaker::default();
    for second in [0, 5, 10, 15] {
        breaker.failed(FailureClass::ServerError, at(second));
        assert_eq!(breaker.permission(at(second)), Permission::Granted);
    }
    breaker.failed(FailureClass::Stalled, at(20));
    assert_eq!(
        breaker.permission(at(34)),
        Permission::Refused {
            until: Some(at(35))
        }
    );
    assert_eq!(breaker.permission(at(35)), Permission::Probe);
    assert!(breaker.start(at(35)));
    assert!(!breaker.start(at(36)), "one probe at a time");
    assert_eq!(
        breaker.permission(at(36)),
        Permission::Refused { until: None }
    );
    breaker.succeeded();
    assert_eq!(breaker.permission(at(37)), Permission::Granted);
}

#[test]
fn failures_far_apart_do_not_add_up() {
    let mut breaker = Breaker::default();
    for turn in 0..100 {
        breaker.failed(FailureClass::Torn, at(turn * 8));
        assert_eq!(breaker.permission(at(turn * 8)), Permission::Granted);
    }
}

#[test]
fn a_failed_probe_opens_it_again() {
    let mut breaker = Breaker::default();
    for _ in 0..5 {
        breaker.failed(FailureClass::Offline, at(0));
    }
    assert!(breaker.start(at(15)));
    breaker.failed(FailureClass::Offline, at(16));
    assert_eq!(
        breaker.permission(at(17)),
        Permission::Refused {
            until: Some(at(31))
        }
    );
}

#[test]
fn a_cancelled_probe_leaves_the_place_to_the_next() {
    let mut breaker = Breaker::default();
    for _ in 0..5 {
        breaker.failed(FailureClass::Offline, at(0));
    }
    assert!(breaker.start(at(15)));
    breaker.failed(FailureClass::Cancelled, at(16));
    assert_eq!(breaker.permission(at(16)), Permission::Probe);
}

#[test]
fn schema_errors_and_rate_limits_never_open_it() {
    let never = [
        FailureClass::InvalidRequest,
        FailureClass::ContextOverflow,
        FailureClass::RateLimited,
        FailureClass::Budget,
        FailureClass::Cancelled,
    ];
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut breaker = Breaker::default();
        for step in 0..200 {
            let class = *random.pick(&never);
            assert!(!breaker.start(at(step)));
            breaker.failed(class, at(step));
            assert_eq!(
                breaker.permission(at(step)),
                Permission::Granted,
                "{class:?}"
            );
            assert_eq!(breaker.sickness(at(step)), 0.0);
        }
    }
}

#[test]
fn a_used_up_quota_closes_the_lane_at_once() {
    let mut breaker = Breaker::default();
    breaker.failed(FailureClass::Quota, at(0));
    assert_eq!(
        breaker.permission(at(200)),
        Permission::Refused {
            until: Some(at(300))
        }
    );
}

#[test]
fn whatever_happens_it_lets_a_request_through_in_the_end() {
    let classes = [
        FailureClass::Overloaded,
        FailureClass::Quota,
        FailureClass::InvalidRequest,
        FailureClass::Cancelled,
        FailureClass::Offline,
        FailureClass::RateLimited,
    ];
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut breaker = Breaker::default();
        let mut now = Moment::START;
        for _ in 0..300 {
            now = now + Duration::from_secs(random.below(20));
            if matches!(breaker.permission(now), Permission::Refused { .. }) {
                continue;
            }
            breaker.start(now);
            match random.one_in(4) {
                true => breaker.succeeded(),
                false => breaker.failed(*random.pick(&classes), now),
            }
        }
        let later = now + Duration::from_secs(301);
        assert!(
            !matches!(breaker.permission(later), Permission::Refused { .. }),
            "seed {seed}"
        );
    }
}
