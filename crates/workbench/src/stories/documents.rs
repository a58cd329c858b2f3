//! Texts in tabs: five carets, saving, closing with a question, conflicts.

use gpui_kit::TestAppContext;

use super::open;
use crate::actions::{file, pane};
use crate::documents::Documents;
use crate::open_options::OpenOptions;
use crate::windows::OpenRequest;

#[gpui_kit::test]
fn five_carets_edit_and_save(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    assert_eq!(story.tabs(), "[lib.rs]");
    story.keys("ctrl-home");
    for _ in 0..4 {
        story.act(editor::AddCaretBelow);
    }
    story.input("async ");
    assert_eq!(story.tabs(), "[lib.rs*]");
    assert_eq!(
        story.on_disk("/p/src/lib.rs").lines().next(),
        Some("pub fn one() {}")
    );
    story.keys("ctrl-s");
    story.settle();
    let expect: String = ["one", "two", "three", "four", "five"]
        .map(|name| format!("async pub fn {name}() {{}}\n"))
        .concat();
    assert_eq!(story.on_disk("/p/src/lib.rs"), expect);
    assert_eq!(story.tabs(), "[lib.rs]");
    assert!(story.reports().is_empty(), "{:?}", story.reports());
}

#[gpui_kit::test]
fn a_dirty_tab_asks_and_each_answer_is_heeded(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").input("x");
    assert_eq!(story.tabs(), "[main.rs*]");
    story.keys("ctrl-w");
    assert!(story.is_asking());
    story.keys("escape");
    story.settle();
    assert_eq!(
        (story.is_asking(), story.tabs()),
        (false, "[main.rs*]".to_owned())
    );
    story.input("y");
    assert!(
        story.text().starts_with("xy"),
        "the keyboard is back in the text"
    );
    // Save has the focus, and "Don't save" is to its left.
    story.keys("ctrl-w left enter");
    story.settle();
    assert_eq!(story.tabs(), "");
    assert!(story.on_disk("/p/src/main.rs").starts_with("fn main"));
    story.open_file("main.rs");
    assert!(
        story.text().starts_with("fn main"),
        "what was given up is gone"
    );
    story.input("z").keys("ctrl-w enter");
    story.settle();
    assert_eq!(story.tabs(), "");
    assert!(story.on_disk("/p/src/main.rs").starts_with("zfn main"));
}

#[gpui_kit::test]
fn a_text_shown_twice_closes_once_without_a_question(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").act(pane::SplitRight).input("x");
    assert_eq!(
        story.tabs(),
        "[main.rs*] | [main.rs*]",
        "both views share the text"
    );
    story.keys("ctrl-w");
    story.settle();
    assert!(!story.is_asking());
    assert_eq!(story.tabs(), "[main.rs*]");
}

#[gpui_kit::test]
fn new_texts_are_named_when_saved(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(file::New).input("hello");
    assert_eq!(story.tabs(), "[hello*]");
    story.keys("ctrl-s").input("fresh.txt").keys("enter");
    story.settle();
    assert_eq!(story.on_disk("/p/fresh.txt").trim_end(), "hello");
    assert_eq!(story.tabs(), "[fresh.txt]");
    // Saving over an existing file asks first, with the safe answer focused.
    story.act(file::SaveAs);
    story.keys("ctrl-a").input("/p/README.md").keys("enter");
    story.settle();
    assert!(story.is_asking());
    story.keys("enter");
    story.settle();
    assert!(story.on_disk("/p/README.md").starts_with("# Title"));
}

#[gpui_kit::test]
fn changes_on_the_disk_are_followed_or_become_a_conflict(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    story
        .files
        .write(&super::path("/p/src/main.rs"), "fn other() {}\n");
    story.settle();
    assert_eq!(story.text(), "fn other() {}\n", "a clean text follows");
    assert_eq!(story.tabs(), "[main.rs]");
    story.input("// mine\n");
    story
        .files
        .write(&super::path("/p/src/main.rs"), "fn theirs() {}\n");
    story.settle();
    assert!(story.text().contains("// mine"), "a dirty one does not");
    story.keys("ctrl-s");
    story.settle();
    assert_eq!(
        story.on_disk("/p/src/main.rs"),
        "fn theirs() {}\n",
        "nothing is overwritten silently"
    );
    let reports = story.reports();
    assert!(
        reports
            .iter()
            .any(|report| report.contains("changed by another program")),
        "{reports:?}"
    );
    story.act(file::TakeTheirs);
    assert_eq!(
        (story.text(), story.tabs()),
        ("fn theirs() {}\n".to_owned(), "[main.rs]".to_owned())
    );
    story.act(editor::Undo);
    assert!(story.text().contains("// mine"), "undo brings it back");
}

