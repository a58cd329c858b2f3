//! Repositories that libgit2 cannot read: their status, diffs and staging go through git.

use futures::executor::block_on;
use git::changes::{ChangeGroup, HeadState};
use git::merge::TreePath;
use git::staging::{LineSelection, Side};
use git_panel::{GitFailureKind, GitService as _};

use super::Fixture;

/// Stages, unstages, undoes and commits in a repository that needs git.
fn use_repository(fixture: &Fixture) {
    let (service, root) = (&fixture.service, &fixture.root);
    fixture.write("a", "1\n2\n3\n4\n5\n6\n7\nnew\n");
    fixture.write("new name", "text\n");
    let refused = block_on(service.changes(root)).expect_err("no trust");
    assert_eq!(refused.kind, GitFailureKind::Untrusted);
    assert_eq!(fixture.calls(), 0);
    fixture.trust();
    let changed = [
        (ChangeGroup::Unstaged, "a".to_owned()),
        (ChangeGroup::Untracked, "new name".to_owned()),
    ];
    assert_eq!(fixture.listed(), changed);
    let changes = block_on(service.changes(root)).expect("a status");
    let HeadState::Branch { name, .. } = changes.head else {
        panic!("{:?}", changes.head);
    };
    assert_eq!(name, "main");
    let branches = block_on(service.branches(root)).expect("a list");
    assert_eq!(branches.len(), 1);
    assert!(branches[0].is_head && branches[0].name == "main");
    let message = block_on(service.last_message(root)).expect("a message");
    assert_eq!(message.trim_end(), "first");
    stage_lines(fixture);
    stage_files(fixture);
    fixture.commit("second").expect("a commit");
    assert_eq!(
        fixture.git(&["show", "--format=%s", "--no-patch"]),
        "second"
    );
}

/// Stages one of two hunks, takes it back, and stages both one after the other.
fn stage_lines(fixture: &Fixture) {
    let (service, root) = (&fixture.service, &fixture.root);
    let before = fixture.git(&["ls-files", "--stage"]);
    let diff = fixture.diff("a", Side::Unstaged);
    assert_eq!(diff.hunks.len(), 2, "{diff:?}");
    let second = LineSelection::of_hunks(&diff.hunks[1..]);
    let step = block_on(service.stage_lines(root, diff.clone(), second.clone()));
    let step = step.expect("staged");
    assert_eq!(fixture.git(&["show", ":a"]), "0\n1\n2\n3\n4\n5\n6\n7\nnew");
    // The index holds another text than the diff.
    let stale = block_on(service.stage_lines(root, diff, second)).expect_err("outdated");
    assert_eq!(stale.kind, GitFailureKind::Outdated);
    let staged = fixture.diff("a", Side::Staged);
    assert_eq!(staged.hunks.len(), 1);
    block_on(service.undo_staging(root, step)).expect("taken back");
    assert_eq!(fixture.git(&["ls-files", "--stage"]), before);
    for _ in 0..2 {
        let diff = fixture.diff("a", Side::Unstaged);
        let first = LineSelection::of_hunks(&diff.hunks[..1]);
        block_on(service.stage_lines(root, diff, first)).expect("staged");
    }
    assert_eq!(fixture.git(&["diff", "--name-only"]), "");
    let staged = fixture.diff("a", Side::Staged);
    let all = LineSelection::of_all(&staged);
    block_on(service.unstage_lines(root, staged, all)).expect("unstaged");
    assert_eq!(fixture.git(&["ls-files", "--stage"]), before);
}

fn stage_files(fixture: &Fixture) {
    let (service, root) = (&fixture.service, &fixture.root);
    let before = fixture.git(&["ls-files", "--stage"]);
    let paths = vec![TreePath::from("a"), TreePath::from("new name")];
    let step = block_on(service.stage_files(root, paths.clone())).expect("staged");
    let staged = [
        (ChangeGroup::Staged, "a".to_owned()),
        (ChangeGroup::Staged, "new name".to_owned()),
    ];
    assert_eq!(fixture.listed(), staged);
    block_on(service.undo_staging(root, step)).expect("taken back");
    assert_eq!(fixture.git(&["ls-files", "--stage"]), before);
    block_on(service.stage_files(root, paths.clone())).expect("staged");
    block_on(service.unstage_files(root, paths.clone())).expect("unstaged");
    assert_eq!(fixture.git(&["ls-files", "--stage"]), before);
    block_on(service.stage_files(root, paths)).expect("staged");
}

const BEGINNING: &[(&str, &str)] = &[("a", "0\n1\n2\n3\n4\n5\n6\n7\n")];

#[test]
fn repositories_with_sha256_work_through_git() {
    let Some(fixture) = Fixture::new(&["--object-format=sha256"]) else {
        return;
    };
    fixture.commit_files(BEGINNING);
    use_repository(&fixture);
}

#[test]
fn repositories_with_reftable_work_through_git() {
    let Some(fixture) = Fixture::new(&["--ref-format=reftable"]) else {
        return;
    };
    fixture.commit_files(BEGINNING);
    use_repository(&fixture);
}

#[test]
fn repositories_with_a_split_index_work_through_git() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(BEGINNING);
    fixture.git(&["config", "core.splitIndex", "true"]);
    fixture.git(&["update-index", "--split-index"]);
    use_repository(&fixture);
}

#[test]
fn files_with_a_filter_are_staged_by_git() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.write(".gitattributes", "*.up filter=up\n");
    fixture.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    fixture.commit_files(&[("a.up", "one\ntwo\n")]);
    fixture.write("a.up", "one\n2\nthree\n");
    let (service, root) = (&fixture.service, &fixture.root);
    let path = vec![TreePath::from("a.up")];
    let refused = block_on(service.stage_files(root, path.clone())).expect_err("no trust");
    assert_eq!(refused.kind, GitFailureKind::Untrusted);
    assert_eq!(fixture.calls(), 0);
    fixture.trust();
    let diff = fixture.diff("a.up", Side::Unstaged);
    assert_eq!(&*diff.work, b"ONE\n2\nTHREE\n");
    let all = LineSelection::of_all(&diff);
    block_on(service.stage_lines(root, diff, all)).expect("staged");
    assert_eq!(fixture.git(&["show", ":a.up"]), "ONE\n2\nTHREE");
    let step = block_on(service.stage_files(root, path)).expect("staged");
    block_on(service.undo_staging(root, step)).expect("taken back");
    assert_eq!(fixture.git(&["show", ":a.up"]), "ONE\n2\nTHREE");
}
