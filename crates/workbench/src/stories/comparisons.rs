//! Comparisons in a tab: versions of a repository, files and the clipboard, side by side, and lines that moved.

use base::AbsPath;
use editor::MoveFileStart;
use git_panel::FakeGit;
use git_panel::actions::{
    CompareIndex, CompareVersions, CompareWorkingTree, GoToMovedLines, NextChange, ShowChanges,
    StageHunk, ToggleSideBySideDiffs,
};
use gpui_kit::{ClipboardItem, TestAppContext, px, size};

use super::git_changes::{NEW, OLD, expect_label, labels, open, rewrite};
use super::{Story, path};
use crate::actions::file::{CompareWithClipboard, CompareWithFile};

/// Returns whether a control has a label with these words.
fn has_label(story: &mut Story, words: &str) -> bool {
    labels(story).iter().any(|label| label.contains(words))
}

fn caret_row(story: &mut Story) -> u32 {
    let editor = story.read(|workbench, _| {
        let editor = workbench.active_item().and_then(|item| item.editor());
        editor.cloned().expect("an editor")
    });
    story
        .cx
        .update(|_, cx| editor.update(cx, |editor, cx| editor.caret_point(cx).row.0))
}

/// Opens the diff of the changed file.
fn open_diff(story: &mut Story) {
    story.act(ShowChanges).keys("down down enter").settle();
    assert_eq!(story.tabs(), "[Changes]");
}

#[gpui_kit::test]
fn the_working_tree_is_compared_with_a_version_and_edited(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    git.set_committed(&root, "topic", "ten.txt", &NEW.replace("two\n", "2\n"));
    story.act(CompareWorkingTree);
    expect_label(&mut story, "Compare the working tree with");
    story.input("topic").keys("enter").settle();
    assert_eq!(story.tabs(), "[Version topic \u{2194} Working tree]");
    expect_label(&mut story, "Change of ten.txt, line 2:");
    // Nothing is staged from a comparison.
    story.act(StageHunk);
    assert_eq!(git.indexed(&root, "ten.txt").as_deref(), Some(OLD));
    assert!(!has_label(&mut story, "Discard"));
    story.act(crate::actions::view::FocusEditor);
    story.keys("x").settle();
    story.keys("ctrl-s").settle();
    assert!(story.on_disk("/p/ten.txt").contains("xtwo"));
}

#[gpui_kit::test]
fn two_versions_are_compared_read_only_across_files(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    for (revision, word) in [("v1", "one"), ("v2", "two")] {
        for file in ["a.txt", "b.txt"] {
            git.set_committed(&root, revision, file, &format!("{word}\n"));
        }
    }
    story.act(CompareVersions);
    expect_label(&mut story, "Compare: the version before");
    story.input("v1").keys("enter").settle();
    expect_label(&mut story, "Compare: the version after");
    story.input("v2").keys("enter").settle();
    assert_eq!(story.tabs(), "[Version v1 \u{2194} Version v2]");
    let before = story.text();
    assert_eq!(before, "two\n\ntwo\n");
    assert_eq!(caret_row(&mut story), 0);
    story.act(NextChange);
    assert_eq!(caret_row(&mut story), 2, "the other file");
    story.keys("x").settle();
    assert_eq!(story.text(), before);
}

#[gpui_kit::test]
fn the_index_is_compared_with_a_version(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    git.set_committed(&root, "topic", "ten.txt", &OLD.replace("two\n", "2\n"));
    story
        .act(CompareIndex)
        .input("topic")
        .keys("enter")
        .settle();
    assert_eq!(story.tabs(), "[Version topic \u{2194} Staged]");
    expect_label(&mut story, "Change of ten.txt, line 2:");
    assert!(!story.text().contains("ONE"), "the index has no such line");
    // A version without a difference opens no tab.
    git.set_committed(&root, "same", "ten.txt", OLD);
    story.act(CompareIndex).input("same").keys("enter").settle();
    let report = story.reports().first().cloned();
    assert_eq!(
        report.as_deref(),
        Some("No text differs between these versions")
    );
}

