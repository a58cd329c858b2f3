//! Records written and read back.

use base::AbsPath;
use host::TempFolder;
use ledger::{EventRow, Ledger, LedgerEntry};

use super::{SessionMark, SessionState, SessionStore, SessionSummary};
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

async fn store_with_session(folder: &TempFolder) -> SessionStore {
    let store = SessionStore::start(ledger(folder)).expect("it starts");
    store
        .create_session("s1", "/work", &records())
        .await
        .expect("written");
    store
}

async fn mark(store: &SessionStore, mark: SessionMark) {
    store.mark("s1", &mark, 500).await.expect("marked");
}

fn renamed(title: &str) -> SessionMark {
    SessionMark::Renamed {
        title: title.to_owned(),
    }
}

fn titled(title: &str) -> SessionMark {
    SessionMark::Titled {
        title: title.to_owned(),
        cost_nano: Some(7),
    }
}

fn only_line(store: &SessionStore) -> SessionSummary {
    let mut lines = store.sessions(10).expect("listed");
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[tokio::test]
async fn a_name_of_the_user_is_never_replaced_by_a_title() {
    let folder = TempFolder::new().expect("a folder");
    let store = store_with_session(&folder).await;
    assert!(!only_line(&store).has_title);
    mark(&store, titled("Roof")).await;
    let line = only_line(&store);
    assert_eq!((line.title.as_str(), line.cost_nano), ("Roof", 7));
    assert!(line.has_title);
    mark(&store, renamed("My roof")).await;
    mark(&store, titled("Another")).await;
    assert_eq!(only_line(&store).title, "My roof");
    mark(&store, renamed("Our roof")).await;
    assert_eq!(only_line(&store).title, "Our roof");
    // Marks outlive the process.
    let again = SessionStore::start(ledger(&folder)).expect("it starts");
    assert_eq!(only_line(&again).title, "Our roof");
}

#[tokio::test]
async fn marks_archive_read_and_delete_without_touching_records() {
    let folder = TempFolder::new().expect("a folder");
    let store = store_with_session(&folder).await;
    let flags = |line: SessionSummary| (line.is_archived, line.is_unread, line.last_ms);
    mark(&store, SessionMark::Archived).await;
    mark(&store, SessionMark::Unread).await;
    assert_eq!(flags(only_line(&store)), (true, true, 102));
    mark(&store, SessionMark::Unarchived).await;
    mark(&store, SessionMark::Read).await;
    assert_eq!(flags(only_line(&store)), (false, false, 102));
    mark(&store, SessionMark::Deleted).await;
    assert_eq!(store.sessions(10).expect("listed"), []);
    assert_eq!(store.summary("s1").expect("read"), None);
    assert_eq!(store.read("s1").expect("read").records, records());
}

#[tokio::test]
async fn a_list_that_was_read_before_shows_what_is_new() {
    let folder = TempFolder::new().expect("a folder");
    let store = store_with_session(&folder).await;
    let mut changes = store.changes();
    assert!(changes.has_changed().expect("open"), "a session is new");
    assert_eq!(only_line(&store).turns, 1);
    changes.mark_unchanged();
    // Another process appends to the same ledger.
    let other = SessionStore::start(ledger(&folder)).expect("it starts");
    let answer = SessionRecord::Answered {
        turn: 2,
        step: 1,
        model: "far/big".to_owned(),
        parts: vec![stored_parts::text("done")],
        usage: Default::default(),
        cost_nano: Some(5),
        stop: "end_turn".to_owned(),
    };
    let prompt = SessionRecord::Prompted {
        turn: 2,
        parts: vec![stored_parts::text("and the door")],
        is_steering: false,
    };
    let more = [(3, prompt), (4, answer)].map(|(seq, record)| Stored {
        seq,
        at_ms: 900,
        record,
    });
    other.append("s1", &more).await.expect("written");
    let line = only_line(&store);
    assert_eq!((line.turns, line.cost_nano, line.last_ms), (2, 5, 900));
    assert_eq!(
        (line.title.as_str(), line.model.as_str()),
        ("Mend the roof", "far/big")
    );
    assert_eq!(line.state, SessionState::Open);
    // The list read piece by piece is the list read at once.
    assert_eq!(only_line(&other), line);
    assert!(!changes.has_changed().expect("open"), "not from this store");
    mark(&store, SessionMark::Archived).await;
    changes.changed().await.expect("open");
}

#[tokio::test]
async fn a_thousand_sessions_are_listed_latest_record_first() {
    let folder = TempFolder::new().expect("a folder");
    let store = SessionStore::start(ledger(&folder)).expect("it starts");
    let create = |ix: u64| {
        let store = store.clone();
        async move {
            let mut records = records();
            // Later sessions have earlier records.
            records.iter_mut().for_each(|it| it.at_ms = 5_000 - ix);
            let id = format!("s{ix}");
            store.create_session(&id, "/work", &records).await
        }
    };
    let created = futures::future::join_all((0..1_000).map(create)).await;
    assert!(created.iter().all(Result::is_ok));
    let lines = store.sessions(usize::MAX).expect("listed");
    assert_eq!(lines.len(), 1_000);
    assert_eq!(
        (lines[0].id.as_str(), lines[999].id.as_str()),
        ("s0", "s999")
    );
    assert_eq!(store.sessions(2).expect("listed"), lines[..2]);
}

#[tokio::test]
async fn refused_records_that_no_caller_waits_for_are_reported() {
    let folder = TempFolder::new().expect("a folder");
    let store = store_with_session(&folder).await;
    assert_eq!(store.unwritten().borrow().sentence(), None);
    // The number is there already.
    store.enqueue("s1", &records()[1..2]).await;
    // The first attempt may fail for what waits with it.
    store.flush().await.ok();
    store.flush().await.expect("nothing waits");
    let sentence = store.unwritten().borrow().sentence();
    let sentence = sentence.expect("a record is lost");
    assert!(sentence.contains("1 record"), "{sentence}");
    assert!(sentence.contains("rejects a row"), "{sentence}");
    assert!(sentence.contains("ledger.db"), "{sentence}");
}
