//! The completion list in a whole window: the user's snippets, and the settings.

use gpui_kit::TestAppContext;
use host::FakeFiles;

use super::{Story, open_with, path};
use crate::TabItem;

const SNIPPETS: &str = r#"{
    "Loop": { "prefix": "kloop", "body": ["for ${1:item} in $2 {", "\t$0", "}"] },
    "Here": { "prefix": "khere", "body": "$WORKSPACE_NAME/$RELATIVE_FILEPATH" },
}"#;

fn story(text: &str, settings: &str, cx: &mut TestAppContext) -> Story {
    let files = FakeFiles::new();
    files.write(&path("/p/src/one.rs"), text);
    files.write(&path("/burin/config/snippets/rust.json"), SNIPPETS);
    files.write(&path("/burin/config/settings.json"), settings);
    let mut story = open_with(files, cx);
    story.open_file("one.rs");
    story.keys("ctrl-end");
    story
}

/// Returns the labels of the shown list; empty without a list.
fn rows(story: &mut Story) -> Vec<String> {
    story.settle();
    story.read(|workbench, cx| {
        let editor = workbench.active_item().and_then(TabItem::editor);
        let shown = editor.and_then(|editor| editor.read(cx).shown_completions());
        let (labels, _) = shown.unwrap_or_default();
        labels.iter().map(ToString::to_string).collect()
    })
}

#[gpui_kit::test]
fn snippets_are_offered_before_words_and_filled_in(cx: &mut TestAppContext) {
    let mut story = story("klaxon\n", "{}", cx);
    story.input("kl");
    assert_eq!(rows(&mut story), ["kloop", "klaxon"]);
    story.keys("tab");
    story.input("x");
    story.keys("tab");
    story.input("xs");
    story.settle();
    assert_eq!(story.text(), "klaxon\nfor x in xs {\n    \n}");
}

#[gpui_kit::test]
fn an_accepted_snippet_knows_its_folder(cx: &mut TestAppContext) {
    let mut story = story("", "{}", cx);
    story.input("kh");
    story.keys("enter");
    story.settle();
    assert_eq!(story.text(), "p/src/one.rs");
}

fn check_settings(settings: &str, expected: &[&str], cx: &mut TestAppContext) {
    let settings = format!("{{ \"completions\": {settings} }}");
    let mut story = story("kit klaxon\n", &settings, cx);
    story.input("k");
    assert_eq!(rows(&mut story), expected, "{settings}");
}

#[gpui_kit::test]
fn settings_turn_parts_of_the_list_off(cx: &mut TestAppContext) {
    let all = ["khere", "kloop", "klaxon", "kit"];
    check_settings("{}", &all, cx);
    check_settings(r#"{ "auto": false }"#, &[], cx);
    check_settings(r#"{ "words": false }"#, &all[..2], cx);
    check_settings(r#"{ "snippets": false }"#, &all[2..], cx);
    check_settings(r#"{ "min_word_length": 4 }"#, &all[..3], cx);
}

#[gpui_kit::test]
fn the_list_opens_on_request_with_automatic_opening_off(cx: &mut TestAppContext) {
    let off = r#"{ "completions": { "auto": false } }"#;
    let mut story = story("klaxon\n", off, cx);
    story.input("kla");
    assert!(rows(&mut story).is_empty());
    story.keys("ctrl-space");
    assert_eq!(rows(&mut story), ["klaxon"]);
    story.keys("enter");
    story.settle();
    assert_eq!(story.text(), "klaxon\nklaxon");
}
