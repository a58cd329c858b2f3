//! Tests that the limit converges to the server's capacity and stays within its bounds.

use std::collections::VecDeque;
use std::time::Duration;

use super::*;
use crate::random::TestRng;

#[test]
fn limit_grows_per_round_and_halves_once_per_overload() {
    let mut route = Concurrency::new(4, 16);
    for _ in 0..4 {
        assert!(route.has_room());
        route.start();
    }
    assert!(!route.has_room());
    for _ in 0..4 {
        route.succeeded();
        route.start();
    }
    assert_eq!(route.limit(), 4, "a little less than one round");
    route.succeeded();
    route.start();
    assert_eq!(route.limit(), 5);
    let now = MonotonicTime(Duration::from_secs(9));
    route.overloaded(MonotonicTime::START, now);
    route.overloaded(MonotonicTime::START, now + Duration::from_millis(200));
    assert_eq!((route.limit(), route.in_flight()), (2, 2));
    route.overloaded(now, now + Duration::from_secs(2));
    assert_eq!(route.limit(), 1);
}

#[test]
fn limit_does_not_grow_while_unused() {
    let mut route = Concurrency::new(8, 64);
    for _ in 0..100 {
        route.start();
        route.succeeded();
    }
    assert_eq!(route.limit(), 8);
}

#[test]
fn limit_converges_to_the_servers_capacity() {
    for seed in 0..50 {
        let mut random = TestRng::new(seed);
        let bears = 2 + random.next_below(14) as u32;
        let mut route = Concurrency::new(4, 32);
        let mut now = MonotonicTime::START;
        let mut started = VecDeque::new();
        let mut refused = 0u32;
        let mut served = 0u32;
        for _ in 0..4000 {
            now = now + Duration::from_millis(100);
            while route.has_room() {
                route.start();
                started.push_back(now);
            }
            let first = started.pop_front().expect("at least one may start");
            let is_over = route.in_flight() > bears;
            if is_over {
                refused += 1;
                route.overloaded(first, now);
            } else if random.one_in(10) {
                route.ended_neutrally()
            } else {
                served += 1;
                route.succeeded();
            }
            assert!((1..=32).contains(&route.limit()), "seed {seed}");
        }
        assert!(refused * 2 < served, "seed {seed}: {refused} of {served}");
    }
}
