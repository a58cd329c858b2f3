//! Tests that the thread writes every valid row, in order, next to rows that are rejected.

use base::AbsPath;

use crate::{Error, EventRow, Ledger, LedgerEntry, LedgerWriter};

fn event(session: &str, seq: u64) -> LedgerEntry {
    LedgerEntry::Event(EventRow {
        session: session.to_owned(),
        seq,
        at_ms: 1,
        kind: "said".to_owned(),
        body: "{}".to_owned(),
    })
}

#[test]
fn flush_and_drop_write_rows_of_all_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    let writer = LedgerWriter::start(ledger.reopen().unwrap()).unwrap();
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
    assert_eq!(writer.write_error(), None);
    writer.append(event("last", 0)).unwrap();
    drop(writer);
    assert_eq!(ledger.events("last").unwrap().len(), 1);
}

#[test]
fn rejected_row_does_not_affect_other_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    let writer = LedgerWriter::start(ledger.reopen().unwrap()).unwrap();
    for seq in [0, 1, 1, 2, 0, 3] {
        writer.append(event("a", seq)).unwrap();
    }
    writer.flush().unwrap();
    assert_eq!(ledger.events("a").unwrap().len(), 4);
}

#[test]
fn disk_errors_are_reported_and_rows_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    let short = ledger.reopen().unwrap();
    let pages: i64 = short
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    short
        .connection
        .pragma_update(None, "max_page_count", pages)
        .unwrap();
    let writer = LedgerWriter::start(short).unwrap();
    for seq in 0..500 {
        writer
            .append(event("a session with quite a long name", seq))
            .unwrap();
    }
    let error = writer.flush().unwrap_err();
    assert!(matches!(error, Error::Failed { .. }), "{error}");
    assert!(error.to_string().contains("full"), "{error}");
    // The first rows may fit, if the writer stored them before the others came.
    let stored = ledger.events("a session with quite a long name").unwrap();
    assert!(stored.len() < 500, "{} rows", stored.len());
    let seqs = stored.iter().map(|row| row.seq);
    assert!(seqs.eq(0..stored.len() as u64), "{stored:?}");
    while writer.write_error().is_none() {
        std::thread::yield_now();
    }
    assert!(writer.write_error().unwrap().contains("cannot write to"));
}
