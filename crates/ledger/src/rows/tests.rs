//! What is read back is what was appended; the sums are right.

use base::AbsPath;
use model::{TokenCount, Usage};

use crate::{Call, Decision, Entry, Ledger, Metric, Reservation, Session, SessionEvent, Spent};

fn ledger() -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    (folder, ledger)
}

fn call(name: &str, run: &str, at_ms: u64, cost_nano: Option<u64>) -> Call {
    Call {
        call: name.to_owned(),
        run: run.to_owned(),
        decision: "d1".to_owned(),
        at_ms,
        model: "local/small".to_owned(),
        agent: "a1".to_owned(),
        turn: Some("t1".to_owned()),
        class: "turn".to_owned(),
        outcome: "ok".to_owned(),
        attempt: 2,
        first_byte_ms: Some(31),
        total_ms: 1_900,
        usage: Usage {
            input: TokenCount(1),
            cache_read: TokenCount(2),
            cache_write_5m: TokenCount(3),
            cache_write_1h: TokenCount(4),
            output: TokenCount(5),
            reasoning: TokenCount(6),
        },
        is_estimate: false,
        cost_nano,
    }
}

fn reservation(name: &str, run: &str, at_ms: u64, cost_nano: u64) -> Entry {
    Entry::Reservation(Reservation {
        call: name.to_owned(),
        run: run.to_owned(),
        at_ms,
        cost_nano,
    })
}

#[test]
fn every_kind_of_row_comes_back_as_it_went_in() {
    let (_folder, mut ledger) = ledger();
    let session = Session {
        id: "s1".to_owned(),
        started_ms: 5,
        root: "/project".to_owned(),
    };
    let decision = Decision {
        id: "d1".to_owned(),
        at_ms: 6,
        agent: "a1".to_owned(),
        conversation: None,
        class: "turn".to_owned(),
        chosen: Some("local/small".to_owned()),
        reason: "it is the only one".to_owned(),
        body: "{\"features\":{}}".to_owned(),
    };
    let metric = Metric {
        at_ms: 7,
        name: "first_byte_ms".to_owned(),
        value: 31.5,
        tags: "{}".to_owned(),
    };
    let whole = call("c1", "r1", 8, Some(70));
    let bare = Call {
        turn: None,
        first_byte_ms: None,
        is_estimate: true,
        ..call("c2", "r1", 9, None)
    };
    ledger
        .append(&[
            Entry::Session(session.clone()),
            Entry::Decision(decision.clone()),
            Entry::Metric(metric.clone()),
            Entry::Call(whole.clone()),
            Entry::Call(bare.clone()),
        ])
        .unwrap();
    assert_eq!(ledger.sessions().unwrap(), [session]);
    assert_eq!(ledger.decisions(9).unwrap(), [decision]);
    assert_eq!(ledger.metrics("first_byte_ms", 0).unwrap(), [metric]);
    assert_eq!(ledger.calls(8).unwrap(), [whole, bare.clone()]);
    assert_eq!(ledger.calls(9).unwrap(), [bare]);
}

#[test]
fn a_call_under_way_counts_as_what_it_may_cost_and_then_as_what_it_did() {
    let (_folder, mut ledger) = ledger();
    ledger
        .append(&[
            reservation("c1", "theirs", 10, 900),
            reservation("c2", "theirs", 10, 500),
            reservation("c3", "ours", 10, 7_000),
            reservation("old", "theirs", 9, 7_000),
            Entry::Call(call("c1", "theirs", 11, Some(80))),
            Entry::Call(call("c4", "theirs", 12, None)),
        ])
        .unwrap();
    let spent = Spent {
        cost_nano: 580,
        tokens: 30,
        calls_without_price: 1,
    };
    assert_eq!(ledger.spent_by_others(10, "ours").unwrap(), spent);
    ledger
        .append(&[Entry::Call(call("c2", "theirs", 13, Some(20)))])
        .unwrap();
    assert_eq!(ledger.spent_by_others(10, "ours").unwrap().cost_nano, 100);
}

#[test]
fn events_are_found_by_their_kind_and_the_last_one_by_its_number() {
    let (_folder, mut ledger) = ledger();
    let event = |seq, kind: &str| {
        Entry::Event(SessionEvent {
            session: "s".to_owned(),
            seq,
            at_ms: seq,
            kind: kind.to_owned(),
            body: "{}".to_owned(),
        })
    };
    ledger
        .append(&[event(0, "began"), event(1, "asked"), event(2, "ended")])
        .expect("appended");
    let some = ledger.events_of("s", &["ended", "began"]).expect("read");
    assert_eq!(
        some.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [0, 2]
    );
    assert_eq!(
        ledger.last_event("s").expect("read").map(|event| event.seq),
        Some(2)
    );
    assert_eq!(ledger.last_event("nobody").expect("read"), None);
}
