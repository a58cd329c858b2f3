//! The changes of Git in a window: the panel beside the text, the status bar, diffs with hunks, and the commands.

use std::sync::Arc;

use base::AbsPath;
use git_panel::actions::{
    CheckOutPullRequest, CreateBranch, DiscardHunk, NextChange, RebaseCommits, ShowChanges,
    StageFile, StageHunk, StartBisect, UnstageHunk,
};
use git_panel::{FakeGit, GitCommand, GitService, GitTick};
use git_program::{PullRequest, RebaseAction, RebaseRequest};
use gpui_kit::TestAppContext;
use gpui_kit::test::TestQueryExt as _;
use host::FakeFiles;

use super::{Story, path, project, services, start_with};
use crate::actions::view;
use crate::windows::OpenRequest;

pub(super) const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
pub(super) const NEW: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n";

/// Opens the project with a repository in which a text of ten lines has two changes.
pub(super) fn open(cx: &mut TestAppContext) -> (FakeGit, AbsPath, Story) {
    let files: FakeFiles = project();
    files.write(&path("/p/ten.txt"), NEW);
    let git = FakeGit::default();
    let root = git.add_repository("/p");
    git.set_contents(&root, "ten.txt", [Some(OLD), Some(OLD), Some(NEW)]);
    let service: Arc<dyn GitService> = Arc::new(git.clone());
    let services = crate::Services {
        git: Some(Arc::new(move |_: &AbsPath| service.clone())),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (git, root, story)
}

pub(super) fn labels(story: &mut Story) -> Vec<String> {
    let elements = story.cx.update(|window, _| window.elements());
    let labels = elements.iter().filter_map(|it| it.label());
    labels.map(str::to_owned).collect()
}

#[track_caller]
pub(super) fn expect_label(story: &mut Story, words: &str) {
    let labels = labels(story);
    assert!(
        labels.iter().any(|label| label.contains(words)),
        "{words} is not among {labels:?}"
    );
}

#[gpui_kit::test]
fn panel_and_tree_take_turns(cx: &mut TestAppContext) {
    let (_, _, mut story) = open(cx);
    expect_label(&mut story, "Project files");
    expect_label(&mut story, "main \u{b7} 1 change");
    story.keys("ctrl-shift-g").settle();
    assert!(labels(&mut story).contains(&"Git changes".to_owned()));
    expect_label(&mut story, "ten.txt, modified");
    let shown = labels(&mut story);
    assert!(shown.iter().all(|label| label != "Project files"));
    story.act(view::FocusProjectTree);
    expect_label(&mut story, "Project files");
    super::a11y::names(&mut story, "the tree again");
}

#[gpui_kit::test]
fn every_control_of_the_changes_has_a_name(cx: &mut TestAppContext) {
    let (_, _, mut story) = open(cx);
    story.act(ShowChanges);
    let names = super::a11y::names(&mut story, "the changes");
    for wanted in ["Commit", "Push", "Message of the commit", "Staged: ten.txt"] {
        assert!(names.iter().any(|name| name.contains(wanted)), "{wanted}");
    }
}

#[gpui_kit::test]
fn hunks_are_staged_one_by_one(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    story.act(ShowChanges).keys("down down enter").settle();
    assert_eq!(story.tabs(), "[Changes]");
    story.act(StageHunk);
    let staged = OLD.replace("one\n", "ONE\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(staged.clone()));
    // The rest of the file is one hunk, which the caret reaches.
    story.act(NextChange).act(StageHunk);
    assert_eq!(git.indexed(&root, "ten.txt").as_deref(), Some(NEW));
}

#[gpui_kit::test]
fn a_hunk_is_discarded_in_its_file(cx: &mut TestAppContext) {
    let (_, _, mut story) = open(cx);
    story.act(ShowChanges).keys("down down enter").settle();
    story.act(NextChange).act(DiscardHunk);
    // The double of Git replaces the whole text by the one without the hunk.
    assert_eq!(story.on_disk("/p/ten.txt"), NEW.replace("TEN", "ten"));
}

#[gpui_kit::test]
fn a_staged_hunk_is_unstaged_from_its_diff(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    story.act(ShowChanges).keys("down down space").settle();
    assert_eq!(git.indexed(&root, "ten.txt").as_deref(), Some(NEW));
    story.keys("home down enter").settle();
    assert_eq!(story.tabs(), "[Staged changes]");
    story.act(UnstageHunk);
    let kept = NEW.replace("ONE\n", "one\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(kept));
    assert_eq!(story.tabs(), "[Staged changes]", "the diff stays open");
}

#[gpui_kit::test]
fn a_file_is_staged_from_its_text(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    story.open_file("ten.txt").act(StageFile);
    assert_eq!(git.indexed(&root, "ten.txt").as_deref(), Some(NEW));
}

#[gpui_kit::test]
fn discarding_a_file_saves_its_text_and_is_undone(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    story.act(ShowChanges).keys("down down delete").settle();
    assert_eq!(story.on_disk("/p/ten.txt"), OLD);
    git.set_contents(&root, "ten.txt", [Some(OLD); 3]);
    git.send_tick(&GitTick::Repository(root));
    story.settle();
    let shown = labels(&mut story);
    assert!(
        shown
            .iter()
            .all(|label| !label.contains("ten.txt, modified"))
    );
    story.keys("ctrl-z").settle();
    assert_eq!(story.on_disk("/p/ten.txt"), NEW);
}

#[gpui_kit::test]
fn changes_by_other_programs_are_shown(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    git.set_contents(&root, "more.txt", [None, None, Some("more\n")]);
    story.files.write(&path("/p/more.txt"), "more\n");
    story.settle();
    expect_label(&mut story, "main \u{b7} 2 changes");
}

#[gpui_kit::test]
fn a_branch_is_created_by_its_name(cx: &mut TestAppContext) {
    let (git, _, mut story) = open(cx);
    story
        .act(CreateBranch)
        .input("new topic")
        .keys("enter")
        .settle();
    let commands = git.take_git_commands();
    let [GitCommand::Switch(request)] = &commands[..] else {
        panic!("{commands:?}");
    };
    assert_eq!(
        request.kind,
        git_program::SwitchKind::NewBranch("new-topic".to_owned())
    );
}

/// Replaces the text of ten lines, as another program does.
pub(super) fn rewrite(git: &FakeGit, root: &AbsPath, story: &mut Story, work: &str) {
    git.set_contents(root, "ten.txt", [Some(OLD), Some(OLD), Some(work)]);
    story.files.write(&path("/p/ten.txt"), work);
    git.send_tick(&GitTick::Repository(root.clone()));
    story.settle();
}

#[gpui_kit::test]
fn changes_of_white_space_alone_are_left_out_on_request(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    let work = NEW.replace("ONE\n", "  one\n");
    rewrite(&git, &root, &mut story, &work);
    story.act(ShowChanges).keys("down down enter").settle();
    expect_label(&mut story, "Change of ten.txt, line 1:");
    story.keys("alt-w").settle();
    expect_label(&mut story, "Change of ten.txt, line 10:");
    let is_first = |label: &String| label.contains("line 1:");
    assert!(!labels(&mut story).iter().any(is_first));
    story.keys("f7 alt-shift-s").settle();
    let staged = OLD.replace("ten\n", "TEN\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(staged));
    // Nothing else differs; the switch shows the rest again.
    story.keys("alt-w").settle();
    expect_label(&mut story, "Change of ten.txt, line 1:");
}

#[gpui_kit::test]
fn selected_lines_are_staged_and_unstaged(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    let work = NEW.replace("two\n", "TWO\n");
    rewrite(&git, &root, &mut story, &work);
    story.act(ShowChanges).keys("down down enter").settle();
    story.keys("alt-s").settle();
    let first = OLD.replace("one\n", "ONE\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(first.clone()));
    story.keys("down shift-down alt-s").settle();
    let both = first.replace("two\n", "TWO\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(both));
    story.act(ShowChanges).keys("home down enter").settle();
    story.keys("alt-u").settle();
    let second = OLD.replace("two\n", "TWO\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(second));
}

#[gpui_kit::test]
fn a_selected_line_is_discarded_and_others_stay(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    let work = NEW.replace("two\n", "TWO\n");
    rewrite(&git, &root, &mut story, &work);
    story.act(ShowChanges).keys("down down enter").settle();
    story.keys("down alt-x").settle();
    assert_eq!(story.on_disk("/p/ten.txt"), NEW);
}

#[gpui_kit::test]
fn a_line_without_a_change_is_refused_with_a_sentence(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    story.act(ShowChanges).keys("down down enter").settle();
    story.keys("down alt-s").settle();
    assert_eq!(git.indexed(&root, "ten.txt").as_deref(), Some(OLD));
    let report = story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("No changed line is selected."));
}

/// Returns the rebase that was started.
#[track_caller]
fn rebased(git: &FakeGit) -> RebaseRequest {
    match &git.take_git_commands()[..] {
        [GitCommand::Rebase(request)] => request.clone(),
        other => panic!("{other:?}"),
    }
}

#[gpui_kit::test]
fn the_commits_of_a_rebase_are_edited_in_a_list(cx: &mut TestAppContext) {
    let (git, _, mut story) = open(cx);
    git.set_branch_commits(&["two", "one"], Some(2));
    story.act(RebaseCommits);
    let names = super::a11y::names(&mut story, "the list of a rebase");
    let title = "Rebase 2 commits onto the upstream branch";
    assert!(names.iter().any(|name| name == title), "{names:?}");
    story.keys("down f ctrl-enter").settle();
    assert!(!story.is_asking());
    let steps = rebased(&git).steps.expect("an edited list");
    let actions: Vec<RebaseAction> = steps.into_iter().map(|step| step.action).collect();
    assert_eq!(actions, [RebaseAction::Pick, RebaseAction::Fixup]);
    // Escape closes the list without a rebase.
    story.act(RebaseCommits).keys("d escape").settle();
    assert!(!story.is_asking());
    assert!(git.take_git_commands().is_empty());
}

#[gpui_kit::test]
fn a_branch_without_upstream_asks_for_the_first_commit(cx: &mut TestAppContext) {
    let (git, _, mut story) = open(cx);
    git.set_branch_commits(&["three", "two", "one"], None);
    story.act(RebaseCommits);
    expect_label(&mut story, "First commit to rebase");
    story.input("two").keys("enter").settle();
    story.keys("ctrl-enter").settle();
    let request = rebased(&git);
    assert_eq!(request.upstream, format!("{}^", "2".repeat(40)));
    assert_eq!(request.steps.map(|steps| steps.len()), Some(2));
}

#[gpui_kit::test]
fn a_bisection_asks_for_a_bad_and_a_good_commit(cx: &mut TestAppContext) {
    let (git, _, mut story) = open(cx);
    git.set_branch_commits(&["three", "two", "one"], None);
    story.act(StartBisect);
    expect_label(&mut story, "A commit with the error");
    story.keys("enter").settle();
    expect_label(&mut story, "An older commit without the error");
    // A name that no subject has is taken as a revision.
    story.input("v1.0").keys("enter").settle();
    let start = GitCommand::BisectStart {
        bad: "3".repeat(40),
        good: "v1.0".to_owned(),
    };
    assert_eq!(git.take_git_commands(), [start]);
}

#[gpui_kit::test]
fn a_pull_request_is_chosen_and_checked_out(cx: &mut TestAppContext) {
    let (git, _, mut story) = open(cx);
    let request = |number: u64, title: &str| PullRequest {
        number,
        title: title.to_owned(),
        author: "ann".to_owned(),
        branch: "fix".to_owned(),
        base: "main".to_owned(),
        address: String::new(),
        is_draft: true,
    };
    git.set_pull_requests(vec![request(7, "Fix it"), request(9, "Add that")]);
    story.act(CheckOutPullRequest);
    expect_label(&mut story, "#7 Fix it");
    story.input("add").keys("enter").settle();
    let commands = git.take_git_commands();
    assert_eq!(commands, [GitCommand::CheckOutPullRequest(9)]);
}
