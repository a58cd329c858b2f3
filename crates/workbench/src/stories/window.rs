//! The title, notifications and headings of a window, none of them cut off.

use gpui_kit::component::WindowExt as _;
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{Role, TestAppContext, px, size};
use ui::Tone;

use super::{Story, open, open_with, path, project};
use crate::actions::{app, file, pane, project_tree as act, view};
use crate::notices::Notice;

fn title(story: &mut Story) -> String {
    story.settle();
    story.cx.window_title().unwrap_or_default()
}

fn labels(story: &mut Story) -> Vec<String> {
    let elements = story.cx.update(|window, _| window.elements());
    let labels = elements.iter().filter_map(|it| it.label());
    labels.map(str::to_owned).collect()
}

#[gpui_kit::test]
fn the_title_names_file_folder_and_unsaved_text(cx: &mut TestAppContext) {
    let mut story = open(cx);
    assert_eq!(title(&mut story), "p \u{2014} Burin");
    story.open_file("main.rs");
    assert_eq!(title(&mut story), "main.rs \u{2014} p \u{2014} Burin");
    story.input("x");
    assert_eq!(
        title(&mut story),
        "\u{25cf} main.rs \u{2014} p \u{2014} Burin"
    );
    story.act(file::Save);
    assert_eq!(title(&mut story), "main.rs \u{2014} p \u{2014} Burin");
    story.open_file("lib.rs");
    assert_eq!(title(&mut story), "lib.rs \u{2014} p \u{2014} Burin");
    story.act(file::CloseFolder);
    assert_eq!(title(&mut story), "lib.rs \u{2014} Burin");
    story.act(pane::CloseAllTabs);
    assert_eq!(title(&mut story), "Burin");
}

#[gpui_kit::test]
fn saving_under_another_name_has_a_heading(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").act(file::SaveAs);
    let headings = story
        .cx
        .update(|window, _| window.find_all_by_role(Role::Heading));
    let labels: Vec<_> = headings.iter().filter_map(|it| it.label()).collect();
    assert!(labels.contains(&"Save as"), "{labels:?}");
    story.keys("escape").act(file::OpenFolder);
    let headings = story
        .cx
        .update(|window, _| window.find_all_by_role(Role::Heading));
    let labels: Vec<_> = headings.iter().filter_map(|it| it.label()).collect();
    assert!(labels.contains(&"Open a folder"), "{labels:?}");
}

#[gpui_kit::test]
fn a_broken_link_is_called_one(cx: &mut TestAppContext) {
    let files = project();
    files.link(&path("/p/dead.txt"), "../gone/target.txt");
    let mut story = open_with(files, cx);
    story
        .act(view::FocusProjectTree)
        .input("dead")
        .keys("enter")
        .settle();
    let labels = labels(&mut story);
    assert!(
        labels
            .iter()
            .any(|it| it.contains("broken link: ../gone/target.txt does not exist")),
        "{labels:?}"
    );
    assert!(!labels.iter().any(|it| it.contains("there is no such file")));
}

/// Every button on the screen lies inside the window.
fn check_buttons(story: &mut Story, what: &str) {
    story.settle();
    let (elements, room) = story
        .cx
        .update(|window, _| (window.elements(), window.viewport_size()));
    let buttons = elements.iter().filter(|it| it.role() == Some(Role::Button));
    let mut count = 0;
    for button in buttons {
        let bounds = button.bounds();
        count += 1;
        assert!(
            bounds.left() >= px(-0.5)
                && bounds.right() <= room.width + px(0.5)
                && bounds.top() >= px(-0.5)
                && bounds.bottom() <= room.height + px(0.5),
            "{what}: {:?} at {bounds:?} is cut off in {room:?}",
            button.label()
        );
    }
    assert!(count > 0, "{what}: no button");
}

#[gpui_kit::test]
fn no_button_is_cut_off_in_the_smallest_window(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.cx.simulate_resize(size(px(360.0), px(240.0)));
    check_buttons(&mut story, "an empty window");
    story.open_file("main.rs");
    check_buttons(&mut story, "a text");
    story.act(editor::Replace);
    check_buttons(&mut story, "find and replace");
    story.keys("escape").input("x");
    story.files.write(&path("/p/src/main.rs"), "theirs\n");
    check_buttons(&mut story, "a conflict");
    story.act(pane::CloseTab);
    assert!(story.is_asking());
    check_buttons(&mut story, "a question");
    story.keys("escape").act(view::ToggleProjectTree);
    check_buttons(&mut story, "the tree");
}

#[gpui_kit::test]
fn notifications_cover_no_banner_or_find_bar_button(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").act(editor::Replace);
    story.keys("escape").input("x");
    story.files.write(&path("/p/src/main.rs"), "theirs\n");
    story.settle();
    story.act(editor::Replace);
    story.act(app::About);
    let elements = story.cx.update(|window, _| window.elements());
    let reports = elements.iter().filter(|it| it.role() == Some(Role::Alert));
    let reports: Vec<_> = reports.map(|it| it.bounds()).collect();
    assert!(!reports.is_empty());
    for label in ["Keep mine", "Compare", "Close find", "Replace all"] {
        let button = elements.iter().find(|it| it.label() == Some(label));
        let button = button.unwrap_or_else(|| panic!("no {label}")).bounds();
        assert!(
            !reports.iter().any(|report| report.intersects(&button)),
            "{label} at {button:?} lies below {reports:?}"
        );
    }
}

#[gpui_kit::test]
fn reports_go_by_themselves_and_errors_stay(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let shown = |story: &mut Story| {
        let count =
            |window: &mut gpui_kit::Window, cx: &mut gpui_kit::App| window.notifications(cx).len();
        story.cx.update(count)
    };
    let report = |story: &mut Story, notice: Notice| {
        let workbench = story.workbench.clone();
        story.cx.update(|window, cx| {
            workbench.update(cx, |workbench, cx| workbench.report(notice, window, cx));
        });
        story.cx.run_until_parked();
    };
    for notice in [
        Notice::new(Tone::Info, "info"),
        Notice::new(Tone::Warning, "warning"),
        Notice::new(Tone::Success, "with a button").action("Undo", act::Undo),
    ] {
        report(&mut story, notice);
        assert_eq!(shown(&mut story), 1);
        for _ in 0..5 {
            story.settle();
        }
        assert_eq!(shown(&mut story), 0);
    }
    report(&mut story, Notice::new(Tone::Error, "error"));
    for _ in 0..20 {
        story.settle();
    }
    assert_eq!(shown(&mut story), 1);
    story.act(view::DismissNotifications);
    assert_eq!(shown(&mut story), 0);
    assert_eq!(story.reports().len(), 4, "the list keeps them");
}
