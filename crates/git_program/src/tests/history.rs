//! Status, staging, history, blame, details and the reflog.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use host::{Files, RealFiles};

use super::Fixture;
use crate::blame::{BlameOptions, BlamedLines};
use crate::cancellation::Cancellation;
use crate::compare::UncommittedSide;
use crate::error::Error;
use crate::graph::CommitGraph;
use crate::log::{LogQuery, LogRow};
use crate::reflog::{UndoStep, undo_plan};
use crate::status::{ChangeLetter, EntryState};

fn log(fixture: &Fixture, query: &LogQuery) -> Vec<LogRow> {
    let mut rows = Vec::new();
    let read = fixture
        .git
        .log(query, &Cancellation::default(), &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        });
    read.expect("a history");
    rows
}

fn blame(fixture: &Fixture, name: &str, options: BlameOptions) -> Vec<BlamedLines> {
    let mut found = Vec::new();
    let cancellation = Cancellation::default();
    let read = fixture
        .git
        .blame(Path::new(name), options, &cancellation, &mut |lines| {
            found.push(lines);
            ControlFlow::Continue(())
        });
    read.expect("a blame");
    found.sort_by_key(|it| it.lines.start);
    found
}

#[test]
fn a_repository_that_libgit2_cannot_read_has_a_status() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\n", "one");
    fixture.run(&["update-index", "--split-index"]);
    fixture.write("a", "two\n");
    fixture.write("b c", "new\n");
    fixture.write("staged", "new\n");
    fixture.add(&["staged"]);
    let cancellation = Cancellation::default();
    let report = fixture.git.status(&cancellation).expect("a status");
    assert_eq!(
        (report.branch.name.as_deref(), report.unknown),
        (Some("main"), 0)
    );
    let states: Vec<_> = report
        .entries
        .iter()
        .map(|it| (it.path.clone(), &it.state))
        .collect();
    let [
        (_, EntryState::Tracked(changed)),
        (_, EntryState::Tracked(added)),
        (name, EntryState::Untracked),
    ] = &states[..]
    else {
        panic!("{states:?}");
    };
    assert_eq!(changed.unstaged, Some(ChangeLetter::Modified));
    assert_eq!(added.staged, Some(ChangeLetter::Added));
    assert_eq!(name, Path::new("b c"));
    fixture
        .git
        .restore_staged(&[PathBuf::from("staged")], &cancellation)
        .expect("unstaged");
    let report = fixture.git.status(&cancellation).expect("a status");
    assert!(
        report
            .entries
            .iter()
            .any(|it| it.path == Path::new("staged") && it.state == EntryState::Untracked)
    );
}

#[test]
fn a_patch_is_staged_and_unstaged() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\ntwo\nthree\n", "one");
    fixture.write("a", "ONE\ntwo\nTHREE\n");
    // The counts are wrong, as those of a patch that lost lines.
    let patch = "--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n-one\n+ONE\n two\n three\n";
    let cancellation = Cancellation::default();
    fixture
        .git
        .stage_patch(patch.as_bytes().to_vec(), &cancellation)
        .expect("staged");
    let staged = || {
        fixture
            .git
            .show("", Path::new("a"), 1 << 20, &cancellation)
            .expect("the index")
    };
    assert_eq!(staged(), b"ONE\ntwo\nthree\n");
    fixture
        .git
        .unstage_patch(patch.as_bytes().to_vec(), &cancellation)
        .expect("unstaged");
    assert_eq!(staged(), b"one\ntwo\nthree\n");
    assert_eq!(fixture.read("a"), "ONE\ntwo\nTHREE\n");
}

