//! Conflicts of merges, resolved by the keyboard: by markers alone, and by a real index of Git, whose
//! files the window has in memory.
#![expect(
    clippy::disallowed_methods,
    reason = "a story merges branches with the real git"
)]

use std::process::Command;

use base::AbsPath;
use git::Repository;
use gpui_kit::TestAppContext;
use host::{FakeFiles, Files as _, RealFiles, TempFolder};

use super::{Story, open_with, path, project, services, start_with};
use crate::actions::conflicts::{
    AcceptAllOurs, AcceptBoth, AcceptOurs, AcceptTheirs, MarkResolved, OpenMergeEditor,
    UndoMarkResolved,
};
use crate::windows::OpenRequest;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

fn block(ours: &str, theirs: &str) -> String {
    format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> topic\n")
}

/// A text with two conflicts between plain lines.
fn conflicted() -> String {
    format!("a\n{}b\n{}c\n", block("1", "2"), block("3", "4"))
}

/// A window with `/p/merge.txt` open.
fn open(cx: &mut TestAppContext) -> Story {
    let files = project();
    files.write(&path("/p/merge.txt"), conflicted());
    let mut story = open_with(files, cx);
    story.open_file("merge.txt");
    story
}

#[gpui_kit::test]
fn conflicts_found_by_markers_are_resolved_one_by_one(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(AcceptTheirs);
    assert_eq!(story.text(), conflicted(), "no conflict is shown yet");
    story.keys("f7");
    story.settle();
    assert_eq!(story.tabs(), "[merge.txt]", "showing changes no text");
    story.act(AcceptTheirs);
    assert_eq!(story.text(), format!("a\n2\nb\n{}c\n", block("3", "4")));
    // The caret is at the next conflict.
    story.act(AcceptBoth);
    assert_eq!(story.text(), "a\n2\nb\n3\n4\nc\n");
    story.keys("ctrl-z");
    story.act(MarkResolved);
    assert!(
        story.reports()[0].contains("conflict markers"),
        "undo opened the conflict again: {:?}",
        story.reports()
    );
    story.act(AcceptAllOurs);
    assert_eq!(story.text(), "a\n2\nb\n3\nc\n");
    story.act(MarkResolved);
    let told = "Git has no conflict of this file, so nothing needs to be staged.";
    assert_eq!(story.reports()[0], told);
    assert_eq!(story.on_disk("/p/merge.txt"), conflicted());
}

#[gpui_kit::test]
fn steps_wrap_around_and_pass_resolved_conflicts(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.keys("f7");
    story.settle();
    story.keys("f7").keys("f7");
    // From the second conflict to the first.
    story.act(AcceptOurs);
    assert_eq!(story.text(), format!("a\n1\nb\n{}c\n", block("3", "4")));
    story.keys("shift-f7").act(AcceptTheirs);
    assert_eq!(story.text(), "a\n1\nb\n4\nc\n");
    story.keys("f7");
    assert_eq!(
        story.reports()[0],
        "All conflicts of this text are resolved."
    );
}

/// Runs git in a folder; returns whether it could be started.
fn git(folder: &AbsPath, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.current_dir(folder.as_path());
    for setting in [
        "user.name=a",
        "user.email=a@example.org",
        "commit.gpgsign=false",
        "merge.conflictStyle=merge",
    ] {
        command.args(["-c", setting]);
    }
    command.args(arguments).output().is_ok()
}

/// Creates a repository in which a merge of `topic` into `main` conflicts in `merge.txt`.
fn merge_in(folder: &AbsPath) {
    let commit = |line: &str| {
        let text = format!("{line}\n");
        RealFiles
            .write_private(&folder.join("merge.txt"), text.as_bytes())
            .expect("a file");
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", line]);
    };
    git(folder, &["init", "-q"]);
    git(folder, &["checkout", "-q", "-b", "main"]);
    commit("base");
    git(folder, &["checkout", "-q", "-b", "topic"]);
    commit("theirs");
    git(folder, &["checkout", "-q", "main"]);
    commit("ours");
    git(folder, &["merge", "-q", "topic"]);
}

fn unmerged(folder: &AbsPath) -> usize {
    let repository = Repository::discover(folder).expect("a repository");
    repository.conflicts().expect("an index").len()
}

/// Returns the number of open texts that can be edited.
fn editable(story: &mut Story) -> usize {
    story.read(|workbench, cx| {
        let items = workbench.layout().items();
        let documents = items.iter();
        let documents = documents.filter_map(|item| workbench.item(*item)?.document(cx));
        let is_editable = documents.filter(|it| it.read(cx).document().can_edit());
        is_editable.count()
    })
}

#[gpui_kit::test]
fn resolved_file_is_staged_and_unstaged_by_undo(cx: &mut TestAppContext) {
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path();
    if !git(root, &["--version"]) {
        return test_support::skip("git is not installed");
    }
    merge_in(root);
    assert_eq!(unmerged(root), 1);
    let file = root.join("merge.txt");
    let bytes = RealFiles.read(&file, MAX_BYTES).expect("a file");
    let files = FakeFiles::new();
    files.write(&file, &bytes);
    let request = OpenRequest {
        folders: vec![root.clone()],
        files: Vec::new(),
    };
    let mut stories = start_with(services(&files), &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    story.open_file("merge.txt");
    assert_eq!(story.tabs(), "[merge.txt]");
    story.act(OpenMergeEditor);
    assert_eq!(
        story.tabs(),
        "[ours.merge.txt] | [merge.txt] | [theirs.merge.txt]"
    );
    assert_eq!(editable(&mut story), 1, "the sides are read-only");
    story.act(AcceptOurs);
    assert_eq!(story.text(), "ours\n", "the index told of the conflict");
    story.keys("ctrl-s");
    story.settle();
    assert_eq!(unmerged(root), 1, "saving resolves nothing");
    let saved = files.content(&file).expect("a file");
    RealFiles.write_private(&file, &saved).expect("a file");
    story.act(MarkResolved);
    assert_eq!(unmerged(root), 0, "{:?}", story.reports());
    assert_eq!(story.reports()[0], "merge.txt is resolved and staged.");
    story.act(UndoMarkResolved);
    assert_eq!(unmerged(root), 1, "{:?}", story.reports());
}
