//! Hooks that flood, want a terminal, ignore the request to end or fail late: each call ends in a sentence, and a refused
//! commit leaves everything as it was.

use futures::executor::block_on;
use git_panel::{GitFailureKind, GitRun, GitService as _};

use super::commits::{request, staged};
use super::finish;

#[test]
fn a_flood_of_a_hook_ends_in_its_last_lines() {
    let Some(fixture) = staged() else {
        return;
    };
    let flood = "yes 0123456789 | head -c 100000000; echo; echo the end; exit 1";
    fixture.hook("pre-commit", flood);
    let before = fixture.snapshot();
    let GitRun {
        output,
        outcome,
        cancel: _cancel,
    } = fixture.service.commit(&fixture.root, request("second"));
    let mut seen = 0;
    while let Ok(piece) = output.recv_blocking() {
        seen += piece.len();
    }
    let failure = block_on(outcome).expect_err("the hook refuses");
    let GitFailureKind::HookFailed(report) = failure.kind else {
        panic!("another reason: {}", failure.sentence);
    };
    assert!(seen > 100_000_000, "{seen} bytes were shown");
    assert!(
        report.log.len() < 1 << 20,
        "{} bytes are kept",
        report.log.len()
    );
    assert!(report.last_lines.ends_with("the end"));
    assert!(failure.sentence.len() < 1 << 10, "a sentence");
    assert_eq!(fixture.snapshot(), before);
}

#[test]
fn a_hook_without_its_terminal_is_refused_in_its_words() {
    let Some(fixture) = staged() else {
        return;
    };
    let script = "test -t 0 && test -t 1 || { echo 'a terminal is needed' >&2; exit 1; }";
    fixture.hook("commit-msg", script);
    let before = fixture.snapshot();
    let failure = fixture.commit("second").expect_err("there is none");
    let sentence = failure.sentence;
    assert!(
        sentence.starts_with("the hook commit-msg failed"),
        "{sentence}"
    );
    assert!(sentence.ends_with("a terminal is needed"), "{sentence}");
    assert_eq!(fixture.snapshot(), before);
}

#[test]
fn a_hook_that_ignores_the_request_to_end_is_killed() {
    let Some(fixture) = staged() else {
        return;
    };
    let script = "trap '' TERM INT HUP; echo waiting; sleep 1000";
    fixture.hook("pre-commit", script);
    let before = fixture.snapshot();
    let GitRun {
        output,
        outcome,
        cancel,
    } = fixture.service.commit(&fixture.root, request("second"));
    let mut text = Vec::new();
    while !text.ends_with(b"waiting\n") {
        text.extend(output.recv_blocking().expect("the hook prints"));
    }
    cancel();
    let failure = block_on(outcome).expect_err("cancelled");
    assert_eq!(failure.kind, GitFailureKind::Cancelled);
    assert_eq!(failure.sentence, "git was cancelled");
    assert_eq!(fixture.snapshot(), before);
    fixture.hook("pre-commit", "exit 0");
    fixture.commit("second").expect("the repository is free");
}

#[test]
fn a_hook_that_fails_after_the_commit_does_not_hide_it() {
    let Some(fixture) = staged() else {
        return;
    };
    fixture.hook("post-commit", "echo the bell is broken >&2; exit 1");
    let before = fixture.git(&["rev-parse", "HEAD"]);
    let (output, outcome) = finish(fixture.service.commit(&fixture.root, request("second")));
    let sentence = outcome.expect("a commit").sentence;
    assert!(sentence.starts_with("Committed "), "{sentence}");
    assert!(output.contains("the bell is broken"), "{output}");
    assert_eq!(fixture.git(&["rev-parse", "HEAD^"]), before);
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}
