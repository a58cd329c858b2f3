//! Tests of staging by example; the random ones compare with git.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

mod random;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use base::Row;

use super::{LineSelection, Side, StagingError, WholeReason};
use crate::GitFeature;
use crate::changes::ChangeNote;
use crate::merge::TreePath;
use crate::merge::tests::Fixture;

fn path() -> TreePath {
    TreePath::from("file")
}

/// Returns a repository whose commit has `base` and whose working tree has `work` in `file`.
fn changed(base: &str, work: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture.git(&["config", "core.autocrlf", "false"]);
    fixture.write("file", base);
    fixture.commit();
    fixture.write("file", work);
    fixture
}

fn staged(fixture: &Fixture) -> String {
    fixture.git(&["show", ":file"])
}

/// Stages the rows of the base and of the work text, and compares the index.
fn check(base: &str, work: &str, removed: &[u32], added: &[u32], expected: &str) {
    let fixture = changed(base, work);
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    let mut selection = LineSelection::default();
    removed
        .iter()
        .for_each(|row| selection.add_removed(Row(*row)));
    added.iter().for_each(|row| selection.add_added(Row(*row)));
    let undo = repository.stage_lines(&diff, &selection).expect("staged");
    assert_eq!(staged(&fixture), expected, "{base:?} {work:?}");
    repository.undo_staging(&undo).expect("undone");
    assert_eq!(staged(&fixture), base, "undone");
}

#[test]
fn chosen_lines_are_staged() {
    check("a\nb\nc\n", "a\nB\nc\n", &[1], &[1], "a\nB\nc\n");
    check("a\nb\nc\n", "a\nB\nc\n", &[1], &[], "a\nc\n");
    check("a\nb\nc\n", "a\nB\nc\n", &[], &[1], "a\nb\nB\nc\n");
    check("a\nb\n", "x\ny\na\nb\n", &[], &[1], "y\na\nb\n");
}

#[test]
fn one_of_several_rewritten_lines_keeps_its_place() {
    check("1\n2\n3\n", "a\nb\nc\n", &[1], &[1], "1\nb\n3\n");
}

#[test]
fn missing_last_line_feed_is_staged_both_ways() {
    check("a\nb", "a\nb\n", &[1], &[1], "a\nb\n");
    check("a\nb\n", "a\nb", &[1], &[1], "a\nb");
    // The kept last line needs a line feed before another one.
    check("a", "a\nb\n", &[], &[1], "a\nb\n");
    check("a\n", "", &[0], &[], "");
}

#[test]
fn line_endings_of_other_lines_stay() {
    check(
        "a\r\nb\nc\r\n",
        "a\r\nb\nX\r\n",
        &[2],
        &[2],
        "a\r\nb\nX\r\n",
    );
    let mark = "\u{feff}a\nb\n";
    check(mark, "\u{feff}a\nB\n", &[1], &[1], "\u{feff}a\nB\n");
}

#[test]
fn converted_line_endings_are_staged_as_git_stores_them() {
    let fixture = changed("a\nb\n", "a\r\nB\r\n");
    fixture.write(".gitattributes", "* text=auto eol=crlf\n");
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    assert!(diff.has_crlf_in_worktree);
    assert_eq!(diff.hunks.len(), 1);
    let all = LineSelection::of_all(&diff);
    let edits = diff.discard_edits(&all).expect("edits");
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0].text, b"b\r\n");
    assert_eq!((edits[0].rows.start, edits[0].rows.end), (Row(1), Row(2)));
    repository.stage_lines(&diff, &all).expect("staged");
    assert_eq!(staged(&fixture), "a\nB\n");
    assert_eq!(fixture.git(&["diff", "--name-only"]), "");
}

#[test]
fn buffer_is_compared_instead_of_the_file() {
    let fixture = changed("a\n", "on disk\n");
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, Some(b"a\nb\n"));
    let diff = diff.expect("a diff");
    let undo = repository.stage_lines(&diff, &LineSelection::of_all(&diff));
    undo.expect("staged");
    assert_eq!(staged(&fixture), "a\nb\n");
}

#[test]
fn diff_of_another_index_is_refused() {
    let fixture = changed("a\nb\n", "A\nB\n");
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    fixture.git(&["add", "file"]);
    fixture.write("file", "again\n");
    let all = LineSelection::of_all(&diff);
    let error = repository.stage_lines(&diff, &all).expect_err("outdated");
    assert!(matches!(error, StagingError::Outdated(_)), "{error}");
    assert_eq!(staged(&fixture), "A\nB\n");
    let error = repository.unstage_lines(&diff, &all).expect_err("a side");
    assert!(matches!(error, StagingError::Outdated(_)), "{error}");
}

