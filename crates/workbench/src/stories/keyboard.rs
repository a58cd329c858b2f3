//! The keyboard is where the eye is: in a question while it is asked, then where it was before.

use gpui_kit::TestAppContext;
use gpui_kit::test::TestQueryExt as _;

use super::{Story, open, path};
use crate::actions::{file, pane, project_tree as act, view};
use crate::windows::{self, OpenRequest};

const MAIN: &str = "fn main() {\n    old();\n}\n\nfn old() {}\n";

/// A text is open, and the tree asks whether to trash another one.
fn asked(cx: &mut TestAppContext) -> Story {
    let mut story = open(cx);
    story.open_file("main.rs");
    story.act(view::FocusProjectTree).keys("end delete");
    assert!(story.is_asking());
    story
}

fn tree_has_keyboard(story: &mut Story) -> bool {
    let workbench = story.workbench.clone();
    story.cx.update(|window, cx| {
        let tree = workbench.read(cx).tree().read(cx);
        gpui_kit::Focusable::focus_handle(tree, cx).contains_focused(window, cx)
    })
}

fn hand_over(story: &mut Story, name: &str) {
    let request = OpenRequest {
        folders: Vec::new(),
        files: vec![(path(name), None)],
    };
    // As another start does it: outside of any call of the window.
    let app: &mut TestAppContext = &mut story.cx;
    app.update(|cx| windows::open_request(request, cx));
    story.settle();
}

#[gpui_kit::test]
fn focus_returns_to_the_tree_after_a_question(cx: &mut TestAppContext) {
    for keys in [
        "tab enter",
        "shift-tab enter",
        "right enter",
        "left enter",
        "enter",
        "escape",
        "tab tab enter",
        "tab escape",
    ] {
        let mut app = cx.new_app();
        let mut story = asked(&mut app);
        story.keys(keys).settle();
        assert!(!story.is_asking(), "{keys}");
        assert!(tree_has_keyboard(&mut story), "{keys}");
        story.keys("delete");
        assert!(story.is_asking(), "{keys}: the next Delete is the tree's");
        assert_eq!(story.text(), MAIN, "{keys}");
    }
}

#[gpui_kit::test]
fn tab_stays_in_the_question(cx: &mut TestAppContext) {
    let mut story = asked(cx);
    for _ in 0..9 {
        story.keys("tab").input("x");
        assert!(story.is_asking());
        assert!(!tree_has_keyboard(&mut story));
    }
    assert_eq!(story.text(), MAIN);
}

#[gpui_kit::test]
fn a_file_handed_over_opens_behind_the_question(cx: &mut TestAppContext) {
    let mut story = asked(cx);
    hand_over(&mut story, "/p/src/lib.rs");
    assert_eq!(story.tabs(), "main.rs [lib.rs]");
    assert!(story.is_asking());
    let before = story.text();
    story.input("x");
    assert_eq!(story.text(), before, "typed into the question");
    story.keys("tab enter").settle();
    assert_eq!(story.files.trashed(), [path("/p/README.md")]);
    assert!(tree_has_keyboard(&mut story));
}

#[gpui_kit::test]
fn a_file_handed_over_opens_behind_a_picker(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    story.keys("ctrl-p").input("li");
    hand_over(&mut story, "/home/me/notes.txt");
    assert_eq!(story.tabs(), "main.rs [notes.txt]");
    story.input("b").keys("enter").settle();
    assert_eq!(story.tabs(), "main.rs notes.txt [lib.rs]");
    story.input("x");
    assert!(story.text().starts_with('x'), "{}", story.text());
}

#[gpui_kit::test]
fn a_dismissed_picker_focuses_the_opened_text(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").keys("ctrl-p");
    hand_over(&mut story, "/home/me/notes.txt");
    story.keys("escape").settle();
    story.input("x");
    assert_eq!(story.text(), "xnotes\n");
}

#[gpui_kit::test]
fn shortcuts_do_nothing_behind_a_question(cx: &mut TestAppContext) {
    let mut story = asked(cx);
    for keys in ["ctrl-n", "ctrl-w", "ctrl-p", "ctrl-shift-p", "ctrl-s", "f2"] {
        story.keys(keys).settle();
        assert!(story.is_asking(), "{keys}");
        assert_eq!(story.tabs(), "[main.rs]", "{keys}");
    }
    story.keys("escape").settle();
    assert!(tree_has_keyboard(&mut story));
}

#[gpui_kit::test]
fn opening_a_file_behind_a_picker_keeps_its_focus(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").keys("ctrl-p");
    story.act(file::New);
    story.input("lib").keys("enter").settle();
    assert_eq!(story.tabs(), "main.rs untitled [lib.rs]");
}

#[gpui_kit::test]
fn a_file_trashed_here_is_not_another_programs_doing(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("README");
    story.act(view::FocusProjectTree).keys("end delete");
    story.keys("tab enter").settle();
    assert_eq!(story.files.trashed(), [path("/p/README.md")]);
    let elements = story.cx.update(|window, _| window.elements());
    let labels: Vec<&str> = elements.iter().filter_map(|it| it.label()).collect();
    assert!(
        !labels.iter().any(|label| label.contains("another program")),
        "{labels:?}"
    );
    assert!(
        !story
            .reports()
            .iter()
            .any(|it| it.contains("another program"))
    );
    assert!(tree_has_keyboard(&mut story));
}

#[gpui_kit::test]
fn a_name_given_up_gives_the_keyboard_back(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    story
        .act(act::NewFile)
        .input("half")
        .keys("escape")
        .settle();
    story.input("x");
    assert!(story.text().starts_with('x'), "back in the text");
    story
        .act(view::FocusProjectTree)
        .keys("end f2 escape")
        .settle();
    assert!(tree_has_keyboard(&mut story), "back in the tree");
}

#[gpui_kit::test]
fn after_the_last_tab_keys_still_work(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs").input("x");
    story.act(pane::CloseTab);
    assert!(story.is_asking());
    story.keys("left enter").settle();
    assert_eq!(story.tabs(), "");
    story.keys("ctrl-n").input("typed");
    assert!(story.text().ends_with("typed"), "{}", story.text());
}
