//! Every class of failure has its answer, waits are as asked for, and attempts end.

use super::*;
use crate::random::Random;

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
        in_lane: 1,
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
fn only_what_is_retryable_is_sent_again_in_its_lane() {
    for class in ALL {
        let step = Retry::default().next(&failure(class, Some(3)), first(), Progress::Nothing, 0.5);
        assert_eq!(
            matches!(step, NextStep::Wait(_)),
            class.is_retryable(),
            "{class:?}"
        );
    }
}

#[test]
fn a_used_up_quota_is_never_retried_in_its_lane() {
    for retry_after in [None, Some(0), Some(1)] {
        let quota = failure(FailureClass::Quota, retry_after);
        let step = Retry::default().next(&quota, first(), Progress::Nothing, 0.0);
        assert_eq!(step, NextStep::FallBack);
    }
}

#[test]
fn the_wish_of_the_provider_is_kept_within_a_tenth() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let wish = random.below(100);
        let jitter = random.below(1001) as f64 / 1000.0;
        let limited = failure(FailureClass::RateLimited, Some(wish));
        let step = Retry::default().next(&limited, first(), Progress::Nothing, jitter);
        let NextStep::Wait(wait) = step else {
            panic!("{step:?}");
        };
        let wish = Duration::from_secs(wish);
        assert!(wait >= wish && wait <= wish.mul_f64(1.1), "{wait:?}");
    }
}

#[test]
fn a_wish_beyond_patience_leads_elsewhere() {
    let limited = failure(FailureClass::RateLimited, Some(3600));
    let step = Retry::default().next(&limited, first(), Progress::Nothing, 0.5);
    assert_eq!(step, NextStep::FallBack);
}

#[test]
fn waits_double_up_to_a_bound() {
    let waits = (1..5).map(|in_lane| {
        let attempts = Attempts { in_lane, ..first() };
        let overload = failure(FailureClass::Overloaded, None);
        Retry::default().next(&overload, attempts, Progress::Partial, 1.0)
    });
    let waits: Vec<_> = waits.collect();
    let expected = [500, 1000, 2000, 4000].map(|ms| NextStep::Wait(Duration::from_millis(ms)));
    assert_eq!(waits, expected);
    let retry = Retry {
        per_lane: u32::MAX,
        ..Retry::default()
    };
    assert_eq!(retry.wait(u32::MAX, 1.0), Duration::from_secs(20));
}

#[test]
fn a_complete_tool_call_is_never_repeated() {
    for class in ALL {
        let step =
            Retry::default().next(&failure(class, Some(1)), first(), Progress::ToolEnded, 0.5);
        assert_eq!(step, NextStep::Stop, "{class:?}");
    }
}

/// Whatever fails, and however often the caller falls back, it ends.
#[test]
fn attempts_are_bounded() {
    let retry = Retry::default();
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let mut attempts = Attempts::default();
        let mut sent = 0;
        loop {
            attempts.in_lane += 1;
            attempts.in_all += 1;
            sent += 1;
            let wish = random.one_in(2).then(|| random.below(200));
            let failure = failure(*random.pick(&ALL), wish);
            match retry.next(&failure, attempts, Progress::Partial, 0.3) {
                NextStep::Wait(wait) => attempts.waited += wait,
                NextStep::FallBack => attempts.in_lane = 0,
                NextStep::Stop => break,
            }
            assert!(attempts.waited <= retry.patience, "seed {seed}");
        }
        assert!(sent <= retry.in_all, "seed {seed}");
    }
}