#[test]
fn other_files_of_the_index_may_change_meanwhile() {
    let fixture = changed("a\n", "A\n");
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    fixture.write("other", "1\n");
    fixture.git(&["add", "other"]);
    let staging = repository.stage_lines(&diff, &LineSelection::of_all(&diff));
    staging.expect("staged");
    assert_eq!(fixture.git(&["show", ":other"]), "1\n");
    assert_eq!(staged(&fixture), "A\n");
}

#[test]
fn new_and_deleted_files_are_staged_in_parts() {
    let fixture = Fixture::new();
    fixture.write("other", "1\n");
    fixture.commit();
    for announces in [false, true] {
        fixture.write("file", "a\nb\n");
        if announces {
            fixture.git(&["add", "-N", "file"]);
        }
        let repository = fixture.repository();
        let diff = repository.file_diff(&path(), Side::Unstaged, None);
        let diff = diff.expect("a diff");
        assert_eq!(diff.base_entry, None);
        let mut selection = LineSelection::default();
        selection.add_added(Row(1));
        repository.stage_lines(&diff, &selection).expect("staged");
        assert_eq!(staged(&fixture), "b\n");

        fs::remove_file(fixture.root.join("file").as_path()).expect("removed");
        let diff = repository.file_diff(&path(), Side::Unstaged, None);
        let diff = diff.expect("a diff");
        assert_eq!(diff.work_entry, None);
        let all = LineSelection::of_all(&diff);
        let undo = repository.stage_lines(&diff, &all).expect("staged");
        assert_eq!(fixture.git(&["ls-files", "file"]), "");
        repository.undo_staging(&undo).expect("undone");
        assert_eq!(staged(&fixture), "b\n");
        let undo = repository.unstage_files(&[path()]).expect("unstaged");
        assert_eq!(undo.paths().count(), 1);
        assert_eq!(fixture.git(&["ls-files", "file"]), "");
    }
}

#[test]
fn renamed_file_is_compared_with_its_old_path() {
    let fixture = Fixture::new();
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    fixture.write("old", &text);
    fixture.commit();
    fixture.git(&["mv", "old", "file"]);
    fixture.write("file", &text.replace("line 7\n", "line seven\n"));
    fixture.git(&["add", "file"]);
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Staged, None);
    let diff = diff.expect("a diff");
    assert_eq!(diff.old_path, Some(TreePath::from("old")));
    assert_eq!(diff.hunks.len(), 1);
    let all = LineSelection::of_all(&diff);
    repository.unstage_lines(&diff, &all).expect("unstaged");
    assert_eq!(staged(&fixture), text);
}

