//! Comparisons of any two versions, in process and through git.

use futures::executor::block_on;
use git::diff::{TreeComparison, TreeSide};
use git::merge::TreePath;
use git_panel::{CompareRequest, GitService as _};

use super::Fixture;

fn revision(text: &str) -> TreeSide {
    TreeSide::Revision(text.to_owned())
}

/// Returns the changed files between two sides, each with its texts.
fn compared(fixture: &Fixture, before: TreeSide, after: TreeSide) -> Vec<[String; 3]> {
    let (service, root) = (&fixture.service, &fixture.root);
    let sides = TreeComparison { before, after };
    let files = block_on(service.compared_files(root, sides.clone())).expect("a list");
    let texts = files.into_iter().map(|file| {
        let request = CompareRequest {
            sides: sides.clone(),
            path: file.path.clone(),
            old_path: file.old_path,
            buffer: None,
        };
        let diff = block_on(service.compared_diff(root, request)).expect("a diff");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        [file.path.to_string(), text(&diff.base), text(&diff.work)]
    });
    texts.collect()
}

fn files(files: &[[&str; 3]]) -> Vec<[String; 3]> {
    files.iter().map(|it| it.map(str::to_owned)).collect()
}

/// Compares commits, the index and the working tree of a trusted repository.
fn compare_everything(fixture: &Fixture) {
    fixture.trust();
    fixture.commit_files(&[("a", "1\n"), ("b", "1\n")]);
    fixture.write("a", "2\n");
    fixture.git(&["commit", "--quiet", "--all", "--message", "second"]);
    fixture.write("b", "2\n");
    fixture.git(&["add", "b"]);
    fixture.write("b", "3\n");
    let (first, head) = (revision("HEAD~"), revision("HEAD"));
    let (index, tree) = (TreeSide::Index, TreeSide::WorkingTree);
    let a = ["a", "1\n", "2\n"];
    assert_eq!(compared(fixture, first.clone(), head.clone()), files(&[a]));
    let staged = files(&[a, ["b", "1\n", "2\n"]]);
    assert_eq!(compared(fixture, first.clone(), index.clone()), staged);
    let all = files(&[a, ["b", "1\n", "3\n"]]);
    assert_eq!(compared(fixture, first, tree.clone()), all);
    let unstaged = files(&[["b", "2\n", "3\n"]]);
    assert_eq!(compared(fixture, index, tree.clone()), unstaged);
    // Unsaved text takes the place of the file.
    let request = CompareRequest {
        sides: TreeComparison {
            before: head,
            after: tree,
        },
        path: TreePath::from("b"),
        old_path: None,
        buffer: Some(b"4\n".to_vec()),
    };
    let diff = block_on(fixture.service.compared_diff(&fixture.root, request));
    assert_eq!(&*diff.expect("a diff").work, b"4\n");
}

#[test]
fn any_two_versions_are_compared_in_process() {
    if let Some(fixture) = Fixture::new(&[]) {
        compare_everything(&fixture);
    }
}

#[test]
fn any_two_versions_are_compared_through_git() {
    if let Some(fixture) = Fixture::new(&["--object-format=sha256"]) {
        compare_everything(&fixture);
    }
}

#[test]
fn branches_stashes_and_commits_can_be_chosen() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("a", "1\n")]);
    fixture.git(&["branch", "topic"]);
    fixture.write("a", "2\n");
    fixture.git(&["stash", "push", "--quiet", "--message", "later"]);
    let listed = || {
        let versions = block_on(fixture.service.versions(&fixture.root));
        let names = versions.expect("a list").into_iter();
        names.map(|version| version.name).collect::<Vec<_>>()
    };
    // Without trust, the commits are read in process.
    let names = listed();
    assert_eq!(fixture.calls(), 0);
    for wanted in ["main", "topic", "On main: later", "first"] {
        assert!(names.iter().any(|name| name == wanted), "{names:?}");
    }
    fixture.trust();
    assert_eq!(listed(), names);
}
