//! Every control that can be reached says what it is.

use gpui_kit::TestAppContext;

use super::open;
use crate::actions::{app, go, project_search, view};

#[gpui_kit::test]
fn every_control_has_a_name(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").act(view::FocusProjectTree);
    let mut looked_at = 0;
    let mut check = |story: &mut super::Story, what: &str| {
        let unnamed = story.cx.update(|window, _| ui::a11y::unnamed(window));
        if let Some(unnamed) = unnamed {
            looked_at += 1;
            assert!(unnamed.is_empty(), "{what}: {unnamed:?}");
        }
    };
    check(&mut story, "a text and the tree");
    story
        .act(project_search::ShowReplace)
        .act(project_search::ToggleFilters);
    check(&mut story, "the search");
    story.act(go::ShowCommands);
    check(&mut story, "the palette");
    story.keys("escape").act(app::SelectTheme);
    check(&mut story, "the themes");
    story.keys("escape").act(view::ShowNotifications);
    check(&mut story, "the notifications");
    println!("{looked_at} accessibility trees were looked at");
}
