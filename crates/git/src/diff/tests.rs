//! Tests of comparisons between commits, the index and the working tree.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use std::fs;

use super::{SideContent, TreeComparison, TreeSide};
use crate::merge::TreePath;
use crate::merge::tests::Fixture;
use crate::staging::StagingError;

fn check(fixture: &Fixture, before: &TreeSide, after: &TreeSide, expected: &[&str]) {
    let paths = fixture.repository().changed_paths(before, after);
    let shown = paths.expect("readable").into_iter().map(|changed| {
        let old = changed.old_path.map(|path| format!(" from {path}"));
        let old = old.unwrap_or_default();
        format!("{:?} {}{old}", changed.kind, changed.path)
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{before:?} {after:?}");
}

fn revision(text: &str) -> TreeSide {
    TreeSide::Revision(text.to_owned())
}

#[test]
fn any_two_sides_are_compared_in_both_directions() {
    let fixture = Fixture::new();
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    fixture.write("moved", &text);
    fixture.write("edited", "1\n");
    fixture.commit();
    fixture.git(&["mv", "moved", "target"]);
    fixture.commit();
    fixture.write("edited", "2\n");
    fixture.git(&["add", "edited"]);
    fixture.write("new", "1\n");
    let (first, head) = (revision("HEAD~"), revision("HEAD"));
    let (index, tree) = (TreeSide::Index, TreeSide::WorkingTree);
    check(&fixture, &first, &head, &["Renamed target from moved"]);
    check(&fixture, &head, &first, &["Renamed moved from target"]);
    check(&fixture, &head, &head, &[]);
    check(&fixture, &head, &index, &["Modified edited"]);
    check(&fixture, &index, &head, &["Modified edited"]);
    check(&fixture, &index, &tree, &["Added new"]);
    check(&fixture, &tree, &index, &["Deleted new"]);
    check(&fixture, &head, &tree, &["Modified edited", "Added new"]);
    let empty = TreeSide::Empty;
    check(&fixture, &empty, &first, &["Added edited", "Added moved"]);
    let unknown = fixture
        .repository()
        .changed_paths(&revision("nowhere"), &tree);
    assert!(unknown.is_err());
}

#[test]
fn contents_are_those_that_git_stores() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "* text=auto\n");
    fixture.write("file", "one\n");
    fixture.commit();
    fixture.write("file", "two\r\n");
    let repository = fixture.repository();
    let content = |side: &TreeSide, path: &str| {
        let path = TreePath::from(path);
        repository.content_of(side, &path).expect("readable")
    };
    let bytes = |text: &str| SideContent::Bytes(text.as_bytes().to_vec());
    assert_eq!(content(&revision("HEAD"), "file"), bytes("one\n"));
    assert_eq!(content(&TreeSide::Index, "file"), bytes("one\n"));
    assert_eq!(content(&TreeSide::WorkingTree, "file"), bytes("two\n"));
    assert_eq!(content(&TreeSide::Empty, "file"), SideContent::Absent);
    fs::remove_file(fixture.root.join("file").as_path()).expect("removed");
    assert_eq!(content(&TreeSide::WorkingTree, "file"), SideContent::Absent);
    assert_eq!(
        content(&TreeSide::WorkingTree, "../file"),
        SideContent::Absent
    );
}

#[test]
fn a_file_is_compared_between_two_sides_as_git_stores_it() {
    let fixture = Fixture::new();
    let lines: String = (0..20).map(|line| format!("line {line}\n")).collect();
    fixture.write(".gitattributes", "* text=auto\n");
    fixture.write("old", &lines);
    fixture.commit();
    fixture.git(&["mv", "old", "new"]);
    fixture.commit();
    let edited = lines.replace("line 3\n", "line three\n");
    fixture.write("new", &edited.replace('\n', "\r\n"));
    let repository = fixture.repository();
    let sides = |before: TreeSide, after: TreeSide| TreeComparison { before, after };
    let (path, old) = (TreePath::from("new"), TreePath::from("old"));
    let live = sides(revision("HEAD~"), TreeSide::WorkingTree);
    assert!(live.is_live());
    let diff = repository.compared_diff(&live, (&path, Some(&old)), None);
    let diff = diff.expect("a diff");
    assert_eq!(&*diff.base, lines.as_bytes());
    assert_eq!(&*diff.work, edited.as_bytes());
    assert_eq!(diff.hunks.len(), 1);
    assert_eq!(diff.old_path, Some(old.clone()));
    // Unsaved text takes the place of the file.
    let diff = repository.compared_diff(&live, (&path, Some(&old)), Some(lines.as_bytes()));
    assert!(diff.expect("a diff").hunks.is_empty());
    let commits = sides(revision("HEAD~"), revision("HEAD"));
    assert!(!commits.is_live());
    let added = repository.compared_diff(&commits, (&path, None), None);
    assert_eq!(added.expect("a diff").base_entry, None);
    let absent = repository.compared_diff(&commits, (&TreePath::from("gone"), None), None);
    assert!(matches!(absent, Err(StagingError::Absent(_))));
}
