//! Windows are restored: layout, tabs, carets, unsaved text.

use gpui_kit::TestAppContext;

use super::{open_with, project, start};
use crate::actions::{app, file, pane};
use crate::windows::OpenRequest;

#[gpui_kit::test]
async fn a_window_comes_back_as_it_was(cx: &mut TestAppContext) {
    let files = project();
    let mut story = open_with(files.clone(), cx);
    story
        .open_file("main.rs")
        .open_file("lib.rs:3:2")
        .act(pane::TogglePinTab);
    story.act(pane::SplitRight);
    story.open_file("leaf");
    story.act(pane::CloseTab);
    story.open_file("README");
    let before = story.tabs();
    assert_eq!(before, "[lib.rs!] main.rs | lib.rs [README.md]");
    story.act(app::Quit);
    let mut again = cx.new_app();
    let mut stories = start(&files, OpenRequest::default(), &mut again);
    let mut story = stories.pop().expect("the window");
    story.settle();
    assert_eq!(story.tabs(), before);
    assert_eq!(
        story.read(|workbench, cx| workbench.root(cx)),
        Some(super::path("/p"))
    );
    story.act(pane::FocusLeft);
    let workbench = story.workbench.clone();
    let point = story.cx.update(|_, cx| {
        let editor = workbench
            .read(cx)
            .active_item()
            .and_then(|item| item.editor().cloned())
            .expect("a text");
        editor.update(cx, |editor, cx| editor.caret_point(cx))
    });
    assert_eq!(
        (point.row.0, point.column.0),
        (2, 1),
        "the caret stands where it stood"
    );
}

#[gpui_kit::test]
async fn unsaved_text_comes_back_with_its_undo(cx: &mut TestAppContext) {
    let files = project();
    let mut story = open_with(files.clone(), cx);
    story.open_file("main.rs").input("// typed\n");
    story.act(file::New).input("nameless");
    story.act(app::Quit);
    drop(story);
    cx.update(|cx| cx.set_global(crate::Documents::default()));
    let mut again = cx.new_app();
    let mut stories = start(&files, OpenRequest::default(), &mut again);
    let mut story = stories.pop().expect("the window");
    story.settle();
    assert_eq!(story.tabs(), "main.rs* [nameless*]");
    assert_eq!(story.text(), "nameless");
    story.act(pane::PreviousTab);
    assert!(
        story.text().starts_with("// typed\nfn main"),
        "{}",
        story.text()
    );
    story.act(editor::Undo).act(editor::Undo);
    assert!(
        !story.text().contains("// typed"),
        "the undo tree came back too"
    );
}

