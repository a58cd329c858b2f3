//! Tests the opening of new, existing, damaged and newer files, and by several processes at once.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use base::AbsPath;

use crate::{Error, EventRow, Ledger, LedgerEntry};

const NOW: u64 = 1_790_000_000_000;

fn folder() -> (tempfile::TempDir, AbsPath) {
    let folder = tempfile::tempdir().unwrap();
    let path = AbsPath::new(folder.path()).unwrap().join("state/ledger.db");
    (folder, path)
}

fn event(session: &str, seq: u64) -> LedgerEntry {
    LedgerEntry::Event(EventRow {
        session: session.to_owned(),
        seq,
        at_ms: NOW,
        kind: "said".to_owned(),
        body: "{}".to_owned(),
    })
}

#[test]
fn new_file_is_private_and_reopens_with_its_rows() {
    let (_folder, path) = folder();
    let mut opened = Ledger::open(&path, NOW).unwrap();
    assert_eq!(opened.quarantined, None);
    opened
        .ledger
        .append(&[event("a", 0), event("a", 1)])
        .unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not read it");
    let again = Ledger::open(&path, NOW).unwrap();
    assert_eq!(again.ledger.events("a").unwrap().len(), 2);
}

#[test]
fn file_of_another_format_is_moved_aside() {
    let (_folder, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(
        &path,
        b"this is not a database, and it is longer than a header would be",
    )
    .unwrap();
    let opened = Ledger::open(&path, NOW).unwrap();
    let aside = opened.quarantined.expect("it says so");
    assert!(aside.to_string().contains("damaged"), "{aside}");
    assert!(
        aside
            .to_string()
            .contains(&format!("ledger.db.damaged-{NOW}"))
    );
    assert!(
        fs::read(&aside.moved_to)
            .unwrap()
            .starts_with(b"this is no")
    );
    assert_eq!(opened.ledger.session_heads().unwrap(), []);
    assert_eq!(Ledger::open(&path, NOW).unwrap().quarantined, None);
}

#[test]
fn damage_found_at_work_moves_file_aside_at_next_open() {
    let (_folder, path) = folder();
    {
        let mut ledger = Ledger::open(&path, NOW).unwrap().ledger;
        for seq in 0..2_000 {
            ledger
                .append(&[event("a session with a long name", seq)])
                .unwrap();
        }
    }
    let mut bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 30 * 4096, "the events fill many pages");
    for page in bytes.chunks_mut(4096).skip(26) {
        page.fill(0xa5);
    }
    fs::write(&path, &bytes).unwrap();
    let ledger = Ledger::open(&path, NOW).unwrap().ledger;
    let error = ledger.events("a session with a long name").unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("moved aside"), "{error}");
    drop(ledger);
    let opened = Ledger::open(&path, NOW + 1).unwrap();
    assert!(opened.quarantined.is_some());
    assert_eq!(
        opened.ledger.events("a session with a long name").unwrap(),
        []
    );
}

#[test]
fn file_of_a_newer_version_is_left_untouched() {
    let (_folder, path) = folder();
    let opened = Ledger::open(&path, NOW).unwrap();
    opened
        .ledger
        .connection
        .pragma_update(None, "user_version", 99)
        .unwrap();
    drop(opened);
    let error = Ledger::open(&path, NOW).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("update Burin"), "{error}");
}

#[test]
fn calls_of_the_first_version_have_no_predictions() {
    let (_folder, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let first = rusqlite::Connection::open(path.as_path()).unwrap();
    first.execute_batch(super::MIGRATIONS[0]).unwrap();
    first.pragma_update(None, "user_version", 1).unwrap();
    let call = "INSERT INTO calls (call, run, decision, at_ms, model, agent, class, outcome, attempt, total_ms,
                    input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, is_estimate)
                VALUES ('c', 'r', 'd', 5, 'a/b', 'a', 'turn', 'ok', 1, 9, 1, 2, 3, 4, 5, 6, 0)";
    first.execute(call, []).unwrap();
    drop(first);
    let calls = Ledger::open(&path, NOW).unwrap().ledger.calls(0).unwrap();
    let [call] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    assert_eq!(call.usage.output.0, 5);
    assert_eq!(call.usage.accepted_prediction.0, 0);
    assert_eq!(call.usage.rejected_prediction.0, 0);
}

