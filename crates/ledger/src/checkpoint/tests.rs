//! Tests which handle checkpoints, and when.

use base::AbsPath;

use crate::{EventRow, Ledger, LedgerEntry};

#[test]
fn append_leaves_checkpoints_to_another_handle() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = AbsPath::new(folder.path().join("ledger.db")).expect("absolute");
    let mut ledger = Ledger::open(&path, 1).expect("it opens").ledger;
    let other = ledger.reopen().expect("another handle");
    ledger.disable_auto_checkpoint().expect("a setting");
    other.checkpoint().expect("the tables are carried over");
    let length = || {
        let file = std::fs::metadata(path.as_path());
        file.expect("the file").len()
    };
    let before = length();
    // More than the thousand pages at which SQLite would checkpoint by default.
    for seq in 0..60 {
        let event = EventRow {
            session: "s".to_owned(),
            seq,
            at_ms: 1,
            kind: "k".to_owned(),
            body: "x".repeat(100_000),
        };
        ledger.append(&[LedgerEntry::Event(event)]).expect("a row");
    }
    assert_eq!(length(), before);
    other.checkpoint().expect("the rows are carried over");
    assert!(length() > before + 60 * 100_000);
    assert_eq!(other.events("s").expect("the rows").len(), 60);
}
