//! The keys of Vim in a whole window: the toggle, commands for files and panes, the status bar, `.vimrc`.

use editor::{Editor, vim_status};
use gpui_kit::{Entity, TestAppContext};

use super::{Story, open, open_with, path, project};
use crate::TabItem;
use crate::actions::vim::ToggleVimMode;

/// A window with a file and the keys of Vim.
fn story(cx: &mut TestAppContext) -> Story {
    let files = project();
    let settings = path("/burin/config/settings.json");
    files.write(&settings, "{ \"vim\": { \"enabled\": true } }");
    let mut story = open_with(files, cx);
    story.open_file("lib.rs");
    story
}

fn editor(story: &mut Story) -> Entity<Editor> {
    let shown =
        story.read(|workbench, _| workbench.active_item().and_then(TabItem::editor).cloned());
    shown.expect("a text")
}

/// The mode of the shown text; `None` without the keys of Vim.
fn mode(story: &mut Story) -> Option<&'static str> {
    let editor = editor(story);
    story
        .cx
        .update(|_, cx| vim_status(editor.read(cx)).map(|status| status.mode))
}

#[gpui_kit::test]
fn the_toggle_switches_vim_on_and_off(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    assert_eq!(mode(&mut story), None);
    story.act(ToggleVimMode);
    assert_eq!(mode(&mut story), Some("NORMAL"));
    let settings = story.on_disk("/burin/config/settings.json");
    assert!(settings.contains("\"enabled\": true"), "{settings}");
    story.act(ToggleVimMode);
    assert_eq!(mode(&mut story), None);
}

#[gpui_kit::test]
fn lines_are_deleted_and_saved_by_commands(cx: &mut TestAppContext) {
    let mut story = story(cx);
    story.input("3dd");
    assert_eq!(story.text(), "pub fn four() {}\npub fn five() {}\n");
    story.input(":w").keys("enter").settle();
    assert_eq!(story.on_disk("/p/src/lib.rs"), story.text());
    assert_eq!(story.tabs(), "[lib.rs]");
}

#[gpui_kit::test]
fn write_and_quit_closes_after_the_save(cx: &mut TestAppContext) {
    let mut story = story(cx);
    story
        .open_file("main.rs")
        .input("dd:wq")
        .keys("enter")
        .settle();
    assert_eq!(story.tabs(), "[lib.rs]");
    assert!(story.on_disk("/p/src/main.rs").starts_with("    old();"));
}

#[gpui_kit::test]
fn quit_with_a_bang_gives_changes_up(cx: &mut TestAppContext) {
    let mut story = story(cx);
    story
        .open_file("main.rs")
        .input("dd:q!")
        .keys("enter")
        .settle();
    assert_eq!(story.tabs(), "[lib.rs]");
    assert!(story.on_disk("/p/src/main.rs").starts_with("fn main()"));
}

#[gpui_kit::test]
fn splits_and_files_open_by_commands(cx: &mut TestAppContext) {
    let mut story = story(cx);
    story.input(":vs").keys("enter").settle();
    assert_eq!(story.tabs(), "[lib.rs] | [lib.rs]");
    story.input(":e src/main.rs").keys("enter").settle();
    assert_eq!(story.tabs(), "[lib.rs] | lib.rs [main.rs]");
    story.keys("ctrl-w h").settle();
    story.input(":sp README.md").keys("enter").settle();
    assert_eq!(story.tabs(), "[lib.rs] / [README.md] | lib.rs [main.rs]");
}

#[gpui_kit::test]
fn registers_are_shared_by_texts(cx: &mut TestAppContext) {
    let mut story = story(cx);
    story.input("yy").open_file("README.md").input("P");
    assert!(
        story.text().starts_with("pub fn one() {}\n# Title"),
        "{}",
        story.text()
    );
}

#[gpui_kit::test]
fn mappings_of_a_vimrc_work_and_its_other_lines_are_reported(cx: &mut TestAppContext) {
    let files = project();
    let settings = "{ \"vim\": { \"enabled\": true, \"vimrc\": \"~/.vimrc\" } }";
    files.write(&path("/burin/config/settings.json"), settings);
    files.write(
        &path("/home/me/.vimrc"),
        "let mapleader=\",\"\nnnoremap <leader>x 2dd\nsyntax on\n",
    );
    let mut story = open_with(files, cx);
    story.open_file("lib.rs").input(",x");
    assert!(
        story.text().starts_with("pub fn three()"),
        "{}",
        story.text()
    );
    let reports = story.reports();
    assert!(
        reports.iter().any(|it| it.contains(".vimrc:3")),
        "{reports:?}"
    );
}

#[gpui_kit::test]
fn unsaved_text_is_given_up_only_with_a_bang(cx: &mut TestAppContext) {
    let mut story = story(cx);
    let saved = story.text();
    story.input("dd:e").keys("enter").settle();
    assert_ne!(story.text(), saved);
    let reports = story.reports();
    assert!(reports.iter().any(|it| it.contains("E37")), "{reports:?}");
    story.input(":e!").keys("enter").settle();
    assert_eq!(story.text(), saved);
}

#[gpui_kit::test]
fn text_typed_after_a_save_within_an_insertion_is_unsaved(cx: &mut TestAppContext) {
    let mut story = story(cx);
    story.input("ione ").keys("ctrl-s").settle();
    let saved = story.on_disk("/p/src/lib.rs");
    assert!(saved.starts_with("one "), "{saved}");
    story.input("two ");
    assert!(story.text().starts_with("one two "));
    story.keys("escape").input(":q").keys("enter").settle();
    assert_eq!(story.tabs(), "[lib.rs*]", "the question keeps the tab");
}
