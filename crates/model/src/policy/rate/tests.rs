//! Buckets hold, refill, follow the headers, and never go below zero.

use super::*;
use crate::ModelId;
use crate::policy::KeyName;
use crate::random::Random;

fn lane(name: &str) -> Lane {
    Lane {
        model: ModelId::parse(&format!("p/{name}")).expect("a model"),
        key: KeyName("KEY".to_owned()),
    }
}

fn at(milliseconds: u64) -> Moment {
    Moment(Duration::from_millis(milliseconds))
}

fn ask(input: u64, output: u64) -> Ask {
    Ask {
        input: TokenCount(input),
        output: TokenCount(output),
    }
}

fn used(input: u64, output: u64) -> Settlement {
    Settlement::Used(Usage {
        input: TokenCount(input),
        output: TokenCount(output),
        ..Usage::default()
    })
}

fn limits(input: u64, output: u64) -> LaneLimits {
    LaneLimits {
        requests: None,
        input_tokens: Some(TokenCount(input)),
        output_tokens: Some(TokenCount(output)),
    }
}

#[test]
fn without_a_limit_everything_passes() {
    let mut ledger = RateLedger::default();
    for _ in 0..100 {
        let reservation = ledger.reserve(&lane("m"), ask(1 << 40, 1 << 40), at(0));
        ledger.settle(reservation.expect("passes"), Settlement::Unknown, at(1));
    }
    assert_eq!(ledger.open(), 0);
}

#[test]
fn a_reservation_holds_and_the_settlement_counts_what_was_used() {
    let mut ledger = RateLedger::default();
    let lane = lane("m");
    ledger.set_limits(&lane, limits(1000, 1000), at(0));
    let first = ledger.reserve(&lane, ask(600, 100), at(0)).expect("fits");
    let wait = ledger.reserve(&lane, ask(600, 100), at(0));
    let wait = wait.expect_err("600 are held of 1000");
    assert_eq!((wait.limit, wait.until), (Limit::InputTokens, None));
    // Half of the estimate was used, so 700 are left.
    ledger.settle(first, used(300, 10), at(0));
    let second = ledger.reserve(&lane, ask(600, 100), at(0)).expect("fits");
    ledger.settle(second, Settlement::Unsent, at(0));
    let third = ledger.reserve(&lane, ask(700, 100), at(0)).expect("fits");
    ledger.settle(third, Settlement::Unknown, at(0));
    let wait = ledger.reserve(&lane, ask(500, 100), at(0)).expect_err("0");
    // 1000 a minute: 500 come in 30 s.
    assert_eq!(wait.until, Some(at(30_001)));
    let fourth = ledger.reserve(&lane, ask(500, 100), at(30_001));
    ledger.settle(fourth.expect("refilled"), used(1, 1), at(30_001));
    ledger.assert_invariants();
}

#[test]
fn a_request_larger_than_the_bucket_goes_when_it_is_full() {
    let mut ledger = RateLedger::default();
    let lane = lane("m");
    ledger.set_limits(&lane, limits(1000, 1000), at(0));
    let large = ledger.reserve(&lane, ask(5000, 10), at(0)).expect("full");
    assert!(ledger.check(&lane, ask(1, 1), at(0)).is_err());
    ledger.settle(large, used(5000, 10), at(0));
    let wait = ledger
        .check(&lane, ask(5000, 10), at(0))
        .expect_err("empty");
    assert_eq!(wait.until, Some(at(60_001)));
}

#[test]
fn headers_correct_the_level_and_leave_what_is_under_way_held() {
    let mut ledger = RateLedger::default();
    let lane = lane("m");
    ledger.set_limits(&lane, limits(1000, 1000), at(0));
    let first = ledger.reserve(&lane, ask(100, 10), at(0)).expect("fits");
    let second = ledger.reserve(&lane, ask(100, 10), at(0)).expect("fits");
    let told = RateLimits {
        input_tokens: RateLimit {
            limit: Some(TokenCount(800)),
            remaining: Some(TokenCount(300)),
            reset: Some(Duration::from_secs(10)),
        },
        ..RateLimits::default()
    };
    ledger.observe(&first, &told, at(0));
    // 300 are left, the second request still holds 100 of them, the first is counted by the provider.
    assert!(ledger.check(&lane, ask(201, 1), at(0)).is_err());
    assert!(ledger.check(&lane, ask(200, 1), at(0)).is_ok());
    ledger.settle(first, used(100, 10), at(0));
    assert!(ledger.check(&lane, ask(200, 1), at(0)).is_ok());
    assert!(ledger.check(&lane, ask(201, 1), at(0)).is_err());
    // 500 come in 10 s; then the bucket is whole at 800 and the usual speed holds again.
    ledger.settle(second, used(100, 10), at(0));
    let wait = ledger
        .check(&lane, ask(800, 1), at(0))
        .expect_err("200 left");
    assert_eq!(wait.until, Some(at(12_001)));
    ledger.assert_invariants();
}

