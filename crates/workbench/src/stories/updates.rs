//! An update: the window says that the program was replaced, and a restart brings everything back.

use std::sync::{Arc, Mutex, PoisonError};

use base::AbsPath;
use gpui_kit::{App, TestAppContext};
use host::{FakeFiles, ProgramFile};

use super::{Story, path, project, services, start, start_with};
use crate::Services;
use crate::actions::{app, file, pane};
use crate::services::RunningProgram;
use crate::windows::OpenRequest;

const PROGRAM: &str = "/usr/bin/burin";

/// The programs that were started again.
type Restarts = Arc<Mutex<Vec<AbsPath>>>;

fn services_with_program(files: &FakeFiles, restarts: &Restarts) -> Services {
    files.write(&path(PROGRAM), "one");
    let restarts = restarts.clone();
    Services {
        program: Some(RunningProgram {
            file: ProgramFile::at(files, path(PROGRAM)).expect("a program"),
            restart: Arc::new(move |program: &AbsPath, cx: &mut App| {
                let mut restarts = restarts.lock().unwrap_or_else(PoisonError::into_inner);
                restarts.push(program.clone());
                cx.quit();
            }),
        }),
        ..services(files)
    }
}

fn open(files: &FakeFiles, restarts: &Restarts, cx: &mut TestAppContext) -> Story {
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let services = services_with_program(files, restarts);
    let mut stories = start_with(services, files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    story
}

/// Lets another window be active, and this one again.
fn come_back(story: &mut Story) {
    story.cx.deactivate_window();
    story.settle();
    story.cx.update(|window, _| window.activate_window());
    story.settle();
}

fn updates(story: &mut Story) -> usize {
    let reports = story.reports().into_iter();
    reports
        .filter(|report| report.contains("Another version of Burin"))
        .count()
}

#[gpui_kit::test]
fn a_replaced_program_is_reported_once(cx: &mut TestAppContext) {
    let files = project();
    let mut story = open(&files, &Restarts::default(), cx);
    come_back(&mut story);
    assert_eq!(updates(&mut story), 0);
    files.write(&path(PROGRAM), "newer");
    come_back(&mut story);
    come_back(&mut story);
    assert_eq!(updates(&mut story), 1);
}

#[gpui_kit::test]
async fn a_restart_restores_everything_whatever_the_settings_say(cx: &mut TestAppContext) {
    let files = project();
    let restarts = Restarts::default();
    files.write(
        &path("/burin/config/settings.json"),
        r#"{ "files": { "restore": "nothing" } }"#,
    );
    let mut story = open(&files, &restarts, cx);
    story.open_file("main.rs").input("// typed\n");
    story.act(file::New).input("nameless");
    let before = story.tabs();
    story.act(app::Restart);
    let started = restarts.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(*started, [path(PROGRAM)]);
    drop(started);
    drop(story);
    cx.update(|cx| cx.set_global(crate::Documents::default()));
    let mut again = cx.new_app();
    let mut stories = start(&files, OpenRequest::default(), &mut again);
    let mut story = stories.pop().expect("the window");
    story.settle();
    assert_eq!(story.tabs(), before);
    assert_eq!(story.text(), "nameless");
    story.act(pane::PreviousTab);
    assert!(story.text().starts_with("// typed\nfn main"));
    story.act(app::Quit);
    drop(story);
    again.update(|cx| cx.set_global(crate::Documents::default()));
    let mut third = cx.new_app();
    let mut stories = start(&files, OpenRequest::default(), &mut third);
    let mut story = stories.pop().expect("a window");
    story.settle();
    let root = story.read(|workbench, cx| workbench.root(cx));
    assert_eq!(root, None, "an ordinary start follows the setting");
}

#[gpui_kit::test]
fn the_session_of_a_newer_program_is_left_alone(cx: &mut TestAppContext) {
    let files = project();
    let newer = r#"{ "version": 99, "session": { "windows": "of another form" } }"#;
    files.write(&path("/burin/state/windows.json"), newer);
    let mut stories = start(&files, OpenRequest::default(), cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    let reports = story.reports();
    assert!(
        reports
            .iter()
            .any(|report| report.contains("a newer Burin")),
        "{reports:?}"
    );
    story.act(file::New).input("text");
    story.act(app::Quit);
    assert_eq!(story.on_disk("/burin/state/windows.json"), newer);
}
