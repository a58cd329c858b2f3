//! Windows come back: layout, tabs, carets, unsaved text.

use gpui_kit::TestAppContext;

use super::{open_with, project, start};
use crate::actions::{app, file, pane};
use crate::windows::Request;

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
    let mut stories = start(&files, Request::default(), &mut again);
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
    let mut stories = start(&files, Request::default(), &mut again);
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
    let place = crate::target::Place::new(2, 5);
    let request = Request {
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