#[test]
fn a_held_index_is_reported_and_never_removed() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\n", "one");
    fixture.write(".git/index.lock", "");
    fixture.write("a", "two\n");
    let cancellation = Cancellation::default();
    let held = fixture.git.add(&[PathBuf::from("a")], &cancellation);
    let lock = fixture.root.join(".git/index.lock");
    assert!(
        matches!(&held, Err(Error::IndexLocked { path, .. }) if *path == lock),
        "{held:?}"
    );
    assert!(RealFiles.exists(&lock));
    fixture
        .git
        .status(&cancellation)
        .expect("reading needs no lock");
    RealFiles.remove(&lock).expect("removed");
    fixture
        .git
        .add(&[PathBuf::from("a")], &cancellation)
        .expect("staged");
}

#[test]
fn the_history_is_filtered_and_drawn() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\n", "first");
    fixture.run(&["switch", "--quiet", "--create", "topic"]);
    fixture.commit("b", "needle\n", "on topic");
    fixture.run(&["switch", "--quiet", "main"]);
    fixture.commit("a", "one\ntwo\n", "second");
    fixture.run(&["merge", "--quiet", "--no-edit", "topic"]);
    let rows = log(&fixture, &LogQuery::default());
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0].parents.len(), 2);
    assert!(
        rows[0]
            .refs
            .iter()
            .any(|label| label.name == "main" && label.is_head)
    );
    let mut graph = CommitGraph::default();
    let lanes = rows
        .iter()
        .map(|row| graph.place(&row.id, &row.parents).lane);
    assert_eq!(lanes.max(), Some(1));
    assert_eq!(graph.width(), 0);
    let subjects = |query: &LogQuery| {
        let rows = log(&fixture, query);
        rows.into_iter().map(|row| row.subject).collect::<Vec<_>>()
    };
    let of_path = LogQuery {
        path: Some("a".into()),
        follow: true,
        ..LogQuery::default()
    };
    assert_eq!(subjects(&of_path), ["second", "first"]);
    let of_lines = LogQuery {
        lines: Some(("a".into(), 2..=2)),
        ..LogQuery::default()
    };
    assert_eq!(subjects(&of_lines), ["second"]);
    let by_text = LogQuery {
        text: Some("ON TOP".to_owned()),
        ..LogQuery::default()
    };
    assert_eq!(subjects(&by_text), ["on topic"]);
}

#[test]
fn a_query_ends_when_its_receiver_has_enough() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    for number in 0..5 {
        fixture.commit("a", &format!("{number}\n"), &format!("commit {number}"));
    }
    let mut count = 0;
    let read = fixture
        .git
        .log(&LogQuery::default(), &Cancellation::default(), &mut |_| {
            count += 1;
            ControlFlow::Break(())
        });
    read.expect("a history");
    assert_eq!(count, 1);
}

#[test]
fn blame_knows_unsaved_lines() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let first = fixture.commit("a", "one\ntwo\n", "first");
    let second = fixture.commit("a", "one\nTWO\n", "second");
    let ids = |found: &[BlamedLines]| {
        found
            .iter()
            .map(|it| (it.lines.clone(), it.commit.id.clone()))
            .collect::<Vec<_>>()
    };
    let saved = blame(&fixture, "a", BlameOptions::default());
    assert_eq!(
        ids(&saved),
        [(0..1, Some(first.clone())), (1..2, Some(second))]
    );
    assert_eq!(saved[0].commit.subject, "first");
    let options = BlameOptions {
        content: Some(b"zero\none\n".to_vec()),
        ..BlameOptions::default()
    };
    let unsaved = blame(&fixture, "a", options);
    assert_eq!(ids(&unsaved), [(0..1, None), (1..2, Some(first))]);
}

