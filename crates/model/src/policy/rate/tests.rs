//! Tests that buckets hold, refill, follow the headers, and never drop below zero.

use super::*;
use crate::ModelId;
use crate::policy::KeyName;
use crate::random::TestRng;

fn route(name: &str) -> Route {
    Route {
        model: ModelId::parse(&format!("p/{name}")).expect("a model"),
        key: KeyName("KEY".to_owned()),
    }
}

fn at(milliseconds: u64) -> MonotonicTime {
    MonotonicTime(Duration::from_millis(milliseconds))
}

fn ask(input: u64, output: u64) -> TokenDemand {
    TokenDemand {
        input: TokenCount(input),
        output: TokenCount(output),
    }
}

fn used(input: u64, output: u64) -> RateSettlement {
    RateSettlement::Used(Usage {
        input: TokenCount(input),
        output: TokenCount(output),
        ..Usage::default()
    })
}

fn limits(input: u64, output: u64) -> RouteLimits {
    RouteLimits {
        requests: None,
        input_tokens: Some(TokenCount(input)),
        output_tokens: Some(TokenCount(output)),
    }
}

#[test]
fn everything_passes_without_limits() {
    let mut ledger = RateLedger::default();
    for _ in 0..100 {
        let reservation = ledger.reserve(&route("m"), ask(1 << 40, 1 << 40), at(0));
        ledger.settle_reservation(reservation.expect("passes"), RateSettlement::Unknown, at(1));
    }
    assert_eq!(ledger.open(), 0);
}

#[test]
fn reservations_hold_and_settlements_count_usage() {
    let mut ledger = RateLedger::default();
    let route = route("m");
    ledger.set_limits(&route, limits(1000, 1000), at(0));
    let first = ledger.reserve(&route, ask(600, 100), at(0)).expect("fits");
    let wait = ledger.reserve(&route, ask(600, 100), at(0));
    let wait = wait.expect_err("600 are held of 1000");
    assert_eq!((wait.limit, wait.until), (RateLimitKind::InputTokens, None));
    // Half of the estimate was used, so 700 are left.
    ledger.settle_reservation(first, used(300, 10), at(0));
    let second = ledger.reserve(&route, ask(600, 100), at(0)).expect("fits");
    ledger.settle_reservation(second, RateSettlement::Unsent, at(0));
    let third = ledger.reserve(&route, ask(700, 100), at(0)).expect("fits");
    ledger.settle_reservation(third, RateSettlement::Unknown, at(0));
    let wait = ledger.reserve(&route, ask(500, 100), at(0)).expect_err("0");
    // At 1000 per minute, 500 take 30 s.
    assert_eq!(wait.until, Some(at(30_001)));
    let fourth = ledger.reserve(&route, ask(500, 100), at(30_001));
    ledger.settle_reservation(fourth.expect("refilled"), used(1, 1), at(30_001));
    ledger.assert_invariants();
}

#[test]
fn oversized_request_is_admitted_by_a_full_bucket() {
    let mut ledger = RateLedger::default();
    let route = route("m");
    ledger.set_limits(&route, limits(1000, 1000), at(0));
    let large = ledger.reserve(&route, ask(5000, 10), at(0)).expect("full");
    assert!(ledger.check(&route, ask(1, 1), at(0)).is_err());
    ledger.settle_reservation(large, used(5000, 10), at(0));
    let wait = ledger
        .check(&route, ask(5000, 10), at(0))
        .expect_err("empty");
    assert_eq!(wait.until, Some(at(60_001)));
}

#[test]
fn headers_correct_the_level_but_keep_holds() {
    let mut ledger = RateLedger::default();
    let route = route("m");
    ledger.set_limits(&route, limits(1000, 1000), at(0));
    let first = ledger.reserve(&route, ask(100, 10), at(0)).expect("fits");
    let second = ledger.reserve(&route, ask(100, 10), at(0)).expect("fits");
    let told = RateLimits {
        input_tokens: RateLimit {
            limit: Some(TokenCount(800)),
            remaining: Some(TokenCount(300)),
            reset: Some(Duration::from_secs(10)),
        },
        ..RateLimits::default()
    };
    ledger.observe(&first, &told, at(0));
    // 300 are left: the second request still holds 100, the first is counted by the provider.
    assert!(ledger.check(&route, ask(201, 1), at(0)).is_err());
    assert!(ledger.check(&route, ask(200, 1), at(0)).is_ok());
    ledger.settle_reservation(first, used(100, 10), at(0));
    assert!(ledger.check(&route, ask(200, 1), at(0)).is_ok());
    assert!(ledger.check(&route, ask(201, 1), at(0)).is_err());
    // 500 arrive in 10 s; then the bucket is full at 800 and refills at its usual rate.
    ledger.settle_reservation(second, used(100, 10), at(0));
    let wait = ledger
        .check(&route, ask(800, 1), at(0))
        .expect_err("200 left");
    assert_eq!(wait.until, Some(at(12_001)));
    ledger.assert_invariants();
}

