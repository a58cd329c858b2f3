//! Merges, rebases, switches, stashes and bisection with conflicts.

use std::path::PathBuf;

use super::Fixture;
use crate::bisect::{BisectState, BisectVerdict};
use crate::branches::{LocalChanges, SwitchKind, SwitchOutcome, SwitchRequest};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::operation::{FastForward, MergeRequest, OperationKind, OperationOutcome};
use crate::rebase::{RebaseAction, RebaseRequest};
use crate::stash::{StashParts, StashRequest};

/// Two branches that change the same line; `main` is checked out.
fn diverged() -> Option<Fixture> {
    let fixture = Fixture::new()?;
    fixture.commit("a", "base\n", "base");
    fixture.run(&["switch", "--quiet", "--create", "topic"]);
    fixture.commit("a", "topic\n", "on topic");
    fixture.run(&["switch", "--quiet", "main"]);
    fixture.commit("a", "main\n", "on main");
    Some(fixture)
}

fn merge_request() -> MergeRequest {
    MergeRequest {
        revision: "topic".to_owned(),
        fast_forward: FastForward::Configured,
        autostash: false,
    }
}

#[test]
fn entries_of_the_index_are_restored_once() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\n", "first");
    let cancellation = Cancellation::default();
    let paths = ["a", "new file"].map(PathBuf::from);
    let entries = || {
        let entries = fixture.git.index_entries(&paths, &cancellation);
        entries.expect("a list")
    };
    let before = entries();
    assert_eq!(before.mode_of(&paths[0]), Some(0o100_644));
    assert_eq!(before.mode_of(&paths[1]), None);
    fixture.write("a", "two\n");
    fixture.write("new file", "text\n");
    fixture.add(&["a", "new file"]);
    let after = entries();
    let restore = || {
        let restored = fixture
            .git
            .restore_index_entries(&before, &after, &cancellation);
        restored.expect("git works")
    };
    assert!(restore());
    assert_eq!(fixture.run(&["diff", "--cached", "--name-only"]), "");
    assert!(!restore(), "the index holds other entries now");
}

#[test]
fn a_merge_stops_at_a_conflict_and_goes_on() {
    let Some(fixture) = diverged() else {
        return;
    };
    let cancellation = Cancellation::default();
    let outcome = fixture
        .git
        .merge(&merge_request(), &cancellation, &mut |_| {})
        .expect("a stop");
    let OperationOutcome::Stopped { state, conflicts } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        (state.kind, conflicts),
        (OperationKind::Merge, vec![PathBuf::from("a")])
    );
    fixture.write("a", "both\n");
    fixture.add(&["a"]);
    let outcome = fixture
        .git
        .continue_operation(OperationKind::Merge, &cancellation, &mut |_| {});
    assert_eq!(outcome.expect("a merge"), OperationOutcome::Done);
    assert_eq!(fixture.run(&["rev-list", "--count", "HEAD"]), "4");
}

#[test]
fn a_rebase_is_skipped_or_aborted() {
    let Some(fixture) = diverged() else {
        return;
    };
    let cancellation = Cancellation::default();
    let head = fixture.run(&["rev-parse", "HEAD"]);
    let request = RebaseRequest {
        upstream: "topic".to_owned(),
        onto: None,
        autostash: false,
        steps: None,
    };
    let rebase = || {
        fixture
            .git
            .rebase(&request, &cancellation, &mut |_| {})
            .expect("a stop")
    };
    let stopped = rebase();
    let OperationOutcome::Stopped { state, .. } = &stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!(
        (state.kind, state.branch.as_deref()),
        (OperationKind::Rebase, Some("main"))
    );
    fixture
        .git
        .abort_operation(OperationKind::Rebase, &cancellation)
        .expect("aborted");
    assert_eq!(fixture.run(&["rev-parse", "HEAD"]), head);
    rebase();
    let skipped = fixture
        .git
        .skip_operation(OperationKind::Rebase, &cancellation, &mut |_| {});
    assert_eq!(skipped.expect("skipped"), OperationOutcome::Done);
    assert_eq!(fixture.read("a"), "topic\n");
}

#[test]
fn an_edited_plan_rewords_joins_and_drops() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "a\n", "base");
    for name in ["b", "c", "d", "e"] {
        fixture.commit(name, name, &format!("add {name}"));
    }
    let cancellation = Cancellation::default();
    let mut steps = fixture
        .git
        .rebase_plan("HEAD~4", &cancellation)
        .expect("a plan");
    assert_eq!(steps.len(), 4);
    let message = "it's \"new\" $(touch bad)".to_owned();
    steps[0].action = RebaseAction::Reword(message.clone());
    steps[1].action = RebaseAction::Fixup;
    steps[2].action = RebaseAction::Drop;
    let request = RebaseRequest {
        upstream: "HEAD~4".to_owned(),
        onto: None,
        autostash: false,
        steps: Some(steps),
    };
    let outcome = fixture.git.rebase(&request, &cancellation, &mut |_| {});
    assert_eq!(outcome.expect("a rebase"), OperationOutcome::Done);
    let subjects = fixture.run(&["log", "--format=%s"]);
    assert_eq!(subjects, format!("add e\n{message}\nbase"));
    assert_eq!(fixture.run(&["ls-files"]), "a\nb\nc\ne");
}

