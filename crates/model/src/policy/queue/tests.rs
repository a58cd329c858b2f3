//! Tests strict classes, fairness between agents of a class, and freedom from starvation.

use std::collections::HashMap;

use super::*;
use crate::random::TestRng;

fn at(seconds: u64) -> MonotonicTime {
    MonotonicTime(Duration::from_secs(seconds))
}

fn push(
    queue: &mut RequestQueue<u64>,
    class: RequestClass,
    agent: u64,
    tokens: u64,
    now: MonotonicTime,
) -> QueueTicket {
    queue.push((class, AgentId(agent)), TokenCount(tokens), now, tokens)
}

#[test]
fn more_urgent_class_is_served_first() {
    let mut queue = RequestQueue::default();
    for class in [
        RequestClass::Background,
        RequestClass::Subagent,
        RequestClass::Turn,
        RequestClass::Tab,
    ] {
        push(&mut queue, class, 1, 10, at(0));
        push(&mut queue, class, 2, 10, at(0));
    }
    assert_eq!(queue.len(), 8);
    let mut classes = Vec::new();
    while let Some(entry) = queue.pop(at(1), |_| true) {
        classes.push(entry.class);
    }
    let twice = RequestClass::ALL
        .into_iter()
        .flat_map(|class| [class, class]);
    assert_eq!(classes, twice.collect::<Vec<_>>());
}

#[test]
fn blocked_entries_are_overtaken() {
    let mut queue = RequestQueue::default();
    push(&mut queue, RequestClass::Turn, 1, 1, at(0));
    push(&mut queue, RequestClass::Turn, 1, 2, at(0));
    push(&mut queue, RequestClass::Subagent, 2, 3, at(0));
    assert_eq!(
        queue.pop(at(0), |item| *item > 1).map(|one| one.item),
        Some(2)
    );
    assert_eq!(
        queue.pop(at(0), |item| *item > 1).map(|one| one.item),
        Some(3)
    );
    assert_eq!(queue.pop(at(0), |item| *item > 1), None);
    assert_eq!(queue.pop(at(0), |_| true).map(|one| one.item), Some(1));
}

#[test]
fn entries_can_be_removed() {
    let mut queue = RequestQueue::default();
    let first = push(&mut queue, RequestClass::Turn, 1, 1, at(0));
    let second = push(&mut queue, RequestClass::Turn, 1, 2, at(0));
    assert_eq!(queue.remove(first), Some(1));
    assert_eq!(queue.remove(first), None);
    assert_eq!(queue.waiting(RequestClass::Turn), 1);
    assert_eq!(
        queue.pop(at(0), |_| true).map(|one| one.ticket),
        Some(second)
    );
    assert!(queue.is_empty());
}

#[test]
fn shares_do_not_depend_on_request_size() {
    let mut queue = RequestQueue::default();
    for _ in 0..1000 {
        push(&mut queue, RequestClass::Turn, 1, 100_000, at(0));
        for _ in 0..50 {
            push(&mut queue, RequestClass::Turn, 2, 2_000, at(0));
        }
    }
    let mut sent = HashMap::new();
    for _ in 0..5_000 {
        let entry = queue.pop(at(0), |_| true).expect("both wait");
        *sent.entry(entry.agent).or_insert(0) += entry.item;
    }
    let (one, other) = (sent[&AgentId(1)], sent[&AgentId(2)]);
    assert!(
        one.abs_diff(other) <= 100_000 + 2 * QUANTUM,
        "{one} {other}"
    );
}