#[test]
fn mode_stays_with_lines_and_is_staged_alone() {
    let fixture = changed("a\nb\n", "A\nb\n");
    let place = fixture.root.join("file");
    fs::set_permissions(place.as_path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    let mode = ChangeNote::Mode {
        old: 0o100_644,
        new: 0o100_755,
    };
    assert_eq!(diff.note, Some(mode));
    let all = LineSelection::of_all(&diff);
    repository.stage_lines(&diff, &all).expect("staged");
    let entry = || fixture.git(&["ls-files", "-s", "file"]);
    assert!(entry().starts_with("100644"), "{}", entry());
    repository.stage_files(&[path()]).expect("staged");
    assert!(entry().starts_with("100755"), "{}", entry());
    assert_eq!(fixture.git(&["status", "--porcelain"]), "M  file\n");
}

#[test]
fn flags_of_an_entry_stay() {
    let fixture = changed("a\nb\n", "A\nb\n");
    let repository = fixture.repository();
    fixture.git(&["update-index", "--skip-worktree", "file"]);
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    let all = LineSelection::of_all(&diff);
    repository.stage_lines(&diff, &all).expect("staged");
    assert_eq!(fixture.git(&["ls-files", "-t", "file"]), "S file\n");
}

/// Checks that lines of the change are refused for this reason and that the whole file is staged.
fn check_whole(fixture: &Fixture, reason: WholeReason) {
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    let diff = diff.expect("a diff");
    assert_eq!(diff.whole, Some(reason));
    let mut selection = LineSelection::of_all(&diff);
    selection.add_added(Row(0));
    let error = repository.stage_lines(&diff, &selection);
    let error = error.expect_err("refused").to_string();
    assert!(error.contains(&reason.to_string()), "{error}");
    repository.stage_files(&[path()]).expect("staged");
    let status = fixture.git(&["status", "--porcelain", "file"]);
    assert_eq!(&status[1..2], " ", "{status}");
}

#[test]
fn changes_without_lines_are_staged_as_a_whole() {
    check_whole(&changed("a\0b", "a\0c"), WholeReason::Binary);

    let link = changed("a\n", "a\n");
    fs::remove_file(link.root.join("file").as_path()).expect("removed");
    symlink("target", link.root.join("file").as_path()).expect("a link");
    check_whole(&link, WholeReason::Symlink);

    let outer = Fixture::new();
    let inner = outer.root.join("file");
    outer.git(&["init", "-q", "file"]);
    let commit = || {
        let arguments = ["commit", "-q", "--allow-empty", "-m", "one"];
        crate::merge::tests::git(inner.as_path(), &arguments);
    };
    commit();
    outer.git(&["add", "file"]);
    outer.git(&["commit", "-q", "-m", "outer"]);
    commit();
    check_whole(&outer, WholeReason::Submodule);
}

#[test]
fn conflicts_are_refused() {
    let fixture = changed("a\n", "ours\n");
    fixture.commit();
    fixture.git(&["checkout", "-q", "-b", "other", "HEAD~"]);
    fixture.write("file", "theirs\n");
    fixture.commit();
    let merge = std::process::Command::new("git")
        .current_dir(fixture.folder.path())
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "merge", "main"])
        .output();
    assert!(!merge.expect("git").status.success(), "a conflict");
    let repository = fixture.repository();
    let diff = repository.file_diff(&path(), Side::Unstaged, None);
    assert!(matches!(diff, Err(StagingError::Conflicted(_))));
    for error in [
        repository.stage_files(&[path()]),
        repository.unstage_files(&[path()]),
    ] {
        let error = error.expect_err("refused");
        assert!(matches!(error, StagingError::Conflicted(_)), "{error}");
    }
}

#[test]
fn filter_programs_are_left_to_git() {
    let fixture = changed("a\n", "b\n");
    fixture.write(".gitattributes", "file filter=own\n");
    fixture.git(&["config", "filter.own.clean", "false"]);
    let repository = fixture.repository();
    let errors = [
        repository
            .file_diff(&path(), Side::Unstaged, None)
            .map(drop),
        repository.stage_files(&[path()]).map(drop),
    ];
    for error in errors {
        let error = error.expect_err("refused");
        let expected = GitFeature::FilterProgram("own".to_owned());
        let is_expected = matches!(
            &error,
            StagingError::NeedsProgram { feature, .. } if *feature == expected
        );
        assert!(is_expected, "{error}");
    }
    let staged = repository.file_diff(&path(), Side::Staged, None);
    assert_eq!(staged.expect("no filter is needed").hunks, []);
}

#[test]
fn several_files_are_staged_together_or_not_at_all() {
    let fixture = changed("a\n", "A\n");
    fixture.write("new/deep", "1\n");
    let repository = fixture.repository();
    let new = TreePath::from("new/deep");
    let missing = TreePath::from("missing");
    let refused = repository.stage_files(&[path(), missing]);
    assert!(matches!(refused, Err(StagingError::Absent(_))));
    assert_eq!(staged(&fixture), "a\n");
    let undo = repository.stage_files(&[path(), new.clone()]);
    let undo = undo.expect("staged");
    assert_eq!(
        fixture.git(&["status", "--porcelain"]),
        "M  file\nA  new/deep\n"
    );
    repository.undo_staging(&undo).expect("undone");
    assert_eq!(
        fixture.git(&["status", "--porcelain", "-uall"]),
        " M file\n?? new/deep\n"
    );
    let error = repository.undo_staging(&undo).expect_err("undone already");
    assert!(matches!(error, StagingError::Outdated(_)), "{error}");
}

#[test]
fn first_commit_is_staged_in_an_empty_repository() {
    let fixture = Fixture::new();
    fixture.write("file", "a\n");
    let repository = fixture.repository();
    repository.stage_files(&[path()]).expect("staged");
    assert_eq!(staged(&fixture), "a\n");
    let diff = repository.file_diff(&path(), Side::Staged, None);
    let diff = diff.expect("a diff");
    assert_eq!(diff.base_entry, None);
    let all = LineSelection::of_all(&diff);
    repository.unstage_lines(&diff, &all).expect("unstaged");
    assert_eq!(fixture.git(&["ls-files"]), "");
}
