//! Every kind of repository: its changes are those of git, its files and lines are staged as git stages them, and nothing is
//! damaged.
//!
//! Start at `check`.

use std::collections::BTreeSet;

use base::{AbsPath, Row};
use futures::executor::block_on;
use git::changes::{Change, ChangeGroup, ChangeKind, ChangeNote};
use git::merge::TreePath;
use git::staging::{LineSelection, Side};
use git_panel::{DiffRequest, GitFailureKind, GitService as _, RepositoryRole};
use git_program::find_program;
use host::{Files as _, RealFiles};

use super::Fixture;

/// The text of a file with two places that change, and its changed text.
const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";
const AFTER: &str = "one\n2\n3\n4\n5\n6\n7\neight\n";
/// The text with the first change alone.
const FIRST_CHANGE: &str = "one\n2\n3\n4\n5\n6\n7\n8\n";

/// The largest index of a story, in bytes.
const MAX_INDEX: u64 = 1 << 20;

/// The door through which a repository is read and staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    InProcess,
    Program,
}

/// A changed file of a story.
#[derive(Clone, Copy, Debug)]
enum ChangedFile<'a> {
    /// The index has `BEFORE`, the disk `AFTER`.
    Edited(&'a str),
    /// The index has no content, the disk has `BEFORE`.
    New(&'a str),
}

impl<'a> ChangedFile<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Edited(name) | Self::New(name) => name,
        }
    }
}

/// A change as group, letter of git and path.
type ListedChange = (ChangeGroup, char, String);

fn listed(change: &Change) -> ListedChange {
    let letter = match change.kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified | ChangeKind::ModeChanged | ChangeKind::Submodule => 'M',
        ChangeKind::Deleted => 'D',
        ChangeKind::Renamed => 'R',
        ChangeKind::TypeChanged => 'T',
        ChangeKind::Conflicted(_) => 'U',
        ChangeKind::Untracked => '?',
    };
    (change.group, letter, change.path.to_string())
}

/// Returns the changes that git lists.
fn by_git(fixture: &Fixture) -> BTreeSet<ListedChange> {
    let arguments = ["status", "--porcelain=v2", "-z", "--untracked-files=all"];
    let status = fixture.git(&arguments);
    let mut changes = BTreeSet::new();
    let mut records = status.split('\0').filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        let path = |fields: usize| {
            let path = record.splitn(fields, ' ').last().unwrap_or_default();
            path.trim_end_matches('/').to_owned()
        };
        let mut changed = |path: &str| {
            let letters = record.split(' ').nth(1).expect("two letters");
            let groups = [ChangeGroup::Staged, ChangeGroup::Unstaged];
            for (group, letter) in groups.into_iter().zip(letters.chars()) {
                if letter != '.' {
                    changes.insert((group, letter, path.to_owned()));
                }
            }
        };
        match record.as_bytes()[0] {
            b'1' => changed(&path(9)),
            b'2' => {
                changed(&path(10));
                // The path before the rename.
                records.next();
            }
            b'u' => {
                changes.insert((ChangeGroup::Conflicts, 'U', path(11)));
            }
            b'?' => {
                changes.insert((ChangeGroup::Untracked, '?', path(2)));
            }
            other => panic!("an unknown record {other}: {record}"),
        }
    }
    changes
}

/// A repository with a commit, and changes in three groups.
#[track_caller]
fn changed(options: &[&str]) -> Option<Fixture> {
    let fixture = Fixture::new(options)?;
    fixture.commit_files(&[("file", BEFORE), ("other", "x\n")]);
    change(&fixture);
    Some(fixture)
}

fn change(fixture: &Fixture) {
    fixture.write("file", AFTER);
    fixture.write("other", "y\n");
    fixture.git(&["add", "other"]);
    fixture.write("new file", "text\n");
}

/// Uses a repository as the window does, and compares it with git at each step. The index is the same afterwards.
#[track_caller]
fn check(fixture: &Fixture, file: ChangedFile<'_>, door: Door) {
    if door == Door::Program {
        fixture.trust();
    }
    let calls = fixture.calls();
    let before = by_git(fixture);
    read(fixture, file.name(), &before);
    stage_file(fixture, file.name());
    stage_lines(fixture, file);
    assert_eq!(by_git(fixture), before, "the index is as it was");
    fixture.assert_sound();
    let calls = fixture.calls() - calls;
    assert_eq!(calls > 0, door == Door::Program, "{calls} calls of git");
}