#[test]
fn busy_agents_get_equal_shares() {
    for seed in 0..40 {
        let mut random = TestRng::new(seed);
        let agents = 2 + random.next_below(14);
        let largest = 1 + random.next_below(200_000);
        let mut queue = RequestQueue::default();
        let mut sent: HashMap<u64, u64> = (0..agents).map(|agent| (agent, 0)).collect();
        for agent in 0..agents {
            push(
                &mut queue,
                RequestClass::Turn,
                agent,
                random.next_below(largest),
                at(0),
            );
            push(
                &mut queue,
                RequestClass::Turn,
                agent,
                random.next_below(largest),
                at(0),
            );
        }
        for _ in 0..2_000 {
            let entry = queue.pop(at(0), |_| true).expect("all wait");
            *sent.get_mut(&entry.agent.0).expect("known") += entry.item;
            push(
                &mut queue,
                RequestClass::Turn,
                entry.agent.0,
                random.next_below(largest),
                at(0),
            );
            let most = sent.values().max().expect("agents");
            let least = sent.values().min().expect("agents");
            assert!(most - least <= 2 * (largest + QUANTUM), "seed {seed}");
        }
    }
}

#[test]
fn idle_agents_accumulate_no_deficit() {
    let mut queue = RequestQueue::default();
    for _ in 0..100 {
        push(&mut queue, RequestClass::Turn, 1, 5_000, at(0));
    }
    for _ in 0..50 {
        queue.pop(at(0), |_| true).expect("one waits");
    }
    for _ in 0..50 {
        push(&mut queue, RequestClass::Turn, 2, 5_000, at(0));
    }
    let mut first = 0;
    for _ in 0..20 {
        first += u32::from(queue.pop(at(0), |_| true).expect("both").agent == AgentId(1));
    }
    assert!((9..=11).contains(&first), "{first} of 20");
}

/// Under a flood of visible turns, overdue background work still proceeds, taking at most a
/// quarter.
#[test]
fn lowest_class_never_starves() {
    let mut queue = RequestQueue::default();
    for agent in 0..20 {
        push(&mut queue, RequestClass::Background, agent, 1_000, at(0));
    }
    let mut served = [0u32; 2];
    for second in 0..200 {
        push(&mut queue, RequestClass::Turn, 100, 1_000, at(second));
        push(&mut queue, RequestClass::Turn, 101, 1_000, at(second));
        let entry = queue.pop(at(second), |_| true).expect("turns wait");
        let is_background = entry.class == RequestClass::Background;
        served[usize::from(is_background)] += 1;
        assert!(!is_background || second >= 60, "not before it is overdue");
    }
    assert_eq!(queue.waiting(RequestClass::Background), 0);
    assert_eq!(served, [180, 20]);
}

#[test]
fn tab_is_always_first() {
    let mut queue = RequestQueue::default();
    for agent in 0..16 {
        push(
            &mut queue,
            RequestClass::Background,
            agent,
            1_000_000,
            at(0),
        );
        push(&mut queue, RequestClass::Turn, agent, 1_000_000, at(0));
    }
    for second in 100..140 {
        push(&mut queue, RequestClass::Tab, 99, 10, at(second));
        let entry = queue.pop(at(second), |_| true).expect("waits");
        assert_eq!(entry.class, RequestClass::Tab);
    }
}

/// On a route with capacity 100 that small requests keep partly busy, a large request gets its
/// turn.
#[test]
fn small_requests_do_not_starve_a_large_one() {
    let served = |is_kept: bool| {
        let mut queue = RequestQueue::default();
        push(&mut queue, RequestClass::Turn, 1, 100, at(0));
        let mut room = 50;
        for second in 0..300 {
            room = (room + 10).min(100);
            push(&mut queue, RequestClass::Turn, 2, 10, at(second));
            let can_go = |tokens: &u64| *tokens <= room;
            // The owner of the routes would say the same: an entry that can be sent is not held
            // back.
            let held = |tokens: &u64| (is_kept && *tokens > room).then_some("route");
            if let Some(entry) = queue.pop_keeping(at(second), can_go, |_| "route", held) {
                room -= entry.item;
                if entry.item == 100 {
                    return Some(second);
                }
            }
        }
        None
    };
    assert_eq!(served(false), None);
    assert!(served(true).is_some_and(|second| (60..70).contains(&second)));
}
