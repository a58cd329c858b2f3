//! The program beyond its windows, as macOS asks for it: closed windows, the Dock, the end.

use std::sync::Arc;

use base::Platform;
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{MenuItem, Role, TestAppContext};

use super::{Story, open_on, path, project, services, start, start_on, start_with};
use crate::Services;
use crate::actions::{app, file, view};
use crate::menus;
use crate::window_registry::WindowRegistry;
use crate::windows::{self, OpenRequest};

fn count(cx: &mut TestAppContext) -> usize {
    cx.update(|cx| cx.windows().len())
}

/// Closes the window of a story. The test platform would keep a closed window as the active one.
fn close(mut story: Story, cx: &TestAppContext) {
    story.cx.deactivate_window();
    story.act(app::CloseWindow);
    drop(story);
    cx.run_until_parked();
}

/// Whether the program stored its windows because it ends.
fn is_ending(cx: &mut TestAppContext) -> bool {
    cx.update(|cx| cx.global::<WindowRegistry>().is_ending)
}

fn session(files: &host::FakeFiles) -> String {
    let content = files.content(&path("/burin/state/windows.json"));
    String::from_utf8(content.unwrap_or_default()).expect("UTF-8")
}

#[gpui_kit::test]
fn on_macos_the_program_outlives_its_last_window(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::MacOs, project(), cx);
    story.open_file_with("cmd-p", "main.rs");
    close(story, cx);
    assert_eq!(count(cx), 0);
    assert!(!is_ending(cx));
    cx.update(windows::reopen);
    cx.run_until_parked();
    let roots = cx.update(|cx| {
        let open = windows::all(cx);
        let roots = open
            .iter()
            .map(|(_, workbench)| workbench.read(cx).root(cx));
        roots.collect::<Vec<_>>()
    });
    assert_eq!(roots, [Some(path("/p"))], "the closed window returns");
}

#[gpui_kit::test]
fn the_window_closed_last_stays_in_the_session(cx: &mut TestAppContext) {
    let files = project();
    close(open_on(Platform::MacOs, files.clone(), cx), cx);
    cx.executor()
        .advance_clock(std::time::Duration::from_secs(1));
    cx.run_until_parked();
    cx.update(windows::shut_down);
    assert!(session(&files).contains("/p"), "{}", session(&files));
}

#[gpui_kit::test]
fn a_command_without_a_window_opens_one(cx: &mut TestAppContext) {
    close(open_on(Platform::MacOs, project(), cx), cx);
    cx.update(|cx| {
        assert!(cx.is_action_available(&file::New), "its menu item works");
        cx.dispatch_action(&file::New);
    });
    cx.run_until_parked();
    assert_eq!(count(cx), 1);
    let has_text = cx.update(|cx| {
        let (_, workbench) = windows::all(cx).pop().expect("a window");
        workbench.read(cx).active_item().is_some()
    });
    assert!(has_text);
}

#[gpui_kit::test]
fn a_command_reaches_a_window_that_is_not_active(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::MacOs, project(), cx);
    story.cx.deactivate_window();
    cx.update(|cx| cx.dispatch_action(&file::New));
    story.settle();
    assert_eq!(count(cx), 1);
    assert!(story.read(|workbench, _| workbench.active_item().is_some()));
}

#[gpui_kit::test]
fn files_open_in_a_new_window_when_none_is_left(cx: &mut TestAppContext) {
    close(open_on(Platform::MacOs, project(), cx), cx);
    let request = OpenRequest {
        folders: Vec::new(),
        files: vec![(path("/home/me/notes.txt"), None)],
    };
    cx.update(|cx| windows::open_request(request, cx));
    cx.run_until_parked();
    assert_eq!(count(cx), 1);
    cx.update(|cx| windows::open_request(OpenRequest::default(), cx));
    assert_eq!(count(cx), 1, "the window is activated");
}

#[gpui_kit::test]
fn a_new_window_is_empty_or_shows_the_files(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::Linux, project(), cx);
    let notes = path("/home/me/notes.txt");
    let request = OpenRequest {
        folders: Vec::new(),
        files: vec![(notes.clone(), None)],
    };
    cx.update(|cx| {
        windows::open_in_new_window(OpenRequest::default(), cx);
        windows::open_in_new_window(request, cx);
    });
    story.settle();
    let open = cx.update(|cx| {
        let open = windows::all(cx).into_iter();
        let open = open.map(|(_, workbench)| {
            let workbench = workbench.read(cx);
            let item = workbench.active_item();
            (workbench.root(cx), item.and_then(|item| item.path(cx)))
        });
        open.collect::<Vec<_>>()
    });
    let expected = [(Some(path("/p")), None), (None, None), (None, Some(notes))];
    assert_eq!(open.len(), expected.len(), "{open:?}");
    assert!(expected.iter().all(|it| open.contains(it)), "{open:?}");
}