/// Compares the changes with those of git. Reading must not write.
fn read(fixture: &Fixture, name: &str, expected: &BTreeSet<ListedChange>) {
    let (service, root) = (&fixture.service, &fixture.root);
    let index = fixture.index();
    let kept = RealFiles.read(&index, MAX_INDEX).ok();
    let entries = fixture.entries();
    block_on(service.repositories()).expect("a list");
    let changes: BTreeSet<_> = fixture.changes().iter().map(listed).collect();
    assert_eq!(changes, *expected);
    let of_path = block_on(service.changes_of(root, vec![TreePath::from(name)]));
    let of_path = of_path.expect("changes");
    let of_path: BTreeSet<_> = of_path.iter().map(listed).collect();
    let is_of_path = |change: &&ListedChange| change.2 == name;
    let expected: BTreeSet<_> = expected.iter().filter(is_of_path).cloned().collect();
    assert_eq!(of_path, expected);
    fixture.diff(name, Side::Unstaged);
    block_on(service.branches(root)).expect("a list");
    let is_same = RealFiles.read(&index, MAX_INDEX).ok() == kept;
    assert!(is_same, "reading changed the index");
    assert_eq!(fixture.entries(), entries);
}

/// Stages and unstages a file, and compares the index with those of `git add` and `git reset`.
fn stage_file(fixture: &Fixture, name: &str) {
    let (service, root) = (&fixture.service, &fixture.root);
    let index = fixture.index();
    let kept = RealFiles.read(&index, MAX_INDEX).ok();
    let before = fixture.entries();
    let paths = vec![TreePath::from(name)];
    let step = block_on(service.stage_files(root, paths.clone())).expect("staged");
    let staged = fixture.entries();
    assert_ne!(staged, before);
    block_on(service.undo_staging(root, step)).expect("taken back");
    assert_eq!(fixture.entries(), before, "taken back");
    fixture.git(&["add", "--", name]);
    assert_eq!(staged, fixture.entries(), "as git adds {name}");
    block_on(service.unstage_files(root, paths)).expect("unstaged");
    let unstaged = fixture.entries();
    fixture.git(&["add", "--", name]);
    fixture.git(&["reset", "--quiet", "--", name]);
    assert_eq!(unstaged, fixture.entries(), "as git resets {name}");
    match kept {
        Some(kept) => RealFiles.write_private(&index, &kept).expect("restored"),
        None => RealFiles.remove(&index).expect("removed"),
    }
}

/// Stages some lines of a file and takes them back.
fn stage_lines(fixture: &Fixture, file: ChangedFile<'_>) {
    let (service, root) = (&fixture.service, &fixture.root);
    let name = file.name();
    let before = fixture.entries();
    let diff = fixture.diff(name, Side::Unstaged);
    let (selection, expected) = match file {
        ChangedFile::Edited(_) => {
            assert_eq!(diff.hunks.len(), 2, "{diff:?}");
            let first = LineSelection::of_hunks(&diff.hunks[..1]);
            (first, FIRST_CHANGE)
        }
        ChangedFile::New(_) => {
            let mut first = LineSelection::default();
            first.add_added(Row(0));
            (first, "1\n")
        }
    };
    let step = block_on(service.stage_lines(root, diff, selection)).expect("staged");
    let staged = || fixture.git(&["show", &format!(":{name}")]);
    assert_eq!(staged(), expected.trim_end());
    let in_index = fixture.diff(name, Side::Staged);
    assert_eq!(in_index.hunks.len(), 1, "{in_index:?}");
    if matches!(file, ChangedFile::Edited(_)) {
        let all = LineSelection::of_all(&in_index);
        let unstaged = block_on(service.unstage_lines(root, in_index, all));
        let unstaged = unstaged.expect("unstaged");
        assert_eq!(fixture.entries(), before, "unstaged");
        block_on(service.undo_staging(root, unstaged)).expect("taken back");
        assert_eq!(staged(), expected.trim_end(), "staged again");
    }
    block_on(service.undo_staging(root, step)).expect("taken back");
    assert_eq!(fixture.entries(), before, "taken back");
}