#[gpui_kit::test]
fn a_text_is_compared_with_the_clipboard_while_it_is_edited(cx: &mut TestAppContext) {
    let (_, _, mut story) = open(cx);
    story.open_file("ten.txt");
    let copied = NEW.replace("two\n", "2\n");
    story
        .cx
        .write_to_clipboard(ClipboardItem::new_string(copied));
    story.act(CompareWithClipboard);
    let tabs = story.tabs();
    assert!(tabs.ends_with("[Clipboard \u{2194} ten.txt]"), "{tabs}");
    expect_label(&mut story, "Change of ten.txt, line 2:");
    // The comparison follows the text once typing rests.
    story.act(MoveFileStart).input("first ");
    expect_label(&mut story, "Change of ten.txt, line 1:");
}

#[gpui_kit::test]
fn a_file_is_compared_with_another(cx: &mut TestAppContext) {
    let (_, _, mut story) = open(cx);
    story.files.write(&path("/p/other.txt"), OLD);
    story.settle();
    story.open_file("ten.txt");
    story.act(CompareWithFile);
    expect_label(&mut story, "Compare a file with this text");
    story.input("other").keys("enter").settle();
    let tabs = story.tabs();
    assert!(tabs.ends_with("[other.txt \u{2194} ten.txt]"), "{tabs}");
    expect_label(&mut story, "Change of ten.txt, line 1:");
    expect_label(&mut story, "Change of ten.txt, line 10:");
}

#[gpui_kit::test]
fn both_sides_are_shown_where_the_view_is_wide(cx: &mut TestAppContext) {
    let (_, _, mut story) = open(cx);
    story.cx.simulate_resize(size(px(1600.0), px(900.0)));
    story.settle();
    open_diff(&mut story);
    let words = "Before the change of ten.txt, line 1:";
    assert!(!has_label(&mut story, words));
    story.act(ToggleSideBySideDiffs);
    expect_label(&mut story, words);
    let settings = story.on_disk("/burin/config/settings.json");
    assert!(
        settings.contains("\"side_by_side_diffs\": true"),
        "{settings}"
    );
    story.cx.simulate_resize(size(px(800.0), px(600.0)));
    story.settle();
    assert!(!has_label(&mut story, words), "too narrow");
    story.cx.simulate_resize(size(px(1600.0), px(900.0)));
    story.settle();
    expect_label(&mut story, words);
    story.act(ToggleSideBySideDiffs);
    assert!(!has_label(&mut story, words));
}

#[gpui_kit::test]
fn a_hunk_is_staged_from_both_layouts(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    story.cx.simulate_resize(size(px(1600.0), px(900.0)));
    story.act(ToggleSideBySideDiffs);
    open_diff(&mut story);
    story.act(StageHunk);
    let staged = OLD.replace("one\n", "ONE\n");
    assert_eq!(git.indexed(&root, "ten.txt"), Some(staged));
    super::a11y::names(&mut story, "a diff side by side");
}

/// Moves the first three of the ten lines to the end.
fn with_moved_lines(git: &FakeGit, root: &AbsPath, story: &mut Story) {
    let (moved, rest) = OLD.split_at(OLD.find("four").expect("a fourth line"));
    rewrite(git, root, story, &format!("{rest}{moved}"));
}

#[gpui_kit::test]
fn moved_lines_lead_to_their_other_place(cx: &mut TestAppContext) {
    let (git, root, mut story) = open(cx);
    with_moved_lines(&git, &root, &mut story);
    open_diff(&mut story);
    expect_label(&mut story, "Moved to line 8");
    expect_label(&mut story, "Moved from line 1");
    assert_eq!(caret_row(&mut story), 0);
    story.act(GoToMovedLines);
    // Three rows around the first change, three above the other.
    assert_eq!(caret_row(&mut story), 6);
    story.act(GoToMovedLines);
    assert_eq!(caret_row(&mut story), 0);
}
