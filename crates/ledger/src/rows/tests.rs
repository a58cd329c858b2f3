//! Tests that rows round-trip and that sums are correct.

use base::AbsPath;
use model::{TokenCount, Usage};

use crate::{
    CallRow, DecisionRow, EventRow, Ledger, LedgerEntry, MarkRow, MetricRow, ReservationRow,
    SessionRow, SpendTotal,
};

fn ledger() -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    (folder, ledger)
}

fn call(name: &str, run: &str, at_ms: u64, cost_nano: Option<u64>) -> CallRow {
    CallRow {
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
            accepted_prediction: TokenCount(7),
            rejected_prediction: TokenCount(8),
        },
        is_estimate: false,
        cost_nano,
    }
}

fn reservation(name: &str, run: &str, at_ms: u64, cost_nano: u64) -> LedgerEntry {
    LedgerEntry::Reservation(ReservationRow {
        call: name.to_owned(),
        run: run.to_owned(),
        at_ms,
        cost_nano,
    })
}

#[test]
fn every_kind_of_row_round_trips() {
    let (_folder, mut ledger) = ledger();
    let session = SessionRow {
        id: "s1".to_owned(),
        started_ms: 5,
        root: "/project".to_owned(),
    };
    let decision = DecisionRow {
        id: "d1".to_owned(),
        at_ms: 6,
        agent: "a1".to_owned(),
        conversation: None,
        class: "turn".to_owned(),
        chosen: Some("local/small".to_owned()),
        reason: "it is the only one".to_owned(),
        body: "{\"features\":{}}".to_owned(),
    };
    let metric = MetricRow {
        at_ms: 7,
        name: "first_byte_ms".to_owned(),
        value: 31.5,
        tags: "{}".to_owned(),
    };
    let whole = call("c1", "r1", 8, Some(70));
    let bare = CallRow {
        turn: None,
        first_byte_ms: None,
        is_estimate: true,
        ..call("c2", "r1", 9, None)
    };
    ledger
        .append(&[
            LedgerEntry::Session(session.clone()),
            LedgerEntry::Decision(decision.clone()),
            LedgerEntry::Metric(metric.clone()),
            LedgerEntry::Call(whole.clone()),
            LedgerEntry::Call(bare.clone()),
        ])
        .unwrap();
    let heads = ledger.session_heads().unwrap();
    let sessions: Vec<_> = heads.into_iter().map(|head| head.session).collect();
    assert_eq!(sessions, [session]);
    assert_eq!(ledger.decisions(9).unwrap(), [decision]);
    assert_eq!(ledger.metrics("first_byte_ms", 0).unwrap(), [metric]);
    assert_eq!(ledger.calls(8).unwrap(), [whole, bare.clone()]);
    assert_eq!(ledger.calls(9).unwrap(), [bare]);
}

#[test]
fn call_counts_its_reservation_until_its_own_row_exists() {
    let (_folder, mut ledger) = ledger();
    ledger
        .append(&[
            reservation("c1", "theirs", 10, 900),
            reservation("c2", "theirs", 10, 500),
            reservation("c3", "ours", 10, 7_000),
            reservation("old", "theirs", 9, 7_000),
            LedgerEntry::Call(call("c1", "theirs", 11, Some(80))),
            LedgerEntry::Call(call("c4", "theirs", 12, None)),
        ])
        .unwrap();
    let spent = SpendTotal {
        cost_nano: 580,
        tokens: 30,
        calls_without_price: 1,
    };
    assert_eq!(ledger.spent_by_others(10, "ours").unwrap(), spent);
    ledger
        .append(&[LedgerEntry::Call(call("c2", "theirs", 13, Some(20)))])
        .unwrap();
    assert_eq!(ledger.spent_by_others(10, "ours").unwrap().cost_nano, 100);
}

#[test]
fn events_by_kind_and_last_event() {
    let (_folder, mut ledger) = ledger();
    let event = |seq, kind: &str| {
        LedgerEntry::Event(EventRow {
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
    let numbers = |from| {
        let events = ledger.events_of("s", &["ended", "began"], from);
        let events = events.expect("read").into_iter();
        events.map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(numbers(0), [0, 2]);
    assert_eq!(numbers(1), [2]);
    assert_eq!(
        ledger.last_event("s").expect("read").map(|event| event.seq),
        Some(2)
    );
    assert_eq!(ledger.last_event("nobody").expect("read"), None);
}

#[test]
fn marks_are_read_from_a_row_on_and_heads_name_the_latest_event() {
    let (_folder, mut ledger) = ledger();
    let session = |id: &str, started_ms| {
        LedgerEntry::Session(SessionRow {
            id: id.to_owned(),
            started_ms,
            root: "/work".to_owned(),
        })
    };
    let event = |seq, at_ms| {
        LedgerEntry::Event(EventRow {
            session: "a".to_owned(),
            seq,
            at_ms,
            kind: "began".to_owned(),
            body: "{}".to_owned(),
        })
    };
    let mark = |kind: &str| MarkRow {
        session: "a".to_owned(),
        at_ms: 3,
        kind: kind.to_owned(),
        body: "{}".to_owned(),
    };
    let entries = [session("a", 1), session("b", 2), event(0, 1), event(1, 9)];
    ledger.append(&entries).expect("appended");
    let marks = ["archived", "unarchived"].map(|kind| LedgerEntry::Mark(mark(kind)));
    ledger.append(&marks).expect("appended");
    let heads = ledger.session_heads().expect("read").into_iter();
    let heads: Vec<_> = heads.map(|head| (head.session.id, head.last)).collect();
    assert_eq!(
        heads,
        [("b".to_owned(), None), ("a".to_owned(), Some((1, 9)))]
    );
    let all = ledger.marks(0).expect("read");
    assert_eq!(all, [(1, mark("archived")), (2, mark("unarchived"))]);
    assert_eq!(ledger.marks(1).expect("read"), all[1..]);
}
