//! Tests rows about quality: one for each key, newest first.

use base::AbsPath;

use super::*;
use crate::LedgerEntry;

fn row(kind: &str, key: &str, at_ms: u64) -> QualityRow {
    QualityRow {
        at_ms,
        kind: kind.to_owned(),
        version: 1,
        key: key.to_owned(),
        body: format!("{{\"at\":{at_ms}}}"),
    }
}

#[test]
fn rows_of_a_known_key_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let mut ledger = Ledger::open(&path, 1).unwrap().ledger;
    let rows = [
        row("unit", "a", 1),
        row("unit", "b", 2),
        row("kept", "a", 3),
        row("unit", "a", 4),
    ];
    let entries: Vec<LedgerEntry> = rows.iter().cloned().map(LedgerEntry::Quality).collect();
    ledger.append(&entries).unwrap();
    ledger.append(&entries[..1]).unwrap();
    let found = ledger.quality(0, |_, _| true).unwrap();
    assert_eq!(found, [rows[2].clone(), rows[1].clone(), rows[0].clone()]);
    let wanted = ledger
        .quality(2, |kind, key| (kind, key) == ("unit", "b"))
        .unwrap();
    assert_eq!(wanted, rows[1..2]);
    assert!(ledger.has_quality("kept", "a").unwrap());
    assert!(!ledger.has_quality("kept", "b").unwrap());
}

#[test]
fn rows_cannot_be_changed_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let mut ledger = Ledger::open(&path, 1).unwrap().ledger;
    ledger
        .append(&[LedgerEntry::Quality(row("unit", "a", 1))])
        .unwrap();
    for sql in ["UPDATE quality SET body = ''", "DELETE FROM quality"] {
        let error = ledger.connection.execute(sql, []).unwrap_err();
        assert!(error.to_string().contains("append-only"), "{error}");
    }
}