#[gpui_kit::test]
fn a_file_opens_in_the_folder_requested_before_it(cx: &mut TestAppContext) {
    let files = project();
    files.write(&path("/q/other.txt"), "other\n");
    let mut story = open_on(Platform::Linux, files, cx);
    let requests = [
        OpenRequest {
            folders: vec![path("/q")],
            files: Vec::new(),
        },
        OpenRequest {
            folders: Vec::new(),
            files: vec![(path("/q/other.txt"), None)],
        },
    ];
    cx.update(|cx| {
        for request in requests {
            windows::open_request(request, cx);
        }
    });
    story.settle();
    let open = cx.update(|cx| {
        let open = windows::all(cx).into_iter();
        let open = open.map(|(_, workbench)| {
            let workbench = workbench.read(cx);
            let item = workbench.active_item();
            (workbench.root(cx), item.and_then(|item| item.path(cx)))
        });
        open.collect::<Vec<_>>()
    });
    assert_eq!(
        open,
        [
            (Some(path("/p")), None),
            (Some(path("/q")), Some(path("/q/other.txt"))),
        ]
    );
}

#[gpui_kit::test]
fn an_end_that_the_system_decides_loses_nothing(cx: &mut TestAppContext) {
    let files = project();
    let mut stories = start_on(
        Platform::MacOs,
        services(&files),
        &files,
        OpenRequest {
            folders: vec![path("/p"), path("/p/src")],
            files: Vec::new(),
        },
        cx,
    );
    let mut story = stories.pop().expect("a window");
    story.settle();
    story.act(file::New).input("typed");
    drop(story);
    drop(stories);
    // From the Dock, or at log-out: without the command Quit.
    cx.update(|cx| cx.shutdown());
    let mut again = cx.new_app();
    cx.update(|cx| cx.set_global(crate::Documents::default()));
    let restored = start(&files, OpenRequest::default(), &mut again);
    assert_eq!(restored.len(), 2, "{}", session(&files));
    let mut tabs: Vec<String> = Vec::new();
    for mut story in restored {
        story.settle();
        tabs.push(story.tabs());
    }
    assert!(tabs.iter().any(|tabs| tabs.contains("typed*")), "{tabs:?}");
}

#[gpui_kit::test]
fn the_dock_offers_a_window_and_recent_folders(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::MacOs, project(), cx);
    story.settle();
    let names = story.cx.update(|_, cx| {
        let items = menus::dock::dock_menu(cx).into_iter();
        items
            .map(|item| match item {
                MenuItem::Action { name, .. } => name.to_string(),
                _ => "\u{2014}".to_owned(),
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(names, ["New Window", "\u{2014}", "p"]);
    story.act(app::OpenRecentFolder("/p/src".to_owned()));
    assert_eq!(story.cx.update(|_, cx| cx.windows().len()), 2);
}

#[gpui_kit::test]
fn the_window_names_the_file_of_the_active_tab(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::MacOs, project(), cx);
    assert_eq!(story.cx.document_path(), None);
    story.open_file_with("cmd-p", "main.rs");
    let main = path("/p/src/main.rs").as_path().to_owned();
    assert_eq!(story.cx.document_path(), Some(main));
    story.act(file::New);
    assert_eq!(story.cx.document_path(), None);
}

#[gpui_kit::test]
fn on_linux_the_last_window_ends_the_program(cx: &mut TestAppContext) {
    let files = project();
    close(open_on(Platform::Linux, files.clone(), cx), cx);
    assert!(is_ending(cx));
    assert!(session(&files).contains("/p"), "stored before the end");
}

#[gpui_kit::test]
fn the_command_is_installed_and_its_place_reported(cx: &mut TestAppContext) {
    let files = project();
    let services = Services {
        install: Some(Arc::new(|| Ok(path("/home/me/.local/bin/burin")))),
        ..services(&files)
    };
    let mut stories = start_with(services, &files, OpenRequest::default(), cx);
    let story = stories.last_mut().expect("a window");
    story.settle();
    story.act(app::InstallCommand);
    let report = story.reports().first().cloned().unwrap_or_default();
    assert!(report.contains("~/.local/bin/burin"), "{report}");
}

#[gpui_kit::test]
fn every_control_of_the_title_bar_has_a_name_on_macos(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::MacOs, project(), cx);
    story.open_file_with("cmd-p", "main.rs");
    let names = super::a11y::names(&mut story, "a window of macOS");
    for wanted in [
        "Folder p, open another",
        "Search files, symbols, meaning",
        "Project tree",
        "Agents",
    ] {
        assert!(
            names.iter().any(|name| name == wanted),
            "{wanted}: {names:?}"
        );
    }
    assert!(
        !names.iter().any(|name| name == "Menu"),
        "the menus are the system's"
    );
}

#[gpui_kit::test]
fn every_item_of_the_menu_has_a_name_on_linux(cx: &mut TestAppContext) {
    let mut story = open_on(Platform::Linux, project(), cx);
    story.act(view::ShowMenu);
    let elements = story.cx.update(|window, _| window.elements());
    let items = elements
        .iter()
        .filter(|element| element.role() == Some(Role::MenuItem));
    let names: Vec<&str> = items
        .map(|item| item.label().unwrap_or_default().trim())
        .collect();
    assert!(names.iter().all(|name| !name.is_empty()), "{names:?}");
    for wanted in ["File", "Agents", "Help"] {
        assert!(names.contains(&wanted), "{wanted}: {names:?}");
    }
}
