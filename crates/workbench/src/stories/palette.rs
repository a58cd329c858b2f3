//! The palette shows every action with a name and what it does, and runs them.

use gpui_kit::TestAppContext;

use super::open;
use crate::pickers::commands;

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
