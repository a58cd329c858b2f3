//! The agents of another machine in the panel, by the keyboard.

use std::sync::Arc;

use base::AbsPath;
use composer_panel::AgentService;
use composer_panel::actions::UseAnotherMachine;
use composer_panel::agents::{FakeAgents, ModelEntry, ModelList};
use gpui_kit::TestAppContext;
use settings::MachineSetting;

use super::a11y::names;
use super::agents::{after_permission, stored_session, until_permission};
use super::{Story, path, project, services, start_with};
use crate::windows::OpenRequest;

const SETTINGS: &str = "/burin/config/settings.json";
const MACHINES: &str =
    r#"{ "agents": { "machines": { "far": { "host": "me@far", "folder": "/p" } } } }"#;

fn engines() -> FakeAgents {
    let model = ModelEntry {
        id: "local/coder".to_owned(),
        name: "Coder".to_owned(),
        about: String::new(),
        traits: None,
    };
    let models = ModelList {
        models: vec![model],
        default: "local/coder".to_owned(),
        advice: "There is no key.".to_owned(),
        ..ModelList::default()
    };
    FakeAgents::new(models, vec![stored_session("old", "tidy the tests")])
}

/// A window with these settings, the agents of this computer and those of the machine. The machine's folder
/// has the path of the window's folder.
fn open(settings: &str, cx: &mut TestAppContext) -> (Story, FakeAgents, FakeAgents) {
    let (near, far) = (engines(), engines());
    far.set_machine("far");
    let files = project();
    files.write(&path(SETTINGS), settings);
    let opened = far.clone();
    let open_machine = move |name: &str, setting: &MachineSetting| {
        assert_eq!((name, setting.host.as_str()), ("far", "me@far"));
        Some(Arc::new(opened.clone()) as Arc<dyn AgentService>)
    };
    let services = crate::Services {
        agents: Some(Arc::new(near.clone())),
        machine_agents: Some(Arc::new(open_machine)),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (story, near, far)
}

fn shows(story: &mut Story, words: &str) -> bool {
    let seen = names(story, "the window");
    seen.iter().any(|name| name.contains(words))
}

/// Whether the header of the panel names the machine.
fn names_machine(story: &mut Story) -> bool {
    let seen = names(story, "the window");
    seen.iter().any(|name| name == "far")
}

/// Chooses an entry of the list of machines.
fn choose(story: &mut Story, name: &str) {
    story.act(UseAnotherMachine).input(name).keys("enter");
    story.settle();
}

#[gpui_kit::test]
fn the_panel_shows_another_machine_and_comes_back(cx: &mut TestAppContext) {
    let (mut story, near, far) = open(MACHINES, cx);
    story.keys("ctrl-alt-b").input("near task").keys("enter");
    story.settle();
    assert_eq!(near.started().len(), 1);
    choose(&mut story, "far");
    assert!(names_machine(&mut story), "the header names the machine");
    story.input("far task").keys("enter");
    story.settle();
    let roots: Vec<AbsPath> = far.started().into_iter().map(|it| it.root).collect();
    assert_eq!(roots, [path("/p")]);
    assert_eq!(near.started().len(), 1, "this computer started nothing");
    // A session of this computer goes on behind it, and is there again.
    choose(&mut story, "This");
    for event in until_permission() {
        near.send_event(event);
    }
    story.settle();
    assert!(shows(&mut story, "cargo test"));
    assert!(!names_machine(&mut story));
}

#[gpui_kit::test]
fn a_file_of_another_machine_is_not_opened_here(cx: &mut TestAppContext) {
    let (mut story, _, far) = open(MACHINES, cx);
    choose(&mut story, "far");
    story.input("fix it").keys("enter");
    story.settle();
    for event in until_permission().into_iter().chain(after_permission()) {
        far.send_event(event);
    }
    story.settle();
    let before = story.tabs();
    // The same path is a file of this computer too.
    story.keys("alt-up").keys("o");
    story.settle();
    assert_eq!(story.tabs(), before);
    let reports = story.reports();
    assert!(
        reports.iter().any(|it| it.contains("is a file on far")),
        "{reports:?}"
    );
    // What the user has open here stays here.
    assert_eq!(far.open_files(), None);
}

#[gpui_kit::test]
fn a_broken_connection_is_shown_until_it_is_back(cx: &mut TestAppContext) {
    let (mut story, _, far) = open(MACHINES, cx);
    choose(&mut story, "far");
    let demo = "Try it with the demo model";
    assert!(shows(&mut story, demo));
    let problem = "The machine \"far\" cannot be reached: no route. Burin tries again.";
    far.report_link(Some(problem));
    story.settle();
    assert!(shows(&mut story, problem));
    assert!(!shows(&mut story, demo), "no model is reached");
    far.report_link(None);
    story.settle();
    assert!(!shows(&mut story, problem));
    assert!(shows(&mut story, demo));
}

#[gpui_kit::test]
fn without_machines_the_setting_is_named(cx: &mut TestAppContext) {
    let (mut story, ..) = open("{}", cx);
    story.act(UseAnotherMachine);
    let reports = story.reports();
    assert!(
        reports.iter().any(|it| it.contains("agents.machines")),
        "{reports:?}"
    );
}
