//! Commits: hooks that fail, hang, flood or want a terminal; signatures and identities.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use host::process::TerminalSize;

use super::Fixture;
use crate::cancellation::Cancellation;
use crate::commit::{CommitRequest, MessageComments};
use crate::error::Error;
use crate::identity::{CommitIdentity, IdentityScope};
use crate::run::CallTerminal;

fn request(message: &str) -> CommitRequest {
    CommitRequest {
        message: Some(message.to_owned()),
        ..CommitRequest::default()
    }
}

/// Stages a change and commits it.
fn commit(fixture: &Fixture, request: &CommitRequest) -> Result<String, Error> {
    fixture.write("file", "text\n");
    fixture.add(&["file"]);
    fixture
        .git
        .commit(request, &Cancellation::default(), &mut |_| {})
}

#[test]
fn a_commit_has_message_trailers_and_id() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let request = CommitRequest {
        sign_off: true,
        co_authors: vec!["C D <c@example.org>".to_owned()],
        ..request("subject\n\n#12 stays\n")
    };
    let id = commit(&fixture, &request).expect("a commit");
    assert_eq!(fixture.run(&["rev-parse", "HEAD"]), id);
    let message = fixture.run(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("subject\n\n#12 stays\n"), "{message}");
    assert!(
        message.contains("Signed-off-by: A B <a@example.org>"),
        "{message}"
    );
    assert!(
        message.contains("Co-authored-by: C D <c@example.org>"),
        "{message}"
    );
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}

#[test]
fn a_template_loses_its_comments() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.write("template", ";hint\n");
    fixture.run(&["config", "commit.template", "template"]);
    fixture.run(&["config", "core.commentChar", ";"]);
    let settings = fixture
        .git
        .message_settings(&Cancellation::default())
        .expect("settings");
    assert_eq!(
        (settings.template.as_deref(), settings.comment.as_str()),
        (Some(";hint\n"), ";")
    );
    let request = CommitRequest {
        comments: MessageComments::Strip,
        ..request(";hint\nsubject\n")
    };
    commit(&fixture, &request).expect("a commit");
    assert_eq!(fixture.run(&["log", "-1", "--format=%B"]).trim(), "subject");
}

#[test]
fn a_failed_hook_is_named_with_its_last_lines() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.hook(
        "pre-commit",
        "echo first; seq 1 100; git status >/dev/null; echo the reason >&2; exit 1",
    );
    let failure = match commit(&fixture, &request("x")) {
        Err(Error::HookFailed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    assert_eq!(failure.hook, "pre-commit");
    assert!(
        failure.last_lines.ends_with("the reason"),
        "{}",
        failure.last_lines
    );
    assert!(!failure.last_lines.contains("first") && failure.log.text().starts_with("first\n"));
    fixture.hook("pre-commit", "exit 0");
    fixture.hook("commit-msg", "exit 3");
    let failed = commit(&fixture, &request("x"));
    assert!(
        matches!(&failed, Err(Error::HookFailed(failure)) if failure.hook == "commit-msg"),
        "{failed:?}"
    );
    let request = CommitRequest {
        no_verify: true,
        ..request("x")
    };
    commit(&fixture, &request).expect("without hooks");
    assert_eq!(fixture.leftovers(), Vec::<String>::new());
}

#[test]
fn a_hanging_hook_ends_with_cancel() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.hook("pre-commit", "echo ready; sleep 600");
    fixture.write("file", "text\n");
    fixture.add(&["file"]);
    let cancellation = Cancellation::default();
    let (ready, is_ready) = mpsc::channel();
    let committing = {
        let (git, cancellation) = (fixture.git.clone(), cancellation.clone());
        thread::spawn(move || {
            git.commit(&request("x"), &cancellation, &mut |bytes| {
                if bytes.starts_with(b"ready") {
                    ready.send(()).expect("a receiver");
                }
            })
        })
    };
    is_ready
        .recv_timeout(Duration::from_secs(60))
        .expect("the hook runs");
    assert!(fixture.git.is_writing());
    cancellation.cancel();
    let ended = committing.join().expect("no panic");
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert_eq!(fixture.leftovers(), Vec::<String>::new(), "no lock is left");
    assert!(!fixture.git.is_writing());
    fixture.hook("pre-commit", "exit 0");
    commit(&fixture, &request("x")).expect("the repository is free");
}

