//! Commits, their hooks and messages.

use futures::executor::block_on;
use git_panel::{GitFailureKind, GitRun, GitService as _};
use git_program::{CommitRequest, IdentityScope};
use host::{Files as _, RealFiles};

use super::{Fixture, finish, service};

/// A trusted repository with a commit and a staged change.
#[track_caller]
pub(super) fn staged() -> Option<Fixture> {
    let fixture = Fixture::new(&[])?;
    fixture.commit_files(&[("a", "one\n")]);
    fixture.write("a", "two\n");
    fixture.git(&["add", "a"]);
    fixture.trust();
    Some(fixture)
}

pub(super) fn request(message: &str) -> CommitRequest {
    CommitRequest {
        message: Some(message.to_owned()),
        ..CommitRequest::default()
    }
}

#[test]
fn a_failing_hook_refuses_the_commit_and_keeps_the_draft() {
    let Some(fixture) = staged() else {
        return;
    };
    fixture.hook(
        "pre-commit",
        "echo checking; echo 'line 3 is wrong' >&2; exit 1",
    );
    let (service, root) = (&fixture.service, &fixture.root);
    let head = fixture.git(&["rev-parse", "HEAD"]);
    let stored = service.store_draft(root, "second".to_owned());
    block_on(stored).expect("stored");
    let (output, outcome) = finish(service.commit(root, request("second")));
    assert!(
        output.contains("checking") && output.contains("line 3 is wrong"),
        "{output}"
    );
    let GitFailureKind::HookFailed(report) = outcome.expect_err("the hook refuses").kind else {
        panic!("another reason");
    };
    assert_eq!(report.hook, "pre-commit");
    assert!(report.last_lines.ends_with("line 3 is wrong"), "{report:?}");
    assert!(report.log.contains("checking"), "{report:?}");
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head);
    let draft = block_on(service.draft(root)).expect("a draft");
    assert_eq!((draft.text.as_str(), draft.is_template), ("second", false));
    fixture.hook("pre-commit", "exit 0");
    let outcome = fixture.commit("second").expect("a commit");
    let head = fixture.git(&["rev-parse", "HEAD"]);
    let expected = format!("Committed {}: second", &head[..8]);
    assert_eq!(outcome.sentence, expected);
    let draft = block_on(service.draft(root)).expect("a draft");
    assert_eq!(draft.text, "");
}

#[test]
fn a_cancelled_commit_ends_its_hook_and_commits_nothing() {
    let Some(fixture) = staged() else {
        return;
    };
    fixture.hook("pre-commit", "echo waiting; exec sleep 1000");
    let head = fixture.git(&["rev-parse", "HEAD"]);
    let run = fixture.service.commit(&fixture.root, request("second"));
    let GitRun {
        output,
        outcome,
        cancel,
    } = run;
    let mut text = Vec::new();
    while !text.ends_with(b"waiting\n") {
        text.extend(output.recv_blocking().expect("the hook prints"));
    }
    cancel();
    let failure = block_on(outcome).expect_err("cancelled");
    assert_eq!(failure.kind, GitFailureKind::Cancelled);
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head);
    let lock = fixture.root.join(".git/index.lock");
    assert!(!RealFiles.exists(&lock));
}

#[test]
fn a_stale_lock_of_ours_stops_neither_commits_nor_git() {
    let Some(fixture) = staged() else {
        return;
    };
    let lock = fixture.root.join(".git/index.lock");
    let leave_lock = || {
        let left = RealFiles.write_private(&lock, git::land::LOCK_MARK);
        left.expect("a lock");
    };
    leave_lock();
    fixture.commit("second").expect("a commit");
    leave_lock();
    block_on(fixture.service.repositories()).expect("a list");
    fixture.write("a", "three\n");
    fixture.git(&["add", "a"]);
    // The lock of another program stays.
    RealFiles.write_private(&lock, b"").expect("a lock");
    block_on(fixture.service.repositories()).expect("a list");
    assert!(RealFiles.exists(&lock));
}

#[test]
fn a_draft_survives_a_restart_and_precedes_gits_message() {
    let Some(fixture) = staged() else {
        return;
    };
    let root = &fixture.root;
    let read = |service: &super::FolderGit| {
        let draft = block_on(service.draft(root)).expect("a draft");
        (draft.text, draft.is_template)
    };
    fixture.write(".git/MERGE_MSG", "Merge b\n\n# Conflicts:\n");
    let prepared = ("Merge b\n\n# Conflicts:\n".to_owned(), true);
    assert_eq!(read(&fixture.service), prepared);
    let stored = fixture.service.store_draft(root, "my words".to_owned());
    block_on(stored).expect("stored");
    // A program that is killed stores nothing more: the files are all that another one finds.
    let another = service(&fixture.dirs, root, fixture.environment.clone());
    assert_eq!(read(&another), ("my words".to_owned(), false));
    let stored = another.store_draft(root, String::new());
    block_on(stored).expect("removed");
    assert_eq!(read(&another), prepared);
}

#[test]
fn checks_of_landings_guard_commits_if_the_settings_say_so() {
    let Some(fixture) = staged() else {
        return;
    };
    if !has_sandbox() {
        return test_support::skip("this machine has no sandbox for checks");
    }
    let worktrees = runtime::compose::service::open_worktrees(
        &fixture.dirs,
        &fixture.root,
        composer::change_history::TreeWatchers::default(),
    );
    let worktrees = worktrees.expect("worktrees");
    let checks = runtime::compose::checks::CheckCommands::new(&fixture.dirs, &worktrees);
    let command = "grep -q three a || { echo no three; exit 1; }".to_owned();
    checks.save(&[command]).expect("saved");
    let settings = fixture.dirs.config.join("settings.json");
    let text = br#"{ "git": { "checks_on_commit": true } }"#;
    RealFiles.write_private(&settings, text).expect("saved");
    let head = fixture.git(&["rev-parse", "HEAD"]);
    let refused = fixture.commit("second").expect_err("the check fails");
    let GitFailureKind::HookFailed(report) = refused.kind else {
        panic!("another reason: {}", refused.sentence);
    };
    assert_eq!(report.last_lines, "no three");
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head);
    fixture.write("a", "three\n");
    fixture.git(&["add", "a"]);
    fixture.commit("second").expect("a commit");
}

/// Prepares the sandbox; returns whether commands run in it, as they do on Linux.
fn has_sandbox() -> bool {
    runtime::prepare_sandbox();
    base::Platform::CURRENT == base::Platform::Linux
}

#[test]
fn a_missing_address_refuses_commits_until_it_is_stored() {
    let Some(fixture) = staged() else {
        return;
    };
    fixture.git(&["config", "--unset", "user.email"]);
    fixture.git(&["config", "--global", "--unset", "user.email"]);
    fixture.git(&["config", "user.useConfigOnly", "true"]);
    let refused = fixture.commit("second").expect_err("no address");
    assert_eq!(refused.kind, GitFailureKind::IdentityMissing);
    let (service, root) = (&fixture.service, &fixture.root);
    let mut identity = block_on(service.identity(root)).expect("the part that is set");
    assert_eq!(
        (identity.name.as_str(), identity.address.as_str()),
        ("A B", "")
    );
    identity.address = "b@example.org".to_owned();
    let stored = service.store_identity(root, identity, IdentityScope::User);
    block_on(stored).expect("stored");
    fixture.commit("second").expect("a commit");
    let address = fixture.git(&["config", "--global", "--get", "user.email"]);
    assert_eq!(address, "b@example.org");
}