#[test]
fn details_files_and_contents_of_a_commit() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let first = fixture.commit("a", "one\n", "first\n\nbody");
    let second = fixture.commit("b", "two\n", "second");
    let cancellation = Cancellation::default();
    let details = fixture
        .git
        .commit_details(&first, &cancellation)
        .expect("details");
    assert_eq!(
        (details.id.as_str(), details.message.as_str()),
        (first.as_str(), "first\n\nbody")
    );
    let changed = |before: Option<&str>, after: &str| {
        let changes = fixture
            .git
            .changed_files(before, after, &cancellation)
            .expect("a list");
        changes
            .into_iter()
            .map(|it| (it.path, it.letter))
            .collect::<Vec<_>>()
    };
    let added = |name: &str| vec![(PathBuf::from(name), ChangeLetter::Added)];
    assert_eq!(changed(None, &first), added("a"));
    assert_eq!(changed(None, &second), added("b"));
    assert_eq!(changed(Some(first.as_str()), &second), added("b"));
    let content = fixture.git.show(&first, Path::new("a"), 100, &cancellation);
    assert_eq!(content.expect("a file"), b"one\n");
    let large = fixture.git.show(&first, Path::new("a"), 2, &cancellation);
    assert!(matches!(large, Err(Error::TooLarge { .. })));
}

#[test]
fn the_last_action_is_undone() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let first = fixture.commit("a", "one\n", "first");
    fixture.commit("a", "two\n", "second");
    let cancellation = Cancellation::default();
    let entries = fixture.git.reflog(10, &cancellation).expect("a reflog");
    let plan = undo_plan(&entries).expect("a plan");
    fixture.git.undo(&plan, &cancellation).expect("undone");
    assert_eq!(fixture.run(&["rev-parse", "HEAD"]), first);
    assert_eq!(fixture.read("a"), "two\n");
    fixture
        .git
        .undo(&plan, &cancellation)
        .expect_err("HEAD has moved");
}

#[test]
fn a_folder_without_a_repository_is_named() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    RealFiles
        .remove(&fixture.root.join(".git"))
        .expect("removed");
    let error = fixture
        .git
        .operation(&Cancellation::default())
        .expect_err("no repository");
    assert!(matches!(error, Error::NoRepository { .. }), "{error}");
}

#[test]
fn a_former_state_is_restored_unless_changes_would_be_lost() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    let first = fixture.commit("a", "one\n", "first");
    fixture.commit("a", "two\n", "second");
    let cancellation = Cancellation::default();
    let states = fixture.git.reflog_states(10, &cancellation);
    let states = states.expect("a reflog");
    assert_eq!(states.len(), 1);
    let state = &states[0];
    assert_eq!(state.plan.step, UndoStep::ResetKeep(first.clone()));
    assert_eq!(
        (state.gained.count, &state.lost.subjects[..]),
        (0, &["second".to_owned()][..])
    );
    fixture.write("a", "mine\n");
    let refused = fixture.git.undo(&state.plan, &cancellation);
    assert!(
        matches!(&refused, Err(Error::LocalChanges { paths }) if paths[..] == [PathBuf::from("a")]),
        "{refused:?}"
    );
    assert_eq!(fixture.read("a"), "mine\n");
    fixture.write("a", "two\n");
    fixture
        .git
        .undo(&state.plan, &cancellation)
        .expect("restored");
    assert_eq!(fixture.run(&["rev-parse", "HEAD"]), first);
    assert_eq!(fixture.read("a"), "one\n");
}

#[test]
fn files_are_compared_with_what_is_not_committed() {
    let Some(fixture) = Fixture::new() else {
        return;
    };
    fixture.commit("a", "one\n", "first");
    fixture.commit("b", "one\n", "second");
    fixture.write("a", "two\n");
    fixture.add(&["a"]);
    fixture.write("b", "two\n");
    let files = |revision: Option<&str>, side: UncommittedSide| {
        let files = fixture
            .git
            .files_since(revision, side, &Cancellation::default());
        let files = files.expect("a list").into_iter();
        let shown = files.map(|it| format!("{:?} {}", it.letter, it.path.display()));
        shown.collect::<Vec<_>>()
    };
    let tree = UncommittedSide::WorkingTree;
    assert_eq!(files(None, tree), ["Modified b"]);
    assert_eq!(files(Some("HEAD"), tree), ["Modified a", "Modified b"]);
    let staged = files(Some("HEAD~"), UncommittedSide::Index);
    assert_eq!(staged, ["Modified a", "Added b"]);
}
