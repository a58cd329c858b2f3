//! The finder, the outline, lines, paths, themes.

use gpui_kit::{App, TestAppContext, Window};
use ui::ActiveTheme as _;

use super::open;
use crate::actions::{app, file, go, view};

fn caret(story: &mut super::Story) -> (u32, u32) {
    let workbench = story.workbench.clone();
    story.cx.update(|_, cx| {
        let editor = workbench
            .read(cx)
            .active_item()
            .and_then(|item| item.editor().cloned())
            .expect("a text");
        let point = editor.update(cx, |editor, cx| editor.caret_point(cx));
        (point.row.0 + 1, point.column.0 + 1)
    })
}

#[gpui_kit::test]
fn a_file_is_found_with_its_place(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("sr lib:3:5");
    assert_eq!(story.tabs(), "[lib.rs]");
    assert_eq!(caret(&mut story), (3, 5));
    // Ignored files are not found.
    story.keys("ctrl-p").input("out.txt").keys("enter");
    assert!(story.is_asking());
    story.keys("escape");
    assert!(!story.is_asking());
}

#[gpui_kit::test]
fn lines_and_symbols_preview_and_escape_goes_back(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    story.act(go::ToLine).input("4");
    assert_eq!(caret(&mut story).0, 4, "the view follows while one types");
    story.keys("escape");
    story.settle();
    assert_eq!(caret(&mut story).0, 1);
    story.act(go::FindSymbol).input("three").keys("enter");
    story.settle();
    assert_eq!(caret(&mut story).0, 3);
    story.input("x");
    assert!(story.text().contains("x"), "the keyboard is in the text");
}

#[gpui_kit::test]
fn tab_goes_from_the_find_field_to_the_replacement(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").act(editor::Replace);
    story.input("old").keys("tab").input("new");
    story.keys("ctrl-alt-enter");
    story.settle();
    assert_eq!(story.text(), "fn main() {\n    new();\n}\n\nfn new() {}\n");
    story.keys("escape").input("x");
    assert!(story.text().contains('x'), "the keyboard is in the text");
}

#[gpui_kit::test]
fn menus_open_by_key_and_show_key_bindings(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs").keys("down right right");
    let keys = |story: &mut super::Story| {
        let keys = |window: &mut Window, cx: &mut App| ui::keys_here(&editor::Cut, window, cx);
        story.cx.update(keys).map(String::from)
    };
    assert_eq!(keys(&mut story).as_deref(), Some("Ctrl+X"));
    story.keys("shift-f10");
    story.settle();
    story.keys("escape");
    assert_eq!(caret(&mut story), (2, 3));
    story.act(view::FocusProjectTree).keys("end shift-f10");
    story.settle();
    // New file, new folder, open to the side.
    story.keys("down down down enter");
    story.settle();
    assert_eq!(story.tabs(), "[lib.rs] | [README.md]");
}

#[gpui_kit::test]
fn paths_are_completed_and_opened(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(file::Open);
    story.keys("ctrl-a").input("~/no").keys("tab");
    story.settle();
    story.keys("enter");
    story.settle();
    assert_eq!(
        (story.tabs(), story.text()),
        ("[notes.txt]".to_owned(), "notes\n".to_owned())
    );
}

#[gpui_kit::test]
fn themes_preview_and_escape_takes_them_back(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let name = |story: &mut super::Story| story.cx.update(|_, cx| cx.theme().name.to_string());
    let before = name(&mut story);
    story.act(app::SelectTheme).keys("down");
    assert_ne!(name(&mut story), before);
    story.keys("escape");
    story.settle();
    assert_eq!(name(&mut story), before);
    story
        .act(app::SelectTheme)
        .input("high contrast light")
        .keys("enter");
    story.settle();
    let chosen = name(&mut story);
    assert!(chosen.to_lowercase().contains("light"), "{chosen}");
    assert!(
        story
            .on_disk("/burin/config/settings.json")
            .contains(&chosen)
    );
}