#[test]
fn repositories_that_only_git_reads_equal_it() {
    let formats: [&[&str]; 3] = [
        &["--object-format=sha256"],
        &["--ref-format=reftable"],
        &["--object-format=sha256", "--ref-format=reftable"],
    ];
    for options in formats {
        if let Some(fixture) = changed(options) {
            check(&fixture, ChangedFile::Edited("file"), Door::Program);
        }
    }
    let Some(fixture) = changed(&[]) else {
        return;
    };
    fixture.git(&["config", "core.splitIndex", "true"]);
    fixture.git(&["update-index", "--split-index"]);
    check(&fixture, ChangedFile::Edited("file"), Door::Program);
}

#[test]
fn other_formats_of_the_index_are_kept() {
    let Some(fixture) = changed(&[]) else {
        return;
    };
    fixture.git(&["update-index", "--force-untracked-cache"]);
    fixture.git(&["update-index", "--index-version", "4"]);
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
    let staged = fixture
        .service
        .stage_files(&fixture.root, vec!["file".into()]);
    block_on(staged).expect("staged");
    let index = RealFiles
        .read(&fixture.index(), MAX_INDEX)
        .expect("an index");
    assert_eq!(index[4..8], [0, 0, 0, 4], "the version");
}

#[test]
fn submodules_are_staged_by_commit_and_by_their_files() {
    let Some(fixture) = changed(&[]) else {
        return;
    };
    let library = fixture.folder.join("library");
    RealFiles.create_folder(&library).expect("a folder");
    let written = RealFiles.write_private(&library.join("file"), BEFORE.as_bytes());
    written.expect("a file");
    fixture.git_in(&library, &["init", "--quiet", "--initial-branch=main"]);
    fixture.git_in(&library, &["add", "--all"]);
    fixture.git_in(&library, &["commit", "--quiet", "--message=first"]);
    fixture.git(&["submodule", "--quiet", "add", &library.to_string(), "sub"]);
    let commit = [
        "commit",
        "--quiet",
        "--message=sub",
        "--",
        ".gitmodules",
        "sub",
    ];
    fixture.git(&commit);
    let sub = fixture.root.join("sub");
    let commit = ["commit", "--quiet", "--allow-empty", "--message=second"];
    fixture.git_in(&sub, &commit);
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
    stage_file(&fixture, "sub");
    let found = block_on(fixture.service.repositories()).expect("a list");
    let found: Vec<_> = found.into_iter().map(|it| (it.root, it.role)).collect();
    let expected = [
        (fixture.root.clone(), RepositoryRole::Main),
        (sub.clone(), RepositoryRole::Submodule),
    ];
    assert_eq!(found, expected);
    let inner = fixture.over(&sub);
    change(&inner);
    check(&inner, ChangedFile::Edited("file"), Door::InProcess);
}

#[test]
fn a_linked_worktree_has_an_index_of_its_own() {
    let Some(fixture) = changed(&[]) else {
        return;
    };
    let (main, linked) = (fixture.root.clone(), fixture.folder.join("linked"));
    let place = linked.to_string();
    fixture.git(&["worktree", "add", "--quiet", "-b", "linked", &place]);
    let before = fixture.snapshot();
    let fixture = fixture.over(&linked);
    change(&fixture);
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
    assert_eq!(fixture.over(&main).snapshot(), before);
}