#[gpui_kit::test]
fn files_of_the_command_line_open_at_their_place(cx: &mut TestAppContext) {
    let files = project();
    let place = crate::target::LineColumn::new(2, 5);
    let request = OpenRequest {
        folders: Vec::new(),
        files: vec![(super::path("/p/src/main.rs"), Some(place))],
    };
    let mut stories = start(&files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    assert_eq!(story.tabs(), "[main.rs]");
    story.input("X");
    assert!(story.text().contains("    Xold();"), "{}", story.text());
}

fn request(folders: &[&str], files: &[&str]) -> OpenRequest {
    OpenRequest {
        folders: folders.iter().map(|it| super::path(it)).collect(),
        files: files.iter().map(|it| (super::path(it), None)).collect(),
    }
}

/// Starts the program, does something in its front window, and quits.
fn run(
    files: &host::FakeFiles,
    request: OpenRequest,
    cx: &TestAppContext,
    act: impl FnOnce(&mut super::Story),
) {
    let mut app = cx.new_app();
    let mut story = start(files, request, &mut app).pop().expect("a window");
    story.settle();
    act(&mut story);
    story.act(app::Quit);
    drop(story);
    end(&mut app);
}

/// Lets go of what the next start takes over from a program that ended.
fn end(app: &mut TestAppContext) {
    app.update(|cx| cx.set_global(crate::Documents::default()));
}

/// The tabs of every window of a start, the one in front last.
fn tabs(files: &host::FakeFiles, request: OpenRequest, cx: &TestAppContext) -> Vec<String> {
    let mut app = cx.new_app();
    let stories = start(files, request, &mut app);
    let mut tabs = Vec::new();
    for mut story in stories {
        story.settle();
        tabs.push(story.tabs());
    }
    app.update(super::windows::shut_down);
    end(&mut app);
    tabs
}

#[gpui_kit::test]
async fn a_start_for_a_file_forgets_no_window(cx: &mut TestAppContext) {
    let files = project();
    run(&files, request(&["/p"], &[]), cx, |story| {
        story.open_file("main.rs").open_file("lib.rs");
    });
    for _ in 0..3 {
        let one = tabs(&files, request(&[], &["/home/me/notes.txt"]), cx);
        assert_eq!(one, ["[notes.txt]"], "the stored windows stay away");
    }
    let all = tabs(&files, OpenRequest::default(), cx);
    assert_eq!(all.last().map(String::as_str), Some("main.rs [lib.rs]"));
    assert!(all.contains(&"[notes.txt]".to_owned()), "{all:?}");
    assert!(all.len() <= 3, "{all:?}");
}

#[gpui_kit::test]
async fn starting_with_a_file_keeps_unsaved_text_of_other_windows(cx: &mut TestAppContext) {
    let files = project();
    run(&files, request(&["/p"], &[]), cx, |story| {
        story.open_file("main.rs").input("// typed\n");
        story.act(file::New).input("nameless");
    });
    let one = tabs(&files, request(&[], &["/home/me/notes.txt"]), cx);
    assert_eq!(one, ["[notes.txt]"]);
    let all = tabs(&files, OpenRequest::default(), cx);
    assert_eq!(all.last().map(String::as_str), Some("main.rs* [nameless*]"));
}

#[gpui_kit::test]
async fn a_folder_opened_again_gets_its_tabs_back(cx: &mut TestAppContext) {
    let files = project();
    files.write(&super::path("/q/other.txt"), "other\n");
    run(&files, request(&["/p"], &[]), cx, |story| {
        story.open_file("main.rs");
    });
    run(&files, request(&["/q"], &[]), cx, |story| {
        story.open_file("other");
    });
    let plain = tabs(&files, OpenRequest::default(), cx);
    assert_eq!(plain, ["[other.txt]"], "the last session");
    let again = tabs(&files, request(&["/p"], &[]), cx);
    assert_eq!(again, ["[main.rs]"]);
}

#[gpui_kit::test]
async fn a_file_window_that_opens_a_folder_becomes_ordinary(cx: &mut TestAppContext) {
    let files = project();
    files.write(&super::path("/q/other.txt"), "other\n");
    run(&files, request(&["/q"], &[]), cx, |story| {
        story.open_file("other");
    });
    run(&files, request(&[], &["/p/src/main.rs"]), cx, |story| {
        let workbench = story.workbench.clone();
        story.cx.update(|window, cx| {
            workbench.update(cx, |it, cx| {
                it.open_folder_here(super::path("/p"), window, cx)
            });
        });
        story.settle();
    });
    let all = tabs(&files, OpenRequest::default(), cx);
    assert_eq!(all, ["[other.txt]", "[main.rs]"]);
}

#[gpui_kit::test]
fn a_missing_file_opens_empty_and_is_created_on_save(cx: &mut TestAppContext) {
    let files = project();
    let request = request(&[], &["/p/src/fresh.rs"]);
    let mut story = start(&files, request, cx).pop().expect("a window");
    story.settle();
    assert_eq!(story.tabs(), "[fresh.rs*]");
    assert!(files.content(&super::path("/p/src/fresh.rs")).is_none());
    story.input("fn fresh() {}").act(file::Save);
    let saved = story.on_disk("/p/src/fresh.rs");
    assert_eq!(saved.trim_end(), "fn fresh() {}");
}
