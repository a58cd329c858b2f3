//! Tests that one request leads, the others follow for a while, and a cold cache is written again.

use super::*;
use crate::ModelId;
use crate::policy::KeyName;

const HASH: PrefixHash = PrefixHash(7);

fn route(name: &str) -> Route {
    Route {
        model: ModelId::parse(&format!("p/{name}")).expect("a model"),
        key: KeyName::default(),
    }
}

fn at(milliseconds: u64) -> MonotonicTime {
    MonotonicTime(Duration::from_millis(milliseconds))
}

fn arrive(registry: &mut PrefixRegistry, since: u64, now: u64) -> PrefixTurn {
    registry.arrive(HASH, &route("m"), CacheMark::Short, at(since), at(now))
}

#[test]
fn followers_proceed_after_the_leaders_first_byte() {
    let mut registry = PrefixRegistry::default();
    assert_eq!(arrive(&mut registry, 0, 0), PrefixTurn::Lead);
    let follow = PrefixTurn::Follow { until: at(1510) };
    assert_eq!(arrive(&mut registry, 10, 10), follow);
    registry.written(HASH, &route("m"), at(600));
    assert_eq!(arrive(&mut registry, 10, 600), PrefixTurn::Warm);
}

#[test]
fn followers_wait_at_most_one_and_a_half_seconds() {
    let mut registry = PrefixRegistry::default();
    assert_eq!(arrive(&mut registry, 0, 0), PrefixTurn::Lead);
    assert!(matches!(
        arrive(&mut registry, 1400, 1400),
        PrefixTurn::Follow { .. }
    ));
    // The first leader has been silent for too long: the follower leads, and the next one follows
    // it.
    assert_eq!(arrive(&mut registry, 1400, 1500), PrefixTurn::Lead);
    assert!(matches!(
        arrive(&mut registry, 1450, 1600),
        PrefixTurn::Follow { .. }
    ));
    // A request that has waited its full time is sent, whatever the leader does.
    assert_eq!(arrive(&mut registry, 1450, 2950), PrefixTurn::Lead);
}

#[test]
fn failed_leader_is_replaced() {
    let mut registry = PrefixRegistry::default();
    assert_eq!(arrive(&mut registry, 0, 0), PrefixTurn::Lead);
    registry.failed(HASH, &route("m"));
    assert_eq!(arrive(&mut registry, 10, 20), PrefixTurn::Lead);
}

#[test]
fn caches_expire_and_are_separate_per_route() {
    let mut registry = PrefixRegistry::default();
    arrive(&mut registry, 0, 0);
    registry.written(HASH, &route("m"), at(0));
    assert!(registry.is_warm(HASH, &route("m"), at(289_000)));
    assert!(!registry.is_warm(HASH, &route("n"), at(1)));
    assert!(!registry.is_warm(HASH, &route("m"), at(291_000)));
    assert_eq!(arrive(&mut registry, 291_000, 291_000), PrefixTurn::Lead);
    let turn = registry.arrive(HASH, &route("n"), CacheMark::Long, at(0), at(0));
    assert_eq!(turn, PrefixTurn::Lead);
    registry.written(HASH, &route("n"), at(0));
    assert!(registry.is_warm(HASH, &route("n"), at(3_000_000)));
}

#[test]
fn least_recently_used_prefix_is_dropped() {
    let mut registry = PrefixRegistry::default();
    for number in 0..5000 {
        let hash = PrefixHash(number);
        registry.arrive(hash, &route("m"), CacheMark::Short, at(number), at(number));
        registry.written(hash, &route("m"), at(number));
    }
    assert!(registry.prefixes.len() <= MAX_PREFIXES);
    assert!(registry.is_warm(PrefixHash(4999), &route("m"), at(5000)));
    assert!(!registry.is_warm(PrefixHash(0), &route("m"), at(5000)));
}

#[test]
fn hash_covers_tools_and_system_only() {
    use crate::{Message, Role, SystemBlock, TokenCount};
    let mut request = ModelRequest::new(route("m").model, Vec::new(), TokenCount(1));
    let hash = PrefixHash::of(&request);
    request.messages.push(Message::text(Role::User, "hello"));
    request.model = route("other").model;
    assert_eq!(PrefixHash::of(&request), hash);
    request.system.push(SystemBlock {
        text: "be brief".to_owned(),
        cache: CacheMark::Short,
    });
    assert_ne!(PrefixHash::of(&request), hash);
}