#[test]
fn pointers_of_lfs_are_noted_and_a_missing_program_is_named() {
    let Some(fixture) = changed(&[]) else {
        return;
    };
    let pointer = |size: u32| {
        let id = "1".repeat(64);
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
    };
    // The configuration of this machine may name the program.
    for setting in ["clean", "smudge", "process"] {
        fixture.git(&["config", &format!("filter.lfs.{setting}"), ""]);
    }
    fixture.write(".gitattributes", "*.bin filter=lfs -text\n");
    fixture.write("large.bin", &pointer(12));
    fixture.git(&["add", ".gitattributes", "large.bin"]);
    fixture.git(&["commit", "--quiet", "--message=large"]);
    fixture.write("large.bin", &pointer(34));
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
    let is_large = |change: &Change| change.path == TreePath::from("large.bin");
    let large = fixture.changes().into_iter().find(is_large);
    let note = ChangeNote::LfsPointer { size: Some(34) };
    assert_eq!(large.expect("a change").note, Some(note));

    if find_program("git-lfs", &fixture.environment).is_some() {
        return test_support::skip_part("git-lfs is installed, so that it cannot be missing");
    }
    fixture.git(&["config", "--unset", "filter.lfs.process"]);
    fixture.git(&["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    fixture.git(&["config", "filter.lfs.required", "true"]);
    let before = fixture.entries();
    let stage = || {
        let paths = vec!["large.bin".into()];
        let staged = block_on(fixture.service.stage_files(&fixture.root, paths));
        staged.expect_err("no program")
    };
    assert_eq!(stage().kind, GitFailureKind::Untrusted);
    assert_eq!(fixture.calls(), 0);
    fixture.trust();
    let sentence = stage().sentence;
    assert!(sentence.contains("git-lfs"), "{sentence}");
    assert_eq!(fixture.entries(), before);
    assert!(fixture.changes().iter().any(is_large));
    test_support::skip_part("git-lfs is not installed, so that no file is staged with it");
}

#[test]
fn an_unchanged_file_with_a_filter_is_no_change() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.write(".gitattributes", "*.up filter=up\n");
    fixture.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    fixture.commit_files(&[("a.up", "one\n"), ("b.up", "one\n")]);
    // Another file with the same content: its metadata are not those in the index.
    fixture.write("a.up", "one\n");
    fixture.write("b.up", "two\n");
    fixture.trust();
    let changed = (ChangeGroup::Unstaged, "b.up".to_owned());
    assert_eq!(fixture.listed(), [changed]);
    let names = vec!["a.up".into(), "b.up".into()];
    let of_paths = block_on(fixture.service.changes_of(&fixture.root, names));
    let of_paths = of_paths.expect("changes");
    let of_paths: Vec<_> = of_paths.iter().map(listed).collect();
    let by_git: Vec<_> = by_git(&fixture).into_iter().collect();
    assert_eq!(of_paths, by_git);
}

#[test]
fn carriage_returns_are_staged_as_git_stores_them() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    let [before, after] = [BEFORE, AFTER].map(|text| text.replace('\n', "\r\n"));
    fixture.write(".gitattributes", "* text=auto eol=crlf\n");
    fixture.commit_files(&[("file", before.as_str()), ("other", "x\r\n")]);
    change(&fixture);
    fixture.write("file", &after);
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
}

#[test]
fn a_sparse_checkout_shows_no_deleted_files() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    let files = [
        ("file", BEFORE),
        ("other", "x\n"),
        ("in/a", "1\n"),
        ("out/b", "1\n"),
    ];
    fixture.commit_files(&files);
    let set = [
        "sparse-checkout",
        "set",
        "--cone",
        "--no-sparse-index",
        "in",
    ];
    if fixture.try_git(&set).is_none() {
        return test_support::skip("this git has no sparse checkout");
    }
    assert_eq!(fixture.read("out/b"), None);
    change(&fixture);
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
    fixture.git(&["sparse-checkout", "reapply", "--sparse-index"]);
    check(&fixture, ChangedFile::Edited("file"), Door::Program);
}

/// Clones the repository of a fixture, and opens the clone.
fn cloned(fixture: Fixture, options: &[&str]) -> Fixture {
    let clone = fixture.folder.join("clone");
    let from = format!("file://{}", fixture.root);
    let to = clone.to_string();
    let places = [from.as_str(), to.as_str()];
    fixture.git(&[&["clone", "--quiet"][..], options, &places[..]].concat());
    fixture.over(&clone)
}

#[test]
fn a_shallow_clone_is_used_in_process() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("file", "old\n"), ("other", "x\n")]);
    fixture.write("file", BEFORE);
    fixture.git(&["commit", "--quiet", "--all", "--message=second"]);
    let fixture = cloned(fixture, &["--depth=1"]);
    assert_eq!(fixture.git(&["rev-list", "--count", "HEAD"]), "1");
    change(&fixture);
    check(&fixture, ChangedFile::Edited("file"), Door::InProcess);
    let message = block_on(fixture.service.last_message(&fixture.root));
    assert_eq!(message.expect("a message").trim_end(), "second");
}

