//! Every control in the accessibility tree has a name.

use gpui_kit::TestAppContext;
use gpui_kit::test::TestQueryExt as _;

use super::{Story, open};
use crate::actions::{app, file, go, project_search, view};

/// Returns the names of the controls in the current frame; fails if one has none.
pub(super) fn names(story: &mut Story, what: &str) -> Vec<String> {
    let elements = story.cx.update(|window, _| window.elements());
    let mut names = Vec::new();
    for element in &elements {
        let role = element.role().map(|role| format!("{role:?}"));
        let needs = role.as_deref().is_some_and(ui::a11y::needs_name);
        let name = element.label().unwrap_or_default().trim();
        assert!(
            !needs || !name.is_empty(),
            "{what}: {role:?} at {:?} has no name",
            element.path()
        );
        names.push(name.to_owned());
    }
    names
}

#[gpui_kit::test]
fn every_control_has_a_name(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let has = |names: &[String], wanted: &str| {
        assert!(
            names.iter().any(|name| name.contains(wanted)),
            "{wanted} is not among {names:?}"
        );
    };
    let seen = names(&mut story, "a window without a text");
    for wanted in [
        "Project files",
        "Search files, symbols, meaning",
        "New text",
        "Menu",
    ] {
        has(&seen, wanted);
    }
    story
        .open_file("main.rs")
        .input("x")
        .act(view::FocusProjectTree);
    let seen = names(&mut story, "a text and the tree");
    for wanted in [
        "main.rs, not saved",
        "Choose the language: Rust",
        "README.md",
        "Go to a line",
    ] {
        has(&seen, wanted);
    }
    story.act(project_search::ShowReplace).input("old");
    story.act(project_search::ToggleFilters);
    let seen = names(&mut story, "the search");
    for wanted in [
        "Replace by",
        "Match case",
        "Files to exclude",
        "in 3 files",
        "Line 2",
    ] {
        has(&seen, wanted);
    }
    story.act(go::ShowCommands);
    has(&names(&mut story, "the palette"), "Commands");
    story.keys("escape").act(app::SelectTheme);
    has(&names(&mut story, "the themes"), "Themes");
    story.keys("escape").act(view::ShowNotifications);
    has(&names(&mut story, "the notifications"), "Notifications");
    story.keys("escape").act(file::Open);
    has(&names(&mut story, "the paths"), "Open a file or folder");
}
