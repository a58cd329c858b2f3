//! Records written and read back.

use base::AbsPath;
use host::TempFolder;
use ledger::{EventRow, Ledger, LedgerEntry};

use super::{SessionState, SessionStore};
use crate::record::{SessionMode, SessionRecord, Stored, TurnEnd};
use crate::stored_parts;

fn ledger(folder: &TempFolder) -> Ledger {
    let path: AbsPath = folder.path().join("ledger.db");
    Ledger::open(&path, 1).expect("it opens").ledger
}

fn records() -> Vec<Stored> {
    let records = vec![
        SessionRecord::Began {
            root: "/work".to_owned(),
            parent: None,
            forked_from: None,
            mode: SessionMode::Plan,
            model: "auto".to_owned(),
        },
        SessionRecord::Prompted {
            turn: 1,
            parts: vec![stored_parts::text("\n  Mend the roof\nplease")],
            is_steering: false,
        },
        SessionRecord::TurnEnded {
            turn: 1,
            end: TurnEnd::Done,
        },
    ];
    (0..)
        .zip(records)
        .map(|(seq, record)| Stored {
            seq,
            at_ms: 100 + seq,
            record,
        })
        .collect()
}

#[tokio::test]
async fn a_session_comes_back_and_is_listed() {
    let folder = TempFolder::new().expect("a folder");
    let store = SessionStore::start(ledger(&folder)).expect("it starts");
    let records = records();
    store
        .create_session("s1", "/work", &records[..2])
        .await
        .expect("written");
    store.enqueue("s1", &records[2..]).await;
    store.flush().await.expect("flushed");
    let past = store.read("s1").expect("read");
    assert_eq!((past.records, past.next_seq), (records, 3));
    assert_eq!(past.problems, Vec::<String>::new());
    let lines = store.sessions(10).expect("listed");
    let line = &lines[0];
    assert_eq!(line.title, "Mend the roof");
    assert_eq!(
        (line.model.as_str(), line.mode, line.turns),
        ("auto", SessionMode::Plan, 1)
    );
    assert_eq!((line.started_ms, line.last_ms), (100, 102));
    assert_eq!(line.state, SessionState::Ended(TurnEnd::Done));
    let missing = store.read("nobody").expect_err("there is none");
    let missing = missing.to_string();
    assert!(
        missing.contains("there is no session \"nobody\""),
        "{missing}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_named_and_left_out() {
    let folder = TempFolder::new().expect("a folder");
    let mut raw = ledger(&folder);
    let event = |seq, body: &str| {
        LedgerEntry::Event(EventRow {
            session: "s1".to_owned(),
            seq,
            at_ms: 1,
            kind: "prompted".to_owned(),
            body: body.to_owned(),
        })
    };
    let good = serde_json::to_string(&records()[1].record).expect("JSON");
    raw.append(&[
        event(0, &good[..good.len() / 2]),
        event(1, &good),
        event(2, r#"{"kind":"from_the_future","what":1}"#),
    ])
    .expect("appended");
    let store = SessionStore::start(raw).expect("it starts");
    let past = store.read("s1").expect("read");
    assert_eq!((past.records.len(), past.next_seq), (1, 3));
    assert_eq!(past.problems.len(), 2);
    assert!(
        past.problems[1].contains("record 2 of session s1"),
        "{:?}",
        past.problems
    );
}

#[tokio::test]
async fn a_number_that_is_there_already_is_refused() {
    let folder = TempFolder::new().expect("a folder");
    let store = SessionStore::start(ledger(&folder)).expect("it starts");
    let records = records();
    store
        .create_session("s1", "/work", &records)
        .await
        .expect("written");
    let error = store
        .append("s1", &records[1..2])
        .await
        .expect_err("refused")
        .to_string();
    assert!(error.contains("rejects a row"), "{error}");
    // Other sessions are not delayed by it.
    store
        .create_session("s2", "/work", &records)
        .await
        .expect("written");
}
