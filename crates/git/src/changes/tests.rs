//! Tests of the groups, kinds and notes of changes in real repositories.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use super::{
    Change, ChangeGroup, ChangeKind, ChangeNote, ConflictKind, HeadState, LineCounts, Operation,
    OperationKind,
};
use crate::merge::TreePath;
use crate::merge::tests::{Fixture, git};

/// Describes a change in one line.
fn described(change: &Change) -> String {
    let group = match change.group {
        ChangeGroup::Conflicts => "conflict",
        ChangeGroup::Staged => "staged",
        ChangeGroup::Unstaged => "unstaged",
        ChangeGroup::Untracked => "untracked",
    };
    let mut text = format!("{group} {:?} {}", change.kind, change.path);
    if let Some(old_path) = &change.old_path {
        text += &format!(" from {old_path}");
    }
    if let Some(note) = &change.note {
        text += &format!(": {note}");
    }
    text
}

/// Compares the changes of the repository, and those of each path alone.
fn check(fixture: &Fixture, expected: &[&str]) {
    let changes = fixture.repository().changes().expect("readable");
    let shown: Vec<String> = changes.entries.iter().map(described).collect();
    assert_eq!(shown, expected);
    for change in &changes.entries {
        let one = [change.path.clone()];
        let alone = fixture.repository().changes_of(&one).expect("readable");
        let of_path = changes
            .entries
            .iter()
            .filter(|it| it.path == change.path || it.old_path.as_ref() == Some(&change.path));
        let of_path: Vec<Change> = of_path.cloned().collect();
        assert_eq!(alone, of_path, "{}", change.path);
    }
}

#[test]
fn each_kind_of_change_is_in_its_group() {
    let fixture = Fixture::new();
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    for name in ["both", "edited", "gone", "mode", "moved", "type", "staged"] {
        fixture.write(name, &format!("{name}\n{text}"));
    }
    fixture.write(".gitignore", "*.log\n");
    fixture.commit();
    fixture.write("both", "1\n");
    fixture.write("staged", "1\n");
    fixture.git(&["add", "both", "staged"]);
    fixture.git(&["mv", "moved", "new name"]);
    fixture.write("both", "2\n");
    fixture.write("edited", "1\n");
    fixture.write("x.log", "1\n");
    fixture.write("new/file", "1\n");
    fixture.write("intended", "1\n");
    fixture.write("intended empty", "");
    fixture.git(&["add", "-N", "intended", "intended empty"]);
    let place = |name: &str| fixture.root.join(name);
    fs::remove_file(place("gone").as_path()).expect("removed");
    fs::remove_file(place("type").as_path()).expect("removed");
    symlink("edited", place("type").as_path()).expect("a link");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place("mode").as_path(), mode).expect("chmod");
    check(
        &fixture,
        &[
            "staged Modified both",
            "staged Renamed new name from moved",
            "staged Modified staged",
            "unstaged Modified both",
            "unstaged Modified edited",
            "unstaged Deleted gone",
            "unstaged Added intended",
            "unstaged Added intended empty",
            "unstaged ModeChanged mode: mode 100644 → 100755",
            "unstaged TypeChanged type",
            "untracked Untracked new/file",
        ],
    );
    let changes = fixture.repository().changes().expect("readable");
    let edited = &changes.entries[4];
    let counts = LineCounts {
        added: 1,
        removed: 21,
    };
    assert_eq!(edited.lines, Some(counts));
}

#[test]
fn contents_without_lines_are_noted() {
    let fixture = Fixture::new();
    fixture.git(&["config", "core.autocrlf", "false"]);
    fixture.write("ends", "a\nb\n");
    fixture.write("binary", "a\0");
    fixture.commit();
    fixture.write("ends", "a\r\nb\r\n");
    fixture.write("binary", "b\0");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 123\n";
    fixture.write("pointer", pointer);
    symlink("nowhere", fixture.root.join("link").as_path()).expect("a link");
    check(
        &fixture,
        &[
            "unstaged Modified binary: binary file",
            "unstaged Modified ends: only line endings differ",
            "untracked Untracked link: symbolic link",
            "untracked Untracked pointer: Git LFS pointer to 123 bytes",
        ],
    );
}

#[test]
fn filtered_files_are_noted_and_not_run() {
    let fixture = Fixture::new();
    fixture.write("file.own", "a\n");
    fixture.write(".gitattributes", "*.own filter=own\n");
    fixture.commit();
    let canary = fixture.root.join("canary");
    let program = format!("touch {canary}; cat");
    fixture.git(&["config", "filter.own.clean", &program]);
    fixture.write("file.own", "longer\n");
    check(
        &fixture,
        &["unstaged Modified file.own: stored by the filter \"own\""],
    );
    assert!(!canary.as_path().exists(), "the filter ran");
}

