//! Settings and keymaps are watched; a mistake is reported and keeps the last good values.

use gpui_kit::TestAppContext;
use ui::ActiveSettings as _;

use super::{open, path};

fn tab_size(story: &mut super::Story) -> u32 {
    story.cx.update(|_, cx| cx.settings().editor.tab_size)
}

#[gpui_kit::test]
fn settings_reload_and_a_mistake_keeps_the_last_good_value(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let write = |story: &mut super::Story, text: &str| {
        story
            .files
            .write(&path("/burin/config/settings.json"), text);
        story.settle();
    };
    write(&mut story, "{ \"editor\": { \"tab_size\": 7 } }");
    assert_eq!(tab_size(&mut story), 7);
    assert!(story.reports().is_empty());
    write(&mut story, "{ \"editor\": { \"tab_size\": \"wide\" } }");
    assert_eq!(tab_size(&mut story), 7, "the last good value stays");
    let report = story.reports().first().cloned().unwrap_or_default();
    assert!(report.contains("settings.json:1:"), "{report}");
    write(&mut story, "{ \"editor\": { \"tab_size\": 3, } ");
    assert_eq!(tab_size(&mut story), 7, "so it does for a broken file");
    write(&mut story, "{ \"editor\": { \"tab_size\": 2 } }");
    assert_eq!(tab_size(&mut story), 2);
}

#[gpui_kit::test]
fn keymaps_reload_and_report_unknown_actions_with_position(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.files.write(
        &path("/burin/config/keymap.json"),
        "[{ \"bindings\": { \"ctrl-alt-shift-x\": \"file::New\", \"f12\": \"file::Neww\" } }]",
    );
    story.settle();
    let report = story.reports().first().cloned().unwrap_or_default();
    assert!(
        report.contains("keymap.json:1:") && report.contains("file::New"),
        "{report}"
    );
    story.keys("ctrl-alt-shift-x");
    story.settle();
    assert_eq!(story.tabs(), "[untitled]");
}

#[gpui_kit::test]
fn zoom_is_written_and_comments_stay(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story
        .files
        .write(&path("/burin/config/settings.json"), "// mine\n{\n}\n");
    story.settle();
    story.act(crate::actions::view::ZoomIn);
    let text = story.on_disk("/burin/config/settings.json");
    assert!(
        text.starts_with("// mine") && text.contains("1.1"),
        "{text}"
    );
    assert!((story.cx.update(|_, cx| cx.settings().window.zoom) - 1.1).abs() < 1e-3);
}

#[gpui_kit::test]
fn the_settings_open_with_a_schema_that_fits_them(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(crate::actions::app::OpenSettings);
    story.settle();
    story.act(crate::actions::file::Save);
    story.settle();
    let text = story.on_disk("/burin/config/settings.json");
    assert!(
        text.contains("\"$schema\": \"./schemas/settings.json\""),
        "{text}"
    );
    assert!(story.reports().is_empty(), "{:?}", story.reports());
    let schema = |name: &str| -> serde_json::Value {
        let text = story.on_disk(&format!("/burin/config/schemas/{name}.json"));
        serde_json::from_str(&text).expect("a schema is JSON")
    };
    assert!(schema("settings")["properties"]["editor"].is_object());
    assert!(schema("keymap").to_string().contains("file::Save"));
    assert_eq!(schema("theme")["title"], "Burin theme");
}

fn link_settings(story: &mut super::Story, text: &str) {
    story.files.write(&path("/dots/burin.json"), text);
    story
        .files
        .link(&path("/burin/config/settings.json"), "/dots/burin.json");
    story.settle();
}

fn is_link(story: &super::Story, name: &str) -> bool {
    use host::Files as _;
    let file = path(name);
    let folder = file.parent().expect("a folder");
    let listing = story.files.list(&folder).expect("listed");
    let entry = listing.entries.iter().find(|entry| entry.path == file);
    entry.is_some_and(|entry| entry.is_link)
}

#[gpui_kit::test]
fn a_theme_is_written_through_linked_settings_with_their_comments(cx: &mut TestAppContext) {
    let mut story = open(cx);
    link_settings(
        &mut story,
        "// mine\n{\n  // size\n  \"editor\": { \"tab_size\": 3 }\n}\n",
    );
    story.act(crate::actions::app::SelectTheme);
    story.keys("down enter").settle();
    assert!(is_link(&story, "/burin/config/settings.json"));
    let text = story.on_disk("/dots/burin.json");
    for kept in ["// mine", "// size", "\"tab_size\": 3", "\"theme\""] {
        assert!(text.contains(kept), "{kept} is not in {text}");
    }
    assert!(story.reports().is_empty(), "{:?}", story.reports());
}

#[gpui_kit::test]
fn linked_settings_that_cannot_be_written_are_a_sentence(cx: &mut TestAppContext) {
    let mut story = open(cx);
    link_settings(&mut story, "{}\n");
    story.files.set_mode(&path("/dots/burin.json"), 0o444);
    story.act(crate::actions::view::ZoomIn);
    assert!(is_link(&story, "/burin/config/settings.json"));
    assert_eq!(story.on_disk("/dots/burin.json"), "{}\n");
    let report = story.reports().first().cloned().unwrap_or_default();
    assert!(report.contains("settings.json"), "{report}");
}

#[gpui_kit::test]
fn a_linked_session_file_stays_a_link(cx: &mut TestAppContext) {
    let files = super::project();
    files.write(&path("/elsewhere/windows.json"), "{}");
    files.link(
        &path("/burin/state/windows.json"),
        "/elsewhere/windows.json",
    );
    let mut story = super::open_with(files, cx);
    story.open_file("main.rs").act(crate::actions::app::Quit);
    assert!(is_link(&story, "/burin/state/windows.json"));
    let text = story.on_disk("/elsewhere/windows.json");
    assert!(text.contains("main.rs"), "{text}");
}
