//! Tests the action for every failure class, the waits, and that attempts are bounded.

use super::*;
use crate::random::TestRng;

const ALL: [FailureClass; 14] = [
    FailureClass::RateLimited,
    FailureClass::Overloaded,
    FailureClass::Quota,
    FailureClass::Authentication,
    FailureClass::InvalidRequest,
    FailureClass::ContextOverflow,
    FailureClass::NoSuchModel,
    FailureClass::Budget,
    FailureClass::Offline,
    FailureClass::ServerError,
    FailureClass::Stalled,
    FailureClass::Torn,
    FailureClass::Malformed,
    FailureClass::Cancelled,
];

fn first() -> Attempts {
    Attempts {
        on_route: 1,
        in_all: 1,
        waited: Duration::ZERO,
    }
}

fn failure(class: FailureClass, retry_after: Option<u64>) -> Failure {
    Failure {
        retry_after: retry_after.map(Duration::from_secs),
        ..Failure::new(class, "it failed")
    }
}

#[test]
fn only_transient_failures_retry_on_the_same_route() {
    for class in ALL {
        let step = Retry::default().next(
            &failure(class, Some(3)),
            first(),
            ResponseProgress::Nothing,
            0.5,
        );
        let is_transient = matches!(
            class,
            FailureClass::RateLimited
                | FailureClass::Overloaded
                | FailureClass::Offline
                | FailureClass::ServerError
                | FailureClass::Stalled
                | FailureClass::Torn
                | FailureClass::Malformed
        );
        assert_eq!(matches!(step, NextStep::Wait(_)), is_transient, "{class:?}");
    }
}

#[test]
fn exhausted_quota_never_retries_on_the_same_route() {
    for retry_after in [None, Some(0), Some(1)] {
        let quota = failure(FailureClass::Quota, retry_after);
        let step = Retry::default().next(&quota, first(), ResponseProgress::Nothing, 0.0);
        assert_eq!(step, NextStep::FallBack);
    }
}

#[test]
fn requested_wait_is_kept_within_a_tenth() {
    for seed in 0..200 {
        let mut random = TestRng::new(seed);
        let wish = random.next_below(100);
        let jitter = random.next_below(1001) as f64 / 1000.0;
        let limited = failure(FailureClass::RateLimited, Some(wish));
        let step = Retry::default().next(&limited, first(), ResponseProgress::Nothing, jitter);
        let NextStep::Wait(wait) = step else {
            panic!("{step:?}");
        };
        let wish = Duration::from_secs(wish);
        assert!(wait >= wish && wait <= wish.mul_f64(1.1), "{wait:?}");
    }
}

#[test]
fn excessive_requested_wait_falls_back() {
    let limited = failure(FailureClass::RateLimited, Some(3600));
    let step = Retry::default().next(&limited, first(), ResponseProgress::Nothing, 0.5);
    assert_eq!(step, NextStep::FallBack);
}

#[test]
fn waits_double_up_to_a_maximum() {
    let waits = (1..5).map(|in_lane| {
        let attempts = Attempts {
            on_route: in_lane,
            ..first()
        };
        let overload = failure(FailureClass::Overloaded, None);
        Retry::default().next(&overload, attempts, ResponseProgress::Partial, 1.0)
    });
    let waits: Vec<_> = waits.collect();
    let expected = [500, 1000, 2000, 4000].map(|ms| NextStep::Wait(Duration::from_millis(ms)));
    assert_eq!(waits, expected);
    let retry = Retry {
        per_route: u32::MAX,
        ..Retry::default()
    };
    assert_eq!(retry.wait(u32::MAX, 1.0), Duration::from_secs(20));
}

#[test]
fn a_complete_tool_call_is_never_repeated() {
    for class in ALL {
        let step = Retry::default().next(
            &failure(class, Some(1)),
            first(),
            ResponseProgress::ToolEnded,
            0.5,
        );
        assert_eq!(step, NextStep::Stop, "{class:?}");
    }
}

/// For all failures and any number of fallbacks, the attempts end.
#[test]
fn attempts_are_bounded() {
    let retry = Retry::default();
    for seed in 0..500 {
        let mut random = TestRng::new(seed);
        let mut attempts = Attempts::default();
        let mut sent = 0;
        loop {
            attempts.on_route += 1;
            attempts.in_all += 1;
            sent += 1;
            let wish = random.one_in(2).then(|| random.next_below(200));
            let failure = failure(*random.pick(&ALL), wish);
            match retry.next(&failure, attempts, ResponseProgress::Partial, 0.3) {
                NextStep::Wait(wait) => attempts.waited += wait,
                NextStep::FallBack => attempts.on_route = 0,
                NextStep::Stop => break,
            }
            assert!(attempts.waited <= retry.max_total_wait, "seed {seed}");
        }
        assert!(sent <= retry.in_all, "seed {seed}");
    }
}