#[test]
fn refusal_blocks_the_route_until_the_wait_ends() {
    let mut ledger = RateLedger::default();
    let (one, other) = (route("m"), route("n"));
    ledger.set_limits(&one, limits(1000, 1000), at(0));
    ledger.refused(&one, Some(Duration::from_secs(7)), at(0));
    let wait = ledger.check(&one, ask(1, 1), at(6_999)).expect_err("waits");
    assert_eq!(
        (wait.limit, wait.until),
        (RateLimitKind::RetryAfter, Some(at(7_000)))
    );
    assert!(ledger.check(&one, ask(1, 1), at(7_000)).is_ok());
    assert!(ledger.check(&other, ask(1, 1), at(0)).is_ok());
}

#[test]
fn total_token_limit_includes_output() {
    let mut ledger = RateLedger::default();
    let route = route("m");
    let own = RouteLimits {
        input_tokens: Some(TokenCount(1000)),
        ..RouteLimits::default()
    };
    ledger.set_limits(&route, own, at(0));
    let first = ledger.reserve(&route, ask(400, 400), at(0)).expect("fits");
    assert!(ledger.check(&route, ask(100, 101), at(0)).is_err());
    ledger.settle_reservation(first, used(400, 100), at(0));
    assert!(ledger.check(&route, ask(250, 250), at(0)).is_ok());
    assert!(ledger.check(&route, ask(250, 251), at(0)).is_err());
}

#[test]
fn absurd_headers_are_harmless() {
    let mut ledger = RateLedger::default();
    let route = route("m");
    let first = ledger.reserve(&route, ask(1, 1), at(0)).expect("passes");
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
    ledger.refused(&route, Some(Duration::MAX), at(5));
    ledger.settle_reservation(first, used(u64::MAX, u64::MAX), at(6));
    ledger.assert_invariants();
}

/// Simulates hours of requests with random estimates, usages, headers, refusals and cancellations.
#[test]
fn levels_stay_nonnegative_and_reservations_settle() {
    for seed in 0..60 {
        let mut random = TestRng::new(seed);
        let mut ledger = RateLedger::default();
        let routes = [route("a"), route("b")];
        ledger.set_limits(&routes[0], limits(50_000, 8_000), at(0));
        let mut open: Vec<(RateReservation, TokenDemand)> = Vec::new();
        let mut now = 0;
        let mut granted = 0u64;
        for _ in 0..3000 {
            now += random.next_below(3000);
            let route = random.pick(&routes);
            match random.next_below(10) {
                0..=4 => {
                    let ask = ask(random.next_below(60_000), random.next_below(9_000));
                    match ledger.reserve(route, ask, at(now)) {
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
                        limit: Some(TokenCount(random.next_below(90_000))),
                        remaining: Some(TokenCount(random.next_below(90_000))),
                        reset: Some(Duration::from_millis(random.next_below(90_000))),
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
                    let wait = Duration::from_millis(random.next_below(20_000));
                    ledger.refused(route, Some(wait), at(now));
                }
                _ if !open.is_empty() => {
                    let at_ = random.next_below(open.len() as u64) as usize;
                    let (reservation, ask) = open.swap_remove(at_);
                    let settlement = match random.next_below(3) {
                        0 => RateSettlement::Unsent,
                        1 => RateSettlement::Unknown,
                        _ => used(random.next_below(2 * ask.input.0 + 1), ask.output.0),
                    };
                    ledger.settle_reservation(reservation, settlement, at(now));
                }
                _ => {}
            }
            assert_eq!(ledger.open(), open.len(), "seed {seed}");
            ledger.assert_invariants();
        }
        for (reservation, _) in open.drain(..) {
            ledger.settle_reservation(reservation, RateSettlement::Unknown, at(now));
        }
        assert_eq!(ledger.open(), 0);
        // No capacity is lost permanently: in time every request is admitted again.
        for route in &routes {
            let later = MonotonicTime(Duration::from_millis(now) + Duration::from_secs(100_000));
            let all = ask(u64::MAX, u64::MAX);
            assert!(ledger.check(route, all, later).is_ok(), "seed {seed}");
        }
        assert!(granted > 100, "seed {seed}: {granted}");
    }
}
