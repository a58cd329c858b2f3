//! The thread writes everything, in order, whatever some rows are worth.

use base::AbsPath;

use crate::{Entry, Error, Ledger, SessionEvent, Writer};

fn event(session: &str, seq: u64) -> Entry {
    Entry::Event(SessionEvent {
        session: session.to_owned(),
        seq,
        at_ms: 1,
        kind: "said".to_owned(),
        body: "{}".to_owned(),
    })
}

#[test]
fn rows_of_several_threads_are_there_after_a_flush_and_after_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    let writer = Writer::start(ledger.again().unwrap()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for seq in 0..1_000 {
                    writer.append(event(&thread.to_string(), seq)).unwrap();
                }
            });
        }
    });
    writer.flush().unwrap();
    for thread in 0..4 {
        let events = ledger.events(&thread.to_string()).unwrap();
        assert_eq!(events.len(), 1_000);
        assert!(events.iter().zip(0..).all(|(event, seq)| event.seq == seq));
    }
    assert_eq!(writer.trouble(), None);
    writer.append(event("last", 0)).unwrap();
    drop(writer);
    assert_eq!(ledger.events("last").unwrap().len(), 1);
}

#[test]
fn a_row_that_the_tables_refuse_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    let writer = Writer::start(ledger.again().unwrap()).unwrap();
    for seq in [0, 1, 1, 2, 0, 3] {
        writer.append(event("a", seq)).unwrap();
    }
    writer.flush().unwrap();
    assert_eq!(ledger.events("a").unwrap().len(), 4);
}

#[test]
fn while_the_disk_refuses_it_says_so_and_keeps_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    let short = ledger.again().unwrap();
    let pages: i64 = short
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    short
        .connection
        .pragma_update(None, "max_page_count", pages)
        .unwrap();
    let writer = Writer::start(short).unwrap();
    for seq in 0..500 {
        writer
            .append(event("a session with quite a long name", seq))
            .unwrap();
    }
    let error = writer.flush().unwrap_err();
    assert!(matches!(error, Error::Failed { .. }), "{error}");
    assert!(error.to_string().contains("full"), "{error}");
    assert_eq!(
        ledger.events("a session with quite a long name").unwrap(),
        []
    );
    while writer.trouble().is_none() {
        std::thread::yield_now();
    }
    assert!(writer.trouble().unwrap().contains("cannot write to"));
}
