//! Classes are strict, agents of a class are served alike, and nothing waits for ever.

use std::collections::HashMap;

use super::*;
use crate::random::Random;

fn at(seconds: u64) -> Moment {
    Moment(Duration::from_secs(seconds))
}

fn push(queue: &mut Queue<u64>, class: Class, agent: u64, tokens: u64, now: Moment) -> Ticket {
    queue.push((class, AgentId(agent)), TokenCount(tokens), now, tokens)
}

#[test]
fn the_more_urgent_class_goes_first() {
    let mut queue = Queue::default();
    for class in [Class::Background, Class::Subagent, Class::Turn, Class::Tab] {
        push(&mut queue, class, 1, 10, at(0));
        push(&mut queue, class, 2, 10, at(0));
    }
    assert_eq!(queue.len(), 8);
    let mut classes = Vec::new();
    while let Some(entry) = queue.pop(at(1), |_| true) {
        classes.push(entry.class);
    }
    let twice = Class::ALL.into_iter().flat_map(|class| [class, class]);
    assert_eq!(classes, twice.collect::<Vec<_>>());
}

#[test]
fn what_cannot_go_is_overtaken() {
    let mut queue = Queue::default();
    push(&mut queue, Class::Turn, 1, 1, at(0));
    push(&mut queue, Class::Turn, 1, 2, at(0));
    push(&mut queue, Class::Subagent, 2, 3, at(0));
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
fn an_entry_can_be_taken_out() {
    let mut queue = Queue::default();
    let first = push(&mut queue, Class::Turn, 1, 1, at(0));
    let second = push(&mut queue, Class::Turn, 1, 2, at(0));
    assert_eq!(queue.remove(first), Some(1));
    assert_eq!(queue.remove(first), None);
    assert_eq!(queue.waiting(Class::Turn), 1);
    assert_eq!(
        queue.pop(at(0), |_| true).map(|one| one.ticket),
        Some(second)
    );
    assert!(queue.is_empty());
}

#[test]
fn large_requests_get_no_larger_share() {
    let mut queue = Queue::default();
    for _ in 0..1000 {
        push(&mut queue, Class::Turn, 1, 100_000, at(0));
        for _ in 0..50 {
            push(&mut queue, Class::Turn, 2, 2_000, at(0));
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
fn agents_that_always_wait_are_served_alike() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let agents = 2 + random.below(14);
        let largest = 1 + random.below(200_000);
        let mut queue = Queue::default();
        let mut sent: HashMap<u64, u64> = (0..agents).map(|agent| (agent, 0)).collect();
        for agent in 0..agents {
            push(&mut queue, Class::Turn, agent, random.below(largest), at(0));
            push(&mut queue, Class::Turn, agent, random.below(largest), at(0));
        }
        for _ in 0..2_000 {
            let entry = queue.pop(at(0), |_| true).expect("all wait");
            *sent.get_mut(&entry.agent.0).expect("known") += entry.item;
            push(
                &mut queue,
                Class::Turn,
                entry.agent.0,
                random.below(largest),
                at(0),
            );
            let most = sent.values().max().expect("agents");
            let least = sent.values().min().expect("agents");
            assert!(most - least <= 2 * (largest + QUANTUM), "seed {seed}");
        }
    }
}

#[test]
fn an_agent_that_waited_alone_has_saved_nothing_up() {
    let mut queue = Queue::default();
    for _ in 0..100 {
        push(&mut queue, Class::Turn, 1, 5_000, at(0));
    }
    for _ in 0..50 {
        queue.pop(at(0), |_| true).expect("one waits");
    }
    for _ in 0..50 {
        push(&mut queue, Class::Turn, 2, 5_000, at(0));
    }
    let mut first = 0;
    for _ in 0..20 {
        first += u32::from(queue.pop(at(0), |_| true).expect("both").agent == AgentId(1));
    }
    assert!((9..=11).contains(&first), "{first} of 20");
}

/// A flood of visible turns: background work still moves once it is overdue, and takes a quarter at most.
#[test]
fn the_lowest_class_is_slow_but_never_starves() {
    let mut queue = Queue::default();
    for agent in 0..20 {
        push(&mut queue, Class::Background, agent, 1_000, at(0));
    }
    let mut served = [0u32; 2];
    for second in 0..200 {
        push(&mut queue, Class::Turn, 100, 1_000, at(second));
        push(&mut queue, Class::Turn, 101, 1_000, at(second));
        let entry = queue.pop(at(second), |_| true).expect("turns wait");
        let is_background = entry.class == Class::Background;
        served[usize::from(is_background)] += 1;
        assert!(!is_background || second >= 60, "not before it is overdue");
    }
    assert_eq!(queue.waiting(Class::Background), 0);
    assert_eq!(served, [180, 20]);
}

#[test]
fn tab_waits_for_nothing() {
    let mut queue = Queue::default();
    for agent in 0..16 {
        push(&mut queue, Class::Background, agent, 1_000_000, at(0));
        push(&mut queue, Class::Turn, agent, 1_000_000, at(0));
    }
    for second in 100..140 {
        push(&mut queue, Class::Tab, 99, 10, at(second));
        let entry = queue.pop(at(second), |_| true).expect("waits");
        assert_eq!(entry.class, Class::Tab);
    }
}

/// A lane with room for 100 of which small requests always take some: the large one gets its turn.
#[test]
fn a_large_request_is_not_starved_by_small_ones_in_its_lane() {
    let served = |is_kept: bool| {
        let mut queue = Queue::default();
        push(&mut queue, Class::Turn, 1, 100, at(0));
        let mut room = 50;
        for second in 0..300 {
            room = (room + 10).min(100);
            push(&mut queue, Class::Turn, 2, 10, at(second));
            let can_go = |tokens: &u64| *tokens <= room;
            // As whoever holds the lanes knows it: what can go is not held back.
            let held = |tokens: &u64| (is_kept && *tokens > room).then_some("lane");
            if let Some(entry) = queue.pop_keeping(at(second), can_go, |_| "lane", held) {
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
