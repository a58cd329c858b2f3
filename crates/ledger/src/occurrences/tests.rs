//! Tests the rows of planned runs: one winner, no loss after a crash.

use std::sync::{Arc, Barrier};

use base::AbsPath;

use super::*;

fn ledger() -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("ledger.db");
    let ledger = Ledger::open(&path, 1).unwrap().ledger;
    (folder, ledger)
}

fn planned(automation: &str, planned_ms: u64) -> OccurrenceRow {
    OccurrenceRow {
        automation: automation.to_owned(),
        trigger: "schedule".to_owned(),
        planned_ms,
        at_ms: planned_ms + 1,
        body: "{}".to_owned(),
    }
}

fn step(occurrence: u64, phase: OccurrencePhase, kind: &str) -> OccurrenceStep {
    OccurrenceStep {
        occurrence,
        phase,
        at_ms: 9,
        kind: kind.to_owned(),
        body: "{}".to_owned(),
    }
}

#[test]
fn occurrence_is_claimed_once() {
    let (_folder, mut ledger) = ledger();
    assert_eq!(ledger.claim_occurrence(&planned("a", 5)).unwrap(), Some(1));
    assert_eq!(ledger.claim_occurrence(&planned("a", 5)).unwrap(), None);
    assert_eq!(ledger.claim_occurrence(&planned("b", 5)).unwrap(), Some(2));
    assert_eq!(ledger.claim_occurrence(&planned("a", 6)).unwrap(), Some(3));
}

#[test]
fn phase_is_recorded_once_and_read_in_order() {
    let (_folder, mut ledger) = ledger();
    let number = ledger.claim_occurrence(&planned("a", 5)).unwrap().unwrap();
    ledger.claim_occurrence(&planned("b", 6)).unwrap();
    let ended = step(number, OccurrencePhase::Ended, "ended");
    let started = step(number, OccurrencePhase::Decided, "started");
    let skipped = step(number, OccurrencePhase::Decided, "skipped");
    for (step, is_new) in [(&ended, true), (&started, true), (&skipped, false)] {
        assert_eq!(ledger.record_occurrence_step(step).unwrap(), is_new);
    }
    let records = ledger.occurrences(Some("a"), 0).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].row, planned("a", 5));
    assert_eq!(records[0].steps, [started, ended]);
    assert_eq!(ledger.occurrences(None, 0).unwrap().len(), 2);
    assert_eq!(ledger.occurrences(None, 7).unwrap()[0].row.automation, "b");
}

#[test]
fn of_several_processes_one_claims_and_one_starts() {
    const CONTENDERS: usize = 4;
    const TIMES: u64 = 40;
    let (_folder, ledger) = ledger();
    let barrier = Arc::new(Barrier::new(CONTENDERS));
    let contenders: Vec<_> = (0..CONTENDERS)
        .map(|_| {
            let (mut own, barrier) = (ledger.reopen().unwrap(), barrier.clone());
            std::thread::spawn(move || {
                let (mut claims, mut starts) = (0, 0);
                for planned_ms in 1..=TIMES {
                    barrier.wait();
                    let claim = own.claim_occurrence(&planned("a", planned_ms)).unwrap();
                    claims += u64::from(claim.is_some());
                    // Each number is known: rows count from 1.
                    let started = step(planned_ms, OccurrencePhase::Decided, "started");
                    starts += u64::from(own.record_occurrence_step(&started).unwrap());
                }
                (claims, starts)
            })
        })
        .collect();
    let counts = contenders.into_iter().map(|it| it.join().unwrap());
    let sums = counts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    assert_eq!(sums, (TIMES, TIMES));
}

#[test]
fn occurrences_are_never_changed_or_removed() {
    let (_folder, mut ledger) = ledger();
    ledger.claim_occurrence(&planned("a", 5)).unwrap();
    let started = step(1, OccurrencePhase::Decided, "started");
    ledger.record_occurrence_step(&started).unwrap();
    for sql in [
        "DELETE FROM occurrences",
        "UPDATE occurrences SET planned_ms = 1",
        "DELETE FROM occurrence_steps",
        "UPDATE occurrence_steps SET kind = 'skipped'",
    ] {
        let error = ledger.connection.execute_batch(sql).unwrap_err();
        assert!(error.to_string().contains("append-only"), "{sql}: {error}");
    }
}
