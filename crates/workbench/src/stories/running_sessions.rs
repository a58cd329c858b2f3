//! Sessions that run while the panel shows something else, and what their engines have to say.

use agent::SessionCommand;
use composer_panel::actions::{NewSession, ShowSessions};
use composer_panel::agents::{FakeAgents, OpenFiles, RunningSession, SessionActivity};
use gpui_kit::TestAppContext;

use super::a11y::names;
use super::agents::{open, open_with, said, until_leave};
use super::{Story, path};
use crate::actions::pane::CloseTab;

fn running(id: &str, folder: &str, activity: SessionActivity) -> RunningSession {
    RunningSession {
        id: id.to_owned(),
        folder: path(folder),
        activity,
    }
}

fn status(story: &mut Story) -> String {
    let names = names(story, "the status bar");
    let agents = names
        .iter()
        .find_map(|name| name.strip_prefix("The agents of this folder: "));
    agents.unwrap_or_default().to_owned()
}

fn start(story: &mut Story, fake: &FakeAgents) {
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    for event in until_leave().into_iter().take(3) {
        fake.send_event(event);
    }
    story.settle();
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::Prompt(said("fix it"))]
    );
}

#[gpui_kit::test]
fn starting_a_session_sends_nothing_to_the_running_one(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    start(&mut story, &fake);
    story.act(NewSession);
    story.input("another task").keys("enter");
    story.settle();
    assert_eq!(fake.started().len(), 2);
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::Prompt(said("another task"))]
    );
    story.act(ShowSessions).keys("enter");
    story.settle();
    assert_eq!(fake.opened(), ["old"]);
    assert_eq!(fake.take_commands(), []);
}

#[gpui_kit::test]
fn background_sessions_are_counted_and_marked_in_the_list(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    start(&mut story, &fake);
    assert_eq!(status(&mut story), "1 agent works");
    story.act(NewSession);
    story.settle();
    fake.set_running(&[
        running("new", "/p", SessionActivity::Working),
        running("elsewhere", "/other", SessionActivity::Working),
        running("idle", "/p", SessionActivity::Idle),
    ]);
    story.settle();
    assert_eq!(status(&mut story), "1 agent works");
    fake.set_running(&[running("old", "/p", SessionActivity::WaitingForUser)]);
    story.settle();
    assert_eq!(status(&mut story), "1 agent waits for you");
    story.act(ShowSessions);
    story.settle();
    let rows = names(&mut story, "the panel for agents");
    let is_marked = rows.iter().any(|row| row.contains("needs your approval"));
    assert!(is_marked, "{rows:?}");
}

#[gpui_kit::test]
fn problems_of_start_up_and_of_sessions_are_notices(cx: &mut TestAppContext) {
    let (mut story, fake) = open_with(&["the prices table cannot be read"], cx);
    fake.set_notices(&["permissions.json cannot be read: every call is asked for"]);
    assert_eq!(story.reports(), Vec::<String>::new());
    start(&mut story, &fake);
    let reports = story.reports();
    assert_eq!(
        reports,
        [
            "permissions.json cannot be read: every call is asked for",
            "the prices table cannot be read"
        ]
    );
}

#[gpui_kit::test]
fn engines_hear_which_files_are_open(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let files = |open: &[&str], recent: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let files = OpenFiles {
            open: owned(open),
            recent: owned(recent),
        };
        Some((path("/p"), files))
    };
    story.open_file("main.rs");
    story.open_file("README.md");
    assert_eq!(fake.open_files(), files(&["README.md", "src/main.rs"], &[]));
    story.act(CloseTab);
    assert_eq!(fake.open_files(), files(&["src/main.rs"], &["README.md"]));
}