#[test]
fn submodules_show_their_commits_and_changes() {
    let fixture = Fixture::new();
    let inner = Fixture::new();
    inner.write("file", "one\n");
    let one = inner.commit();
    let url = inner.root.to_string();
    let allow = "protocol.file.allow=always";
    fixture.git(&["-c", allow, "submodule", "--quiet", "add", &url, "sub"]);
    fixture.commit();
    check(&fixture, &[]);
    let sub = fixture.root.join("sub");
    fixture.write("sub/file", "changed\n");
    check(
        &fixture,
        &["unstaged Submodule sub: submodule, with changes of its own"],
    );
    git(sub.as_path(), &["commit", "-q", "-a", "-m", "two"]);
    let two = git(sub.as_path(), &["rev-parse", "HEAD"]);
    let moved = format!("submodule {} → {}", &one[..8], &two[..8]);
    let unstaged = format!("unstaged Submodule sub: {moved}");
    check(&fixture, &[&unstaged]);
    let nested = fixture.repository().nested_repositories();
    let nested = nested.expect("readable");
    assert_eq!(nested.len(), 1);
    assert_eq!(nested[0].recorded.to_string(), one);
    let head = nested[0].head.map(|id| id.to_string());
    assert_eq!(head.as_deref(), Some(two.trim()));
    fixture.git(&["add", "sub"]);
    let staged = format!("staged Submodule sub: {moved}");
    check(&fixture, &[&staged]);
    fs::remove_dir_all(sub.as_path()).expect("removed");
    check(&fixture, &[&staged, "unstaged Deleted sub"]);
}

#[test]
fn untracked_repository_is_one_change() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit();
    fixture.git(&["init", "-q", "nested"]);
    fixture.write("nested/file", "1\n");
    git(
        fixture.root.join("nested").as_path(),
        &["commit", "-q", "--allow-empty", "-m", "one"],
    );
    check(
        &fixture,
        &["untracked Untracked nested: a repository of its own"],
    );
}

/// Runs a git command that may fail, such as one that stops at a conflict.
fn try_git(fixture: &Fixture, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(fixture.folder.path())
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_EDITOR", "true")
        .output();
    output.expect("git");
}

/// Returns a repository on `main` whose branch `other` conflicts with it in several ways.
fn diverged() -> Fixture {
    let fixture = Fixture::new();
    for name in ["modified", "kept", "removed"] {
        fixture.write(name, "base\n");
    }
    fixture.commit();
    fixture.git(&["checkout", "-q", "-b", "other"]);
    fixture.write("modified", "theirs\n");
    fixture.write("removed", "theirs\n");
    fixture.write("added", "theirs\n");
    fixture.git(&["rm", "-q", "kept"]);
    fixture.commit();
    fixture.git(&["checkout", "-q", "main"]);
    fixture.write("modified", "ours\n");
    fixture.write("kept", "ours\n");
    fixture.write("added", "ours\n");
    fixture.git(&["rm", "-q", "removed"]);
    fixture.commit();
    fixture
}

#[test]
fn conflicts_are_named_by_the_sides_in_the_index() {
    let fixture = diverged();
    try_git(&fixture, &["merge", "other"]);
    check(
        &fixture,
        &[
            "conflict Conflicted(BothAdded) added",
            "conflict Conflicted(DeletedByThem) kept",
            "conflict Conflicted(BothModified) modified",
            "conflict Conflicted(DeletedByUs) removed",
        ],
    );
    let changes = fixture.repository().changes().expect("readable");
    let expected = Operation {
        kind: OperationKind::Merge,
        progress: None,
        branch: None,
    };
    assert_eq!(changes.operation, Some(expected));
    let kinds = [
        ([false, true, false], ConflictKind::AddedByUs),
        ([false, false, true], ConflictKind::AddedByThem),
        ([true, false, false], ConflictKind::BothDeleted),
    ];
    for (sides, kind) in kinds {
        assert_eq!(ConflictKind::of(sides), kind);
    }
}