#[test]
fn a_refusal_empties_the_lane_until_the_wait_is_over() {
    let mut ledger = RateLedger::default();
    let (one, other) = (lane("m"), lane("n"));
    ledger.set_limits(&one, limits(1000, 1000), at(0));
    ledger.refused(&one, Some(Duration::from_secs(7)), at(0));
    let wait = ledger.check(&one, ask(1, 1), at(6_999)).expect_err("waits");
    assert_eq!(
        (wait.limit, wait.until),
        (Limit::RetryAfter, Some(at(7_000)))
    );
    assert!(ledger.check(&one, ask(1, 1), at(7_000)).is_ok());
    assert!(ledger.check(&other, ask(1, 1), at(0)).is_ok());
}

#[test]
fn a_limit_of_tokens_in_all_covers_what_is_written() {
    let mut ledger = RateLedger::default();
    let lane = lane("m");
    let own = LaneLimits {
        input_tokens: Some(TokenCount(1000)),
        ..LaneLimits::default()
    };
    ledger.set_limits(&lane, own, at(0));
    let first = ledger.reserve(&lane, ask(400, 400), at(0)).expect("fits");
    assert!(ledger.check(&lane, ask(100, 101), at(0)).is_err());
    ledger.settle(first, used(400, 100), at(0));
    assert!(ledger.check(&lane, ask(250, 250), at(0)).is_ok());
    assert!(ledger.check(&lane, ask(250, 251), at(0)).is_err());
}

#[test]
fn absurd_headers_do_no_harm() {
    let mut ledger = RateLedger::default();
    let lane = lane("m");
    let first = ledger.reserve(&lane, ask(1, 1), at(0)).expect("passes");
    let told = |limit, remaining, reset| RateLimit {
        limit: Some(TokenCount(limit)),
        remaining: Some(TokenCount(remaining)),
        reset: Some(reset),
    };
    let limits = RateLimits {
        requests: told(0, 0, Duration::MAX),
        input_tokens: told(10, u64::MAX, Duration::ZERO),
        output_tokens: told(u64::MAX, 0, Duration::MAX),
        retry_after: None,
    };
    ledger.observe(&first, &limits, at(0));
    ledger.assert_invariants();
    ledger.refused(&lane, Some(Duration::MAX), at(5));
    ledger.settle(first, used(u64::MAX, u64::MAX), at(6));
    ledger.assert_invariants();
}

/// Hours of requests with random estimates, usages, headers, refusals and cancellations.
#[test]
fn it_is_never_negative_and_everything_settles() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut ledger = RateLedger::default();
        let lanes = [lane("a"), lane("b")];
        ledger.set_limits(&lanes[0], limits(50_000, 8_000), at(0));
        let mut open: Vec<(Reservation, Ask)> = Vec::new();
        let mut now = 0;
        let mut granted = 0u64;
        for _ in 0..3000 {
            now += random.below(3000);
            let lane = random.pick(&lanes);
            match random.below(10) {
                0..=4 => {
                    let ask = ask(random.below(60_000), random.below(9_000));
                    match ledger.reserve(lane, ask, at(now)) {
                        Ok(reservation) => {
                            granted += 1;
                            open.push((reservation, ask));
                        }
                        Err(wait) => {
                            if let Some(until) = wait.until {
                                assert!(until > at(now), "seed {seed}");
                            }
                        }
                    }
                }
                5 if !open.is_empty() => {
                    let (reservation, _) = random.pick(&open);
                    let limit = RateLimit {
                        limit: Some(TokenCount(random.below(90_000))),
                        remaining: Some(TokenCount(random.below(90_000))),
                        reset: Some(Duration::from_millis(random.below(90_000))),
                    };
                    let told = RateLimits {
                        requests: RateLimit::default(),
                        input_tokens: limit,
                        output_tokens: limit,
                        retry_after: None,
                    };
                    ledger.observe(reservation, &told, at(now));
                }
                6 if random.one_in(4) => {
                    let wait = Duration::from_millis(random.below(20_000));
                    ledger.refused(lane, Some(wait), at(now));
                }
                _ if !open.is_empty() => {
                    let at_ = random.below(open.len() as u64) as usize;
                    let (reservation, ask) = open.swap_remove(at_);
                    let settlement = match random.below(3) {
                        0 => Settlement::Unsent,
                        1 => Settlement::Unknown,
                        _ => used(random.below(2 * ask.input.0 + 1), ask.output.0),
                    };
                    ledger.settle(reservation, settlement, at(now));
                }
                _ => {}
            }
            assert_eq!(ledger.open(), open.len(), "seed {seed}");
            ledger.assert_invariants();
        }
        for (reservation, _) in open.drain(..) {
            ledger.settle(reservation, Settlement::Unknown, at(now));
        }
        assert_eq!(ledger.open(), 0);
        // Nothing is lost for ever: with time any request goes again.
        for lane in &lanes {
            let later = Moment(Duration::from_millis(now) + Duration::from_secs(100_000));
            let all = ask(u64::MAX, u64::MAX);
            assert!(ledger.check(lane, all, later).is_ok(), "seed {seed}");
        }
        assert!(granted > 100, "seed {seed}: {granted}");
    }
}
