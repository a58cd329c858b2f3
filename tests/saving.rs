//! Tests saves that are killed at every system call, and saves in which each relevant call fails.
//!
//! For each kind of file, the calls of one complete save are recorded once; then the save is
//! repeated, each time killed or failing at another call. The file must hold exactly the old or the
//! new content; a file that must be overwritten in place, after `recover`, which the editor runs at
//! its start.

mod calls;
mod kinds;

use std::fs;
use std::sync::Mutex;
use std::time::Instant;

use self::calls::{Call, FAILING, INTERRUPTED, calls_of};
use self::kinds::{Content, Kind, Place, kinds};
use crate::agent::{Agent, Way, has, is_root};

/// The injected errors, and the messages that report them to the user.
const ERRORS: [(&str, &str); 4] = [
    ("ENOSPC", "the disk is full"),
    ("EIO", "the disk reported an error"),
    ("EROFS", "the volume is mounted read-only"),
    ("EACCES", "permission denied"),
];

#[test]
fn killed_save_leaves_old_or_new_file() {
    on_every_kind(|agent, kind| {
        let count = kill_everywhere(agent, kind);
        assert!(count >= 10, "{}: only {count} calls", kind.name);
        count
    });
}

#[test]
fn failed_save_damages_nothing_and_reports_why() {
    on_every_kind(|agent, kind| {
        if kind.is_long {
            0
        } else {
            fail_everywhere(agent, kind)
        }
    });
}

/// Two kinds at a time: each run mostly waits for another process.
fn on_every_kind(check: impl Fn(&Agent, &Kind) -> usize + Sync) {
    if !has("strace") {
        return test_support::skip("strace is not installed");
    }
    let agent = Agent::new();
    let can_own = is_root() && has("setpriv");
    let (kinds, impossible): (Vec<_>, Vec<_>) = kinds()
        .into_iter()
        .partition(|kind| can_own || !kind.needs_root);
    for kind in impossible {
        test_support::skip_part(format_args!("{} needs root and setpriv", kind.name));
    }
    let left = Mutex::new(kinds);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let kind = left.lock().expect("no panic in between").pop();
                    let Some(kind) = kind else { break };
                    let start = Instant::now();
                    let count = check(&agent, &kind);
                    eprintln!("{}: {count} runs, {:.1?}", kind.name, start.elapsed());
                }
            });
        }
    });
}

fn kill_everywhere(agent: &Agent, kind: &Kind) -> usize {
    let calls = calls_of(agent, kind);
    if kind.is_long {
        return kill_long(agent, kind, &calls);
    }
    for call in &calls {
        let place = Place::new(kind);
        kill(agent, kind, &place, call);
        let what = format!("{}, killed at {call}", kind.name);
        assert_next_save_works(agent, kind, &place, &what);
    }
    calls.len()
}

/// Kills a save of a long file, with less copying: starts at the temporary file, and reuses a file
/// that still has the old content.
fn kill_long(agent: &Agent, kind: &Kind, calls: &[Call]) -> usize {
    let first = calls.iter().position(Call::names_temporary_file);
    let calls = &calls[first.expect("a temporary file")..];
    let mut place = Place::new(kind);
    for call in calls {
        if kill(agent, kind, &place, call) == Content::New {
            place = Place::new(kind);
        }
    }
    assert_next_save_works(agent, kind, &place, kind.name);
    calls.len()
}

fn kill(agent: &Agent, kind: &Kind, place: &Place, call: &Call) -> Content {
    let what = format!("{}, killed at {call}", kind.name);
    let output = place.save(agent, way(kind, &call.injecting("signal=KILL", place)));
    assert!(!output.status.success(), "{what}: it lived");
    if kind.is_overwritten {
        place.recover(agent, kind);
    }
    let content = place.content(kind);
    assert_ne!(content, Content::Neither, "{what}");
    place.assert_metadata(&what);
    content
}

fn assert_next_save_works(agent: &Agent, kind: &Kind, place: &Place, what: &str) {
    let output = place.save(agent, way(kind, &[]));
    assert!(
        output.status.success(),
        "{what}, again: {}",
        errors(&output)
    );
    assert_eq!(place.content(kind), Content::New, "{what}");
    place.assert_metadata(what);
    place.assert_clean(what);
}

fn fail_everywhere(agent: &Agent, kind: &Kind) -> usize {
    let calls = calls_of(agent, kind);
    let failing: Vec<&Call> = calls
        .iter()
        .filter(|call| FAILING.contains(&call.name.as_str()))
        .collect();
    let mut said = 0;
    for call in &failing {
        for (error, words) in ERRORS {
            let place = Place::new(kind);
            let strace = call.injecting(&format!("error={error}"), &place);
            let output = place.save(agent, way(kind, &strace));
            let what = format!("{}, {error} at {call}", kind.name);
            let trace = fs::read_to_string(place.trace()).unwrap_or_default();
            assert!(trace.contains("(INJECTED)"), "{what}: nothing was injected");
            let sentence = errors(&output);
            if output.status.success() {
                // The save succeeded in another way.
                assert_eq!(place.content(kind), Content::New, "{what}");
            } else {
                assert!(
                    sentence.contains("burin-agent: cannot "),
                    "{what}: {sentence}"
                );
                said += usize::from(sentence.contains(words));
                if sentence.contains("cannot confirm") {
                    assert_eq!(place.content(kind), Content::New, "{what}");
                } else {
                    assert_eq!(place.content(kind), Content::Old, "{what}");
                }
            }
            place.assert_metadata(&what);
            let output = place.save(agent, way(kind, &[]));
            assert!(
                output.status.success(),
                "{what}, again: {}",
                errors(&output)
            );
            assert_eq!(place.content(kind), Content::New, "{what}");
            place.assert_clean(&what);
        }
    }
    assert!(
        said >= 4,
        "{}: {said} refusals named their cause",
        kind.name
    );
    failing.len() * ERRORS.len() + interrupt_everywhere(agent, kind, &calls)
}

/// Interrupts each call with a signal; the save must continue.
fn interrupt_everywhere(agent: &Agent, kind: &Kind, calls: &[Call]) -> usize {
    let interrupted = calls
        .iter()
        .filter(|call| INTERRUPTED.contains(&call.name.as_str()));
    let mut count = 0;
    for call in interrupted {
        let place = Place::new(kind);
        let strace = call.injecting("error=EINTR", &place);
        let output = place.save(agent, way(kind, &strace));
        let what = format!("{}, interrupted at {call}", kind.name);
        assert!(output.status.success(), "{what}: {}", errors(&output));
        assert_eq!(place.content(kind), Content::New, "{what}");
        place.assert_clean(&what);
        count += 1;
    }
    count
}

fn way<'a>(kind: &Kind, strace: &'a [String]) -> Way<'a> {
    Way {
        is_nobody: kind.is_nobody,
        strace,
    }
}

fn errors(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