#[test]
fn rows_cannot_be_changed_or_removed() {
    let (_folder, path) = folder();
    let mut ledger = Ledger::open(&path, NOW).unwrap().ledger;
    ledger.append(&[event("a", 0)]).unwrap();
    let mark = crate::MarkRow {
        session: "a".to_owned(),
        at_ms: 1,
        kind: "archived".to_owned(),
        body: "{}".to_owned(),
    };
    ledger.append(&[LedgerEntry::Mark(mark)]).unwrap();
    for sql in [
        "UPDATE events SET body = ''",
        "DELETE FROM events",
        "UPDATE marks SET body = ''",
        "DELETE FROM marks",
    ] {
        let error = ledger.connection.execute(sql, []).unwrap_err();
        assert!(error.to_string().contains("append-only"), "{sql}: {error}");
    }
    let error = ledger.append(&[event("a", 1), event("a", 0)]).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_eq!(ledger.events("a").unwrap().len(), 1, "all or none");
}

#[test]
fn concurrent_opens_move_a_damaged_file_once() {
    let (_folder, path) = folder();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, vec![0x5a; 9_000]).unwrap();
    let moved: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|ix| {
                let path = &path;
                scope.spawn(move || {
                    let mut opened = Ledger::open(path, NOW + ix).unwrap();
                    opened.ledger.append(&[event(&ix.to_string(), 0)]).unwrap();
                    usize::from(opened.quarantined.is_some())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(moved, 1);
    let ledger = Ledger::open(&path, NOW).unwrap().ledger;
    for ix in 0..8 {
        assert_eq!(ledger.events(&ix.to_string()).unwrap().len(), 1);
    }
}

/// If set, `appends_until_it_is_killed` appends to the ledger at this path, in the session of that
/// name.
const CHILD: &str = "BURIN_LEDGER_CHILD";

/// Runs as the child process that the next test kills; does nothing otherwise.
#[test]
fn appends_until_it_is_killed() {
    let Ok(child) = std::env::var(CHILD) else {
        return;
    };
    let (path, session) = child.split_once('\n').unwrap();
    let mut ledger = Ledger::open(&AbsPath::new(path).unwrap(), NOW)
        .unwrap()
        .ledger;
    for seq in 0.. {
        ledger.append(&[event(session, seq)]).unwrap();
        println!("\nappended {seq}");
    }
}

#[test]
fn acknowledged_rows_survive_kills_of_several_processes() {
    let (_folder, path) = folder();
    let children: Vec<_> = ["one", "two", "three"]
        .iter()
        .map(|session| {
            let program = std::env::current_exe().unwrap();
            let mut child = Command::new(program)
                .args([
                    "--exact",
                    "open::tests::appends_until_it_is_killed",
                    "--nocapture",
                ])
                .env(CHILD, format!("{path}\n{session}"))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut last = None;
            while last < Some(20) {
                let line = lines.next().expect("it goes on until killed").unwrap();
                let number = line.strip_prefix("appended ");
                last = number
                    .map(|number| number.parse::<usize>().unwrap())
                    .or(last);
            }
            (child, lines, session, last)
        })
        .collect();
    for (mut child, lines, session, mut last) in children {
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            let number = line.strip_prefix("appended ");
            last = number.and_then(|number| number.parse().ok()).or(last);
        }
        let opened = Ledger::open(&path, NOW).unwrap();
        assert_eq!(opened.quarantined, None);
        let events = opened.ledger.events(session).unwrap();
        assert!(
            Some(events.len()) > last,
            "{session}: {} events, {last:?} answered for",
            events.len()
        );
        assert!(events.iter().zip(0..).all(|(event, seq)| event.seq == seq));
    }
}