#[test]
fn a_partial_clone_fetches_for_trusted_folders_alone() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("file", BEFORE), ("other", "x\n")]);
    fixture.git(&["config", "uploadpack.allowFilter", "true"]);
    let fixture = cloned(fixture, &["--no-checkout", "--filter=blob:none"]);
    fixture.git(&["reset", "--quiet"]);
    fixture.write("file", AFTER);
    let missing = || {
        let arguments = ["rev-list", "--objects", "--all", "--missing=print"];
        let objects = fixture.git(&arguments);
        objects.lines().filter(|line| line.starts_with('?')).count()
    };
    assert_eq!(missing(), 2);
    let changes: BTreeSet<_> = fixture.changes().iter().map(listed).collect();
    assert_eq!(changes, by_git(&fixture));
    let request = DiffRequest {
        path: "file".into(),
        side: Side::Unstaged,
        buffer: None,
    };
    let refused = block_on(fixture.service.file_diff(&fixture.root, request));
    let refused = refused.expect_err("no trust");
    assert_eq!(refused.kind, GitFailureKind::Untrusted);
    assert!(refused.sentence.contains("partial clone"), "{refused}");
    assert_eq!((fixture.calls(), missing()), (0, 2), "nothing was fetched");
    fixture.trust();
    stage_lines(&fixture, ChangedFile::Edited("file"));
    stage_file(&fixture, "file");
    assert_eq!(missing(), 1, "only the file in question was fetched");
    fixture.assert_sound();
}

#[test]
fn announced_files_are_new_and_stay_announced() {
    let Some(fixture) = changed(&[]) else {
        return;
    };
    fixture.write("announced", BEFORE);
    fixture.write("announced empty", "");
    fixture.git(&["add", "--intent-to-add", "announced", "announced empty"]);
    check(&fixture, ChangedFile::New("announced"), Door::InProcess);
}

#[test]
fn branches_without_a_commit_are_staged() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.write("file", BEFORE);
    check(&fixture, ChangedFile::New("file"), Door::InProcess);
    fixture.trust();
    let staged = fixture
        .service
        .stage_files(&fixture.root, vec!["file".into()]);
    block_on(staged).expect("staged");
    fixture.commit("first").expect("a commit");
    assert_eq!(fixture.git(&["log", "--format=%s"]), "first");
    // A branch without a commit beside one with commits.
    fixture.git(&["checkout", "--quiet", "--orphan", "empty"]);
    fixture.write("new file", BEFORE);
    check(&fixture, ChangedFile::New("new file"), Door::InProcess);
}

#[test]
fn hooks_run_on_commits_alone() {
    let Some(fixture) = changed(&[]) else {
        return;
    };
    let journal = fixture.folder.join("hooks");
    let names = [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-index-change",
    ];
    for name in names {
        fixture.hook(name, &format!("echo {name} >> '{journal}'"));
    }
    let (service, root) = (&fixture.service, &fixture.root);
    let before = fixture.entries();
    let read = |path: &AbsPath| RealFiles.read(path, 1 << 16).ok();
    for trusts in [false, true] {
        if trusts {
            fixture.trust();
        }
        fixture.changes();
        let diff = fixture.diff("file", Side::Unstaged);
        let all = LineSelection::of_all(&diff);
        let step = block_on(service.stage_lines(root, diff, all)).expect("staged");
        block_on(service.undo_staging(root, step)).expect("taken back");
        let step = block_on(service.stage_files(root, vec!["new file".into()]));
        block_on(service.undo_staging(root, step.expect("staged"))).expect("taken back");
    }
    assert_eq!(fixture.entries(), before);
    assert_eq!(read(&journal), None, "a hook ran");
    fixture.commit("second").expect("a commit");
    let journal = read(&journal).expect("the hooks ran");
    let journal = String::from_utf8_lossy(&journal).into_owned();
    for name in ["pre-commit", "commit-msg", "post-commit"] {
        assert!(journal.contains(name), "{journal}");
    }
}
