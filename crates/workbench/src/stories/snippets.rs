//! Snippets in a whole window: the user's files, the picker, and the tab stops.

use gpui_kit::TestAppContext;
use host::FakeFiles;

use super::{Story, open_with, path};
use crate::actions::snippets::{Configure, Insert};

const SNIPPETS: &str = r#"{
    "Loop": { "prefix": "loop", "body": ["for ${1:item} in ${2:items} {", "\t$0", "}"] },
    "Here": { "body": "$WORKSPACE_NAME/$RELATIVE_FILEPATH" },
}"#;

fn story(text: &str, cx: &mut TestAppContext) -> Story {
    let files = FakeFiles::new();
    files.write(&path("/p/src/one.rs"), text);
    files.write(&path("/burin/config/snippets/rust.json"), SNIPPETS);
    let mut story = open_with(files, cx);
    story.open_file("one.rs");
    story
}

#[gpui_kit::test]
fn a_snippet_is_inserted_and_filled_in_with_tab(cx: &mut TestAppContext) {
    let mut story = story("loop\n", cx);
    story.keys("end");
    story.act(Insert);
    story.keys("enter");
    story.settle();
    assert_eq!(story.text(), "for item in items {\n    \n}\n");
    story.input("x");
    story.keys("tab");
    story.input("xs");
    story.keys("tab");
    story.input("y");
    assert_eq!(story.text(), "for x in xs {\n    y\n}\n");
    story.keys("ctrl-z ctrl-z ctrl-z ctrl-z");
    story.settle();
    assert_eq!(story.text(), "loop\n");
}

#[gpui_kit::test]
fn variables_name_the_folder_and_the_file(cx: &mut TestAppContext) {
    let mut story = story("", cx);
    story.act(Insert);
    story.input("here");
    story.keys("enter");
    story.settle();
    assert_eq!(story.text(), "p/src/one.rs");
}

#[gpui_kit::test]
fn snippet_files_reload_and_report_mistakes(cx: &mut TestAppContext) {
    let mut story = story("", cx);
    let file = path("/burin/config/snippets/rust.json");
    story
        .files
        .write(&file, r#"{ "New": { "body": "new" }, "Bad": 1 }"#);
    story.settle();
    let report = story.reports().first().cloned().unwrap_or_default();
    assert!(report.contains("snippets/rust.json:1:"), "{report}");
    story.act(Insert);
    story.input("new");
    story.keys("enter");
    story.settle();
    assert_eq!(story.text(), "new");
}

#[gpui_kit::test]
fn configure_opens_the_file_of_the_language(cx: &mut TestAppContext) {
    let mut story = story("", cx);
    story.act(Configure);
    story.settle();
    assert_eq!(story.text(), SNIPPETS);
}
