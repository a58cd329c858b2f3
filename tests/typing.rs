//! Kills a program with `kill -9` while it types: measures how much text is lost, and checks that
//! undo survives.
//!
//! The target (median 100 ms, at most 250 ms) is measured by a benchmark with the whole program on
//! a quiet machine. Other tests run at the same time, so the bounds here only catch clear defects.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{AbsPath, Span};
use host::{RealClock, RealFiles, TempFolder};
use project::{Document, RecoveryJournal, recover};
use text::{EditOrigin, Timestamp};

/// Variable with the folder of the journals. If it is set, the test below acts as the typing
/// process.
const JOURNALS: &str = "BURIN_STORY_JOURNALS";
const KILLS: u64 = 12;
/// Time per key: thirteen times as fast as a good typist, so that a kill hits more keys.
const KEY: Duration = Duration::from_millis(5);
/// Keys this many milliseconds apart are separate undo steps.
const PAUSE: u64 = 10_000;

#[test]
fn kill_9_takes_no_more_than_a_moment() {
    let mut losses: Vec<Duration> = (0..KILLS).map(kill_while_typing).collect();
    losses.sort();
    let (median, most) = (losses[losses.len() / 2], losses[losses.len() - 1]);
    eprintln!("lost to kill -9: median {median:.1?}, most {most:.1?} of typing");
    assert!(median < Duration::from_millis(500), "{losses:?}");
}

/// Returns the age, at the kill, of the oldest key that was not recovered.
fn kill_while_typing(round: u64) -> Duration {
    let folder = TempFolder::new().expect("a temporary folder");
    let mut typist = Command::new(std::env::current_exe().expect("the path of this program"))
        .args(["typing::is_typist", "--exact", "--nocapture"])
        .env(JOURNALS, folder.path().as_path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(typist.stdout.take().expect("a pipe")).lines();
    let mut keys = Vec::new();
    let stop = 60 + round * 7;
    for line in lines {
        let line = line.expect("a line");
        if line.starts_with("key ") {
            keys.push(Instant::now());
        }
        if keys.len() as u64 == stop {
            break;
        }
    }
    typist.kill().expect("killed");
    let killed = Instant::now();
    typist.wait().expect("dead");

    let recovery = recover(&RealFiles, folder.path(), Timestamp(0));
    assert!(recovery.problems.is_empty(), "{:?}", recovery.problems);
    let mut document = recovery
        .documents
        .into_iter()
        .next()
        .expect("a document")
        .document;
    let found = document.snapshot().to_string();
    assert!("0123456789".repeat(100).starts_with(&found), "{found}");
    assert!(!found.is_empty(), "nothing came back");
    document.buffer_mut().undo().expect("a step to undo");
    assert_eq!(
        document.snapshot().len().0,
        found.len() - 1,
        "undo came back"
    );
    match keys.get(found.len()) {
        Some(lost) => killed.duration_since(*lost),
        None => Duration::ZERO,
    }
}

/// Runs as the child process; see `JOURNALS`.
#[test]
fn is_typist() {
    let Some(folder) = std::env::var_os(JOURNALS).and_then(AbsPath::new) else {
        return;
    };
    let clock = RealClock::default();
    let (journal, _events) =
        RecoveryJournal::start(Arc::new(RealFiles), &clock, &folder).expect("a journal");
    let mut document = Document::untitled();
    journal.record(&mut document);
    let mut output = std::io::stdout();
    for number in 0..1_000_u64 {
        let end = Span::at(document.buffer().len());
        let origin = EditOrigin::typing(Timestamp(number * PAUSE));
        let digit = (number % 10).to_string();
        document.buffer_mut().replace(end, &digit, &origin);
        journal.record(&mut document);
        writeln!(output, "key {number}").expect("told");
        std::thread::sleep(KEY);
    }
}