#[test]
fn a_flood_of_output_is_bounded() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.hook(
        "pre-commit",
        "yes 0123456789 | head -c 100000000; echo the end; exit 1",
    );
    fixture.write("file", "text\n");
    fixture.add(&["file"]);
    let mut seen = 0_u64;
    let failed = fixture
        .git
        .commit(&request("x"), &Cancellation::default(), &mut |bytes| {
            seen += bytes.len() as u64;
        });
    let failure = match failed {
        Err(Error::HookFailed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    assert!(seen > 100_000_000, "{seen}");
    assert!(failure.log.bytes().len() < 1 << 20);
    assert!(failure.last_lines.ends_with("the end"));
}

#[test]
fn a_hook_gets_a_terminal_and_typed_text() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.hook(
        "pre-commit",
        "test -t 1 || exit 9; echo question; read answer </dev/tty; echo \"got $answer\"; exit 1",
    );
    let (typed, input) = async_channel::bounded(1);
    let terminal = CallTerminal {
        size: TerminalSize {
            rows: 24,
            columns: 80,
        },
        input: Some(input),
    };
    let request = CommitRequest {
        terminal: Some(terminal),
        ..request("x")
    };
    fixture.write("file", "text\n");
    fixture.add(&["file"]);
    let mut shown = Vec::new();
    let mut is_typed = false;
    let failed = fixture
        .git
        .commit(&request, &Cancellation::default(), &mut |bytes| {
            shown.extend_from_slice(bytes);
            if !is_typed && String::from_utf8_lossy(&shown).contains("question") {
                is_typed = true;
                typed.send_blocking(b"yes\r".to_vec()).expect("a receiver");
            }
        });
    let failure = match failed {
        Err(Error::HookFailed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    assert!(
        failure.last_lines.contains("got yes"),
        "{}",
        failure.last_lines
    );
}

#[test]
fn signing_identity_and_an_empty_index_have_their_errors() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.hook("post-commit", "exit 1");
    commit(&fixture, &request("one")).expect("a hook after the commit does not refuse it");
    let empty = fixture
        .git
        .commit(&request("x"), &Cancellation::default(), &mut |_| {});
    assert!(
        matches!(empty, Err(Error::NothingStaged { .. })),
        "{empty:?}"
    );
    fixture.run(&["config", "gpg.format", "ssh"]);
    fixture.run(&["config", "user.signingkey", "/nowhere/key"]);
    fixture.run(&["config", "commit.gpgsign", "true"]);
    fixture.write("file", "more\n");
    fixture.add(&["file"]);
    let unsigned = fixture
        .git
        .commit(&request("x"), &Cancellation::default(), &mut |_| {});
    assert!(
        matches!(unsigned, Err(Error::SigningFailed { .. })),
        "{unsigned:?}"
    );
    fixture.run(&["config", "commit.gpgsign", "false"]);
    fixture.run(&["config", "--unset", "user.email"]);
    fixture.run(&["config", "user.useConfigOnly", "true"]);
    let unknown = fixture
        .git
        .commit(&request("x"), &Cancellation::default(), &mut |_| {});
    assert!(
        matches!(unknown, Err(Error::IdentityMissing)),
        "{unknown:?}"
    );
    let cancellation = Cancellation::default();
    fixture
        .git
        .store_identity(
            &CommitIdentity {
                name: "A".to_owned(),
                address: "a@example.org".to_owned(),
            },
            IdentityScope::Repository,
            &cancellation,
        )
        .expect("stored");
    let stored = fixture.git.identity(&cancellation).expect("it is set");
    assert_eq!(stored.address, "a@example.org");
    fixture
        .git
        .commit(&request("x"), &cancellation, &mut |_| {})
        .expect("a commit");
}