#[gpui_kit::test]
fn a_text_of_no_folder_follows_the_disk_as_well(cx: &mut TestAppContext) {
    let files = super::project();
    let notes = super::path("/home/me/notes.txt");
    let request = OpenRequest {
        folders: Vec::new(),
        files: vec![(notes.clone(), None)],
    };
    let mut story = super::start(&files, request, cx).pop().expect("a window");
    story.settle();
    assert_eq!(story.text(), "notes\n");
    files.write(&notes, "other notes\n");
    story.settle();
    assert_eq!(story.text(), "other notes\n");
}

#[gpui_kit::test]
fn files_that_are_no_text_say_so_in_their_tab(cx: &mut TestAppContext) {
    let files = super::project();
    files.write(
        &super::path("/p/picture.bin"),
        [0u8, 159, 146, 150, 0, 0, 1, 2, 3],
    );
    let mut story = super::open_with(files, cx);
    story.open_file("picture.bin");
    assert_eq!(story.tabs(), "[picture.bin]");
    let sentence = story.read(|workbench, cx| match workbench.active_item() {
        Some(crate::TabItem::Refused(refusal)) => refusal.read(cx).sentence().to_string(),
        _ => String::new(),
    });
    assert!(sentence.contains("it is not text"), "{sentence}");
    story.keys("ctrl-w");
    story.settle();
    assert_eq!(story.tabs(), "");
}

#[gpui_kit::test]
fn a_save_that_fails_keeps_the_text_and_says_why(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").input("x");
    story.files.set_mode(&super::path("/p/src/main.rs"), 0o444);
    story.keys("ctrl-s");
    story.settle();
    assert_eq!(story.tabs(), "[main.rs*]");
    assert_eq!(story.reports().len(), 1, "{:?}", story.reports());
    assert!(
        story.reports()[0].contains("read-only"),
        "{:?}",
        story.reports()
    );
}

fn open_at(story: &mut super::Story, name: &str) {
    let workbench = story.workbench.clone();
    story.cx.update(|window, cx| {
        workbench.update(cx, |workbench, cx| {
            workbench.open_path(super::path(name), OpenOptions::lasting(), window, cx);
        });
    });
    story.settle();
}

#[gpui_kit::test]
fn a_link_and_its_target_are_one_document(cx: &mut TestAppContext) {
    let files = super::project();
    files.link(&super::path("/p/link.rs"), "src/main.rs");
    files.link(&super::path("/p/folder"), "src");
    let mut story = super::open_with(files, cx);
    for (first, second) in [
        ("/p/src/main.rs", "/p/link.rs"),
        ("/p/link.rs", "/p/src/main.rs"),
        ("/p/folder/main.rs", "/p/link.rs"),
    ] {
        open_at(&mut story, first);
        story.input("// edited\n");
        open_at(&mut story, second);
        assert!(
            story.text().starts_with("// edited\n"),
            "{first} {second}: {}",
            story.text()
        );
        let count = story.read(|_, cx| Documents::all(cx).len());
        assert_eq!(count, 1, "{first} {second}");
        story.keys("ctrl-s").settle();
        assert_eq!(story.on_disk("/p/src/main.rs"), story.text());
        story.act(editor::Undo).keys("ctrl-s").settle();
        while !story.tabs().is_empty() {
            story.keys("ctrl-w").settle();
        }
    }
}

#[gpui_kit::test]
fn an_open_link_follows_its_target(cx: &mut TestAppContext) {
    let files = super::project();
    files.link(&super::path("/p/notes.txt"), "/home/me/notes.txt");
    let mut story = super::open_with(files, cx);
    open_at(&mut story, "/p/notes.txt");
    assert_eq!(story.text(), "notes\n");
    story
        .files
        .write(&super::path("/home/me/notes.txt"), "new notes\n");
    story.settle();
    assert_eq!(story.text(), "new notes\n");
}

#[gpui_kit::test]
fn a_conflict_ends_when_git_puts_the_file_back(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let main = super::path("/p/src/main.rs");
    let before = story.on_disk("/p/src/main.rs");
    story.open_file("main.rs").input("// mine\n");
    story.files.write(&main, "theirs\n");
    story.settle();
    story.keys("ctrl-s").settle();
    assert_eq!(story.on_disk("/p/src/main.rs"), "theirs\n", "a conflict");
    story.files.write(&main, &before);
    story.settle();
    story.keys("ctrl-s").settle();
    assert_eq!(
        story.on_disk("/p/src/main.rs"),
        format!("// mine\n{before}")
    );
    assert_eq!(story.tabs(), "[main.rs]");
}