#[test]
fn a_switch_carries_changes_through_the_stash() {
    let Some(fixture) = diverged() else {
        return;
    };
    fixture.commit("other", "1\n2\n3\n4\n5\n6\n7\n8\n", "other");
    fixture.run(&["branch", "--force", "topic", "HEAD"]);
    fixture.commit("other", "one\n2\n3\n4\n5\n6\n7\n8\n", "first line");
    fixture.write("other", "one\n2\n3\n4\n5\n6\n7\neight\n");
    let cancellation = Cancellation::default();
    let mut request = SwitchRequest {
        target: "topic".to_owned(),
        kind: SwitchKind::Branch,
        local_changes: LocalChanges::Refuse,
    };
    let refused = fixture.git.switch(&request, &cancellation, &mut |_| {});
    assert!(
        matches!(&refused, Err(Error::LocalChanges { paths }) if paths[..] == [PathBuf::from("other")]),
        "{refused:?}"
    );
    request.local_changes = LocalChanges::Stash;
    let switched = fixture
        .git
        .switch(&request, &cancellation, &mut |_| {})
        .expect("switched");
    assert_eq!(switched, SwitchOutcome::Restored(OperationOutcome::Done));
    assert_eq!(fixture.read("other"), "1\n2\n3\n4\n5\n6\n7\neight\n");
    assert!(
        fixture
            .git
            .stashes(&cancellation)
            .expect("a list")
            .is_empty()
    );
}

#[test]
fn a_part_is_stashed_and_popped() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\n", "a");
    fixture.commit("b", "one\n", "b");
    fixture.write("a", "two\n");
    fixture.write("b", "two\n");
    let cancellation = Cancellation::default();
    let request = StashRequest {
        message: Some("--part".to_owned()),
        parts: StashParts::Paths(vec!["a".into()]),
        with_untracked: false,
    };
    let entry = fixture
        .git
        .stash_push(&request, &cancellation)
        .expect("an entry");
    assert_eq!(
        (fixture.read("a").as_str(), fixture.read("b").as_str()),
        ("one\n", "two\n")
    );
    assert!(entry.message.ends_with("--part"), "{}", entry.message);
    let popped = fixture.git.stash_pop(&entry, &cancellation, &mut |_| {});
    assert_eq!(popped.expect("popped"), OperationOutcome::Done);
    assert_eq!(fixture.read("a"), "two\n");
    fixture
        .git
        .stash_drop(&entry, &cancellation)
        .expect_err("it is gone");
}

#[test]
fn a_branch_tells_what_its_deletion_loses() {
    let Some(fixture) = diverged() else {
        return;
    };
    let cancellation = Cancellation::default();
    let lost = fixture
        .git
        .commits_only_on("topic", 10, &cancellation)
        .expect("a list");
    let subjects: Vec<&str> = lost.iter().map(|row| row.subject.as_str()).collect();
    assert_eq!(subjects, ["on topic"]);
    fixture
        .git
        .create_branch("copy", "topic", &cancellation)
        .expect("created");
    assert!(
        fixture
            .git
            .commits_only_on("topic", 10, &cancellation)
            .expect("a list")
            .is_empty()
    );
    fixture
        .git
        .rename_branch("copy", "kept", &cancellation)
        .expect("renamed");
    fixture
        .git
        .delete_branch("topic", &cancellation)
        .expect("deleted");
    fixture
        .git
        .create_tag("v1", "kept", Some("a tag"), &cancellation)
        .expect("a tag");
    assert_eq!(fixture.run(&["cat-file", "-t", "v1"]), "tag");
    fixture
        .git
        .delete_tag("v1", &cancellation)
        .expect("deleted");
    let bad = fixture.git.create_branch("--force", "main", &cancellation);
    assert!(matches!(bad, Err(Error::BadName { .. })));
}

#[test]
fn a_bisection_finds_the_first_bad_commit() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let ids: Vec<String> = (0..8)
        .map(|number| fixture.commit("a", &format!("{number}\n"), "x"))
        .collect();
    let cancellation = Cancellation::default();
    let git = &fixture.git;
    let mut state = git
        .bisect_start(Some("HEAD"), &ids[..1], &cancellation, &mut |_| {})
        .expect("a start");
    let mut steps = 0;
    while let BisectState::Testing { .. } = state {
        let number: u32 = fixture.read("a").trim().parse().expect("a number");
        let verdict = if number >= 5 {
            BisectVerdict::Bad
        } else {
            BisectVerdict::Good
        };
        state = git
            .bisect_mark(verdict, None, &cancellation, &mut |_| {})
            .expect("a step");
        steps += 1;
        assert!(steps < 8);
    }
    assert_eq!(state, BisectState::Found(ids[5].clone()));
    git.bisect_reset(&cancellation).expect("the end");
    assert_eq!(fixture.run(&["rev-parse", "HEAD"]), ids[7]);
}
