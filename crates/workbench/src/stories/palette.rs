//! The palette shows every action with its name and help text, and runs it.

use base::Platform;
use gpui_kit::TestAppContext;

use super::{open, open_on, project};
use crate::pickers::commands::{self, CommandPalette};
use ui::picker::{Picker, PickerDelegate as _};

#[gpui_kit::test]
fn every_action_has_a_name_and_a_sentence(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let entries = story.cx.update(|window, cx| commands::entries(window, cx));
    assert!(entries.len() > 200, "{}", entries.len());
    for entry in &entries {
        assert!(entry.name.contains(": "), "{} has no name", entry.action);
        assert!(
            entry.doc.len() > 8,
            "{} says nothing about itself",
            entry.action
        );
    }
    let mut names: Vec<_> = entries.iter().map(|entry| &entry.name).collect();
    names.dedup();
    assert_eq!(names.len(), entries.len(), "two actions of one name");
    let bound = entries.iter().filter(|entry| entry.keys.is_some()).count();
    assert!(bound > 120, "only {bound} have keys");
}

#[gpui_kit::test]
fn commands_and_keys_are_those_of_macos(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::MacOs, project(), cx);
    story.open_file_with("cmd-p", "main.rs");
    let entries = story.cx.update(|window, cx| commands::entries(window, cx));
    let keys = |action: &str| {
        let entry = entries.iter().find(|entry| entry.action == action);
        entry.and_then(|entry| entry.keys.clone())
    };
    for (action, expected) in [
        ("file::SaveAs", "\u{21e7}\u{2318}S"),
        ("app::HideOthers", "\u{2325}\u{2318}H"),
        ("app::OpenKeymap", "\u{2318}K \u{2318}S"),
    ] {
        assert_eq!(keys(action).as_deref(), Some(expected), "{action}");
    }
    let is_of_linux = |keys: &str| ["Ctrl", "Alt", "Shift", "Super", "Enter"].contains(&keys);
    for entry in &entries {
        let keys = entry.keys.as_deref().unwrap_or_default();
        assert!(
            !keys.split(['+', ' ']).any(is_of_linux),
            "{}: {keys}",
            entry.action
        );
    }
    let has = |action: &str| entries.iter().any(|entry| entry.action == action);
    assert!(has("app::ShowAll") && !has("view::ShowMenu"));
}

#[gpui_kit::test]
fn every_action_with_an_argument_is_bound_or_says_how(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.cx.update(|_, cx| {
        let docs = cx.action_documentation();
        assert!(docs.contains_key("pane::ActivateTab"));
        assert!(
            cx.build_action("pane::ActivateTab", Some(serde_json::json!(1)))
                .is_ok()
        );
    });
}

#[gpui_kit::test]
fn a_command_runs_where_the_keyboard_was(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    story
        .keys("ctrl-shift-p")
        .input("editor select all")
        .keys("enter");
    story.settle();
    story.input("gone");
    assert_eq!(story.text(), "gone");
    story
        .keys("ctrl-shift-p")
        .input("pane split right")
        .keys("enter");
    story.settle();
    assert_eq!(story.tabs(), "[lib.rs*] | [lib.rs*]");
}

/// The names that the open palette shows, in order.
fn shown(story: &mut super::Story) -> Vec<String> {
    story.read(|workbench, cx| {
        let picker = workbench
            .modal()
            .read(cx)
            .active_view::<Picker<CommandPalette>>();
        let picker = picker.expect("the palette").read(cx);
        let rows = 0..picker.delegate().count();
        rows.map(|ix| picker.delegate().name_at(ix).to_owned())
            .collect()
    })
}

#[gpui_kit::test]
fn commands_are_found_by_the_words_people_know(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    for (query, name) in [
        ("sort lines", "Editor: Sort Lines"),
        ("duplicate line", "Editor: Duplicate Down"),
        ("copy line down", "Editor: Duplicate Down"),
        ("delete line", "Editor: Delete Lines"),
        ("join lines", "Editor: Join Lines"),
        ("move line up", "Editor: Move Lines Up"),
        ("word wrap", "Editor: Toggle Soft Wrap"),
        ("keyboard shortcuts", "App: Open Keymap"),
        ("change language", "File: Select Language"),
        ("language mode", "File: Select Language"),
        ("preferences", "App: Open Settings"),
        ("color theme", "App: Select Theme"),
        ("tab size", "File: Select Indentation"),
        ("line endings", "File: Select Line Ending"),
        ("multiple cursors", "Editor: Add Caret Below"),
        ("sidebar", "View: Toggle Project Tree"),
        ("find in files", "Project Search: Show"),
        ("go to line", "Go: To Line"),
        ("command palette", "Go: Show Commands"),
        ("increase font size", "View: Zoom In"),
        ("remove duplicate lines", "Editor: Unique Lines"),
        ("trim trailing whitespace", "Editor: Delete Trailing Space"),
        ("comment", "Editor: Toggle Line Comment"),
        ("uppercase", "Editor: Upper Case"),
        ("recent projects", "File: Open Recent"),
        ("exit", "App: Quit"),
        ("split editor", "Pane: Split Right"),
        ("fold all", "Editor: Fold All"),
    ] {
        story.keys("ctrl-shift-p").input(query);
        let names = shown(&mut story);
        let first: Vec<&String> = names.iter().take(5).collect();
        assert!(first.iter().any(|it| *it == name), "{query}: {first:?}");
        story.keys("escape").settle();
    }
}

#[gpui_kit::test]
fn no_command_speaks_of_rows(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let entries = story.cx.update(|window, cx| commands::entries(window, cx));
    for entry in entries {
        let text = format!("{} {}", entry.name, entry.doc).to_lowercase();
        let mut words = text.split(|char: char| !char.is_alphanumeric());
        assert!(!words.any(|it| it == "row" || it == "rows"), "{text}");
    }
}

#[gpui_kit::test]
fn every_synonym_is_of_a_command(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let entries = story.cx.update(|window, cx| commands::entries(window, cx));
    for action in commands::synonyms::actions() {
        let is_known = entries.iter().any(|entry| entry.action == action);
        assert!(is_known, "{action}");
    }
}

#[gpui_kit::test]
async fn the_palette_lists_recent_commands_then_menu_commands(cx: &mut TestAppContext) {
    let files = super::project();
    let mut story = super::open_with(files.clone(), cx);
    story.open_file("lib.rs").keys("ctrl-shift-p").settle();
    let names = shown(&mut story);
    assert_eq!(names[0], "File: New");
    let page = names.iter().take(40);
    let agents = page.filter(|it| it.starts_with("Agents: "));
    assert!(agents.count() <= 1, "{names:?}");
    story.input("sort lines").keys("enter").settle();
    story.keys("ctrl-shift-p").input("fold all").keys("enter");
    story.settle();
    story.keys("ctrl-shift-p").settle();
    let names = shown(&mut story);
    assert_eq!(
        names[..3],
        ["Editor: Fold All", "Editor: Sort Lines", "File: New"]
    );
    story.keys("escape").act(crate::actions::app::Quit);
    let mut again = cx.new_app();
    let mut stories = super::start(&files, crate::windows::OpenRequest::default(), &mut again);
    let mut story = stories.pop().expect("the window");
    story.settle();
    story.keys("ctrl-shift-p").settle();
    assert_eq!(shown(&mut story)[0], "Editor: Fold All");
}