#[test]
fn operations_in_progress_are_named() {
    let fixture = diverged();
    let operation = || {
        let changes = fixture.repository().changes().expect("readable");
        changes.operation
    };
    assert_eq!(operation(), None);
    try_git(&fixture, &["rebase", "other"]);
    let expected = Operation {
        kind: OperationKind::Rebase,
        progress: Some((1, 1)),
        branch: Some("main".to_owned()),
    };
    assert_eq!(operation(), Some(expected));
    let head = fixture.repository().changes().expect("readable").head;
    assert!(matches!(head, HeadState::Detached { .. }), "{head:?}");
    fixture.git(&["rebase", "--abort"]);
    let kinds = [
        ("cherry-pick", OperationKind::CherryPick),
        ("revert", OperationKind::Revert),
    ];
    for (command, kind) in kinds {
        try_git(&fixture, &[command, "other"]);
        assert_eq!(operation().map(|it| it.kind), Some(kind));
        fixture.git(&[command, "--abort"]);
    }
    fixture.git(&["bisect", "start"]);
    let bisection = operation().expect("a bisection");
    assert_eq!(bisection.kind, OperationKind::Bisect);
    assert_eq!(bisection.branch.as_deref(), Some("main"));
}

#[test]
fn head_is_unborn_then_a_branch_then_detached() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    let changes = fixture.repository().changes().expect("readable");
    let name = || "main".to_owned();
    assert_eq!(changes.head, HeadState::Unborn { name: name() });
    check(&fixture, &["untracked Untracked file"]);
    fixture.git(&["add", "file"]);
    check(&fixture, &["staged Added file"]);
    let commit = fixture.commit();
    let head = fixture.repository().head_state().expect("readable");
    let HeadState::Branch { name: branch, .. } = &head else {
        panic!("{head:?}");
    };
    assert_eq!(*branch, name());
    fixture.git(&["checkout", "-q", "--detach"]);
    let head = fixture.repository().head_state().expect("readable");
    let HeadState::Detached { commit: detached } = head else {
        panic!("{head:?}");
    };
    assert_eq!(detached.to_string(), commit);
    check(&fixture, &[]);
}

#[test]
fn upstream_has_a_distance_until_it_is_gone() {
    let fixture = Fixture::new();
    fixture.commit();
    let upstream = || fixture.repository().changes().expect("readable").upstream;
    assert_eq!(upstream(), None);
    fixture.git(&["branch", "base"]);
    fixture.git(&["branch", "--set-upstream-to=base"]);
    fixture.commit();
    let found = upstream().expect("an upstream branch");
    assert_eq!(found.name, "base");
    assert_eq!((found.ahead, found.behind, found.is_gone), (1, 0, false));
    fixture.git(&["update-ref", "-d", "refs/heads/base"]);
    let found = upstream();
    assert!(found.is_none_or(|found| found.is_gone));
}

#[test]
fn hidden_files_are_not_deleted() {
    let fixture = Fixture::new();
    for name in ["assumed", "skipped"] {
        fixture.write(name, "1\n");
    }
    fixture.commit();
    fixture.git(&["update-index", "--assume-unchanged", "assumed"]);
    fixture.git(&["update-index", "--skip-worktree", "skipped"]);
    for name in ["assumed", "skipped"] {
        fs::remove_file(fixture.root.join(name).as_path()).expect("removed");
    }
    check(&fixture, &[]);
}

#[test]
fn changes_of_a_linked_worktree_are_its_own() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit();
    let other = Fixture::new();
    let root = other.root.join("tree");
    fixture.git(&["worktree", "add", "-q", &root.to_string()]);
    fs::write(root.join("file").as_path(), "2\n").expect("written");
    let repository = crate::Repository::discover(&root).expect("a repository");
    let changes = repository.changes().expect("readable");
    let shown: Vec<_> = changes.entries.iter().map(described).collect();
    assert_eq!(shown, ["unstaged Modified file"]);
    let path = TreePath::from("file");
    repository.stage_files(&[path]).expect("staged");
    assert_eq!(git(root.as_path(), &["status", "--porcelain"]), "M  file\n");
    check(&fixture, &[]);
}

#[test]
fn saved_file_without_change_has_no_result() {
    let fixture = Fixture::new();
    fixture.write("folder/file", "1\n");
    fixture.commit();
    let repository = fixture.repository();
    let path = TreePath::from("folder/file");
    let of = |path: &TreePath| {
        repository
            .changes_of(std::slice::from_ref(path))
            .expect("readable")
    };
    assert_eq!(of(&path), []);
    assert_eq!(of(&TreePath::from("nowhere")), []);
    assert_eq!(repository.changes_of(&[]).expect("readable"), []);
    fixture.write("folder/file", "2\n");
    fixture.write("folder/other", "2\n");
    let changes = of(&path);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].kind, ChangeKind::Modified);
    assert_eq!(changes[0].note, None::<ChangeNote>);
}
