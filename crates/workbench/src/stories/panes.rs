//! Splitting, walking, moving, pinning, closing.

use gpui_kit::TestAppContext;

use super::open;
use crate::actions::pane;

#[gpui_kit::test]
fn splits_are_walked_and_tabs_move(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").open_file("lib.rs");
    story.act(pane::SplitRight);
    assert_eq!(story.tabs(), "main.rs [lib.rs] | [lib.rs]");
    story.act(pane::SplitDown);
    assert_eq!(story.tabs(), "main.rs [lib.rs] | [lib.rs] / [lib.rs]");
    story.act(pane::FocusLeft).act(pane::PreviousTab);
    assert_eq!(story.tabs(), "[main.rs] lib.rs | [lib.rs] / [lib.rs]");
    story.act(pane::MoveTabToNextPane);
    assert_eq!(story.tabs(), "[lib.rs] | lib.rs [main.rs] / [lib.rs]");
    story.act(pane::FocusDown).act(pane::CloseTab);
    assert_eq!(story.tabs(), "[lib.rs] | lib.rs [main.rs]");
    story.act(pane::ReopenClosedTab);
    story.input("x");
    assert!(story.tabs().contains("lib.rs*"), "{}", story.tabs());
}

#[gpui_kit::test]
fn a_split_gives_the_keyboard_to_the_new_pane(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs").act(pane::SplitRight);
    story.keys("down down");
    let row = |story: &mut super::Story| {
        let workbench = story.workbench.clone();
        story.cx.update(|_, cx| {
            let item = workbench.read(cx).active_item().cloned();
            let editor = item.and_then(|item| item.editor().cloned());
            let editor = editor.expect("a text");
            editor.update(cx, |editor, cx| editor.caret_point(cx)).row.0
        })
    };
    assert_eq!(row(&mut story), 2);
    story.act(pane::FocusLeft);
    assert_eq!(row(&mut story), 0);
}

#[gpui_kit::test]
fn previews_give_way_and_edits_make_them_stay(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(crate::actions::view::FocusProjectTree);
    story.keys("end space");
    story.settle();
    assert_eq!(story.tabs(), "[(README.md)]");
    story.keys("up space");
    story.settle();
    assert_eq!(story.tabs(), "[(.gitignore)]");
    story.act(crate::actions::view::FocusEditor).input("x");
    assert_eq!(story.tabs(), "[.gitignore*]");
}

#[gpui_kit::test]
fn pinned_tabs_survive_close_others(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .open_file("main.rs")
        .open_file("lib.rs")
        .open_file("leaf.rs")
        .open_file("README");
    story.act(pane::TogglePinTab);
    assert_eq!(story.tabs(), "[README.md!] main.rs lib.rs leaf.rs");
    story
        .act(pane::NextTab)
        .act(pane::NextTab)
        .act(pane::CloseOtherTabs);
    assert_eq!(story.tabs(), "README.md! [lib.rs]");
    story.act(pane::CloseAllTabs);
    assert_eq!(story.tabs(), "[README.md!]");
}

#[gpui_kit::test]
fn the_switcher_walks_tabs_by_use(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .open_file("main.rs")
        .open_file("lib.rs")
        .open_file("leaf.rs");
    story.keys("ctrl-tab").settle();
    story.keys("enter").settle();
    assert_eq!(story.tabs(), "main.rs [lib.rs] leaf.rs");
    story.keys("ctrl-tab").settle();
    story.keys("ctrl-tab enter").settle();
    assert_eq!(story.tabs(), "[main.rs] lib.rs leaf.rs");
}

#[gpui_kit::test]
fn back_and_forward_retrace_jumps(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .open_file("main.rs")
        .open_file("lib.rs:4")
        .open_file("README");
    story.act(crate::actions::go::Back);
    assert_eq!(story.tabs(), "main.rs [lib.rs] README.md");
    story.act(crate::actions::go::Back);
    assert_eq!(story.tabs(), "[main.rs] lib.rs README.md");
    story.act(crate::actions::go::Forward);
    assert_eq!(story.tabs(), "main.rs [lib.rs] README.md");
}
