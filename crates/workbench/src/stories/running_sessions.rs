//! Sessions that run while the panel shows something else, and what their engines have to say.

use agent::SessionCommand;
use composer_panel::actions::{NewSession, ShowSessions};
use composer_panel::agents::{FakeAgents, OpenFiles, RunningSession, SessionActivity};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{App, Role, TestAppContext};

use super::a11y::names;
use super::agents::{open, open_with, said, until_permission};
use super::{Story, path};
use crate::actions::app::{CloseWindow, Quit};
use crate::actions::pane::CloseTab;
use crate::window_registry::WindowRegistry;

fn running(id: &str, folder: &str, activity: SessionActivity) -> RunningSession {
    RunningSession {
        id: id.to_owned(),
        folder: path(folder),
        activity,
        waiting_for: match activity {
            SessionActivity::WaitingForUser => "cargo test".to_owned(),
            SessionActivity::Idle | SessionActivity::Working => String::new(),
        },
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
    for event in until_permission().into_iter().take(3) {
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
    let expected =
        "tidy the tests, needs you, cargo test \u{b7} Here \u{b7} local/coder \u{b7} now";
    let is_marked = rows.iter().any(|row| row == expected);
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
fn problems_outside_of_sessions_are_notices(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    let sentence = "the latest records of agents' sessions are not on the disk (it is full)";
    fake.report_problem(sentence);
    story.settle();
    assert_eq!(story.reports(), [sentence]);
}

#[gpui_kit::test]
fn engines_hear_which_files_are_open(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let files = |open: &[&str], recent: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let files = OpenFiles {
            terminals: Vec::new(),
            problems: None,
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

fn is_ending(story: &mut Story) -> bool {
    let registry = |cx: &mut App| cx.global::<WindowRegistry>().is_ending;
    story.cx.update(|_, cx| registry(cx))
}

fn asks(story: &mut Story) -> Option<String> {
    let dialogs = story
        .cx
        .update(|window, _| window.find_all_by_role(Role::AlertDialog));
    dialogs.first().and_then(|it| it.label().map(str::to_owned))
}

#[gpui_kit::test]
fn quitting_asks_first_while_agents_work(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    start(&mut story, &fake);
    fake.set_running(&[
        running("new", "/p", SessionActivity::Working),
        running("elsewhere", "/other", SessionActivity::WaitingForUser),
    ]);
    story.settle();
    story.act(Quit);
    assert_eq!(
        asks(&mut story).as_deref(),
        Some("Quit while 2 agents are at work?")
    );
    story.keys("enter");
    assert_eq!(asks(&mut story), None, "Cancel has the focus");
    assert!(!is_ending(&mut story));
    story.act(Quit).keys("right enter");
    story.settle();
    assert!(is_ending(&mut story));
}

#[gpui_kit::test]
fn closing_the_last_window_asks_first_while_agents_work(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    start(&mut story, &fake);
    story.act(CloseWindow);
    let question = asks(&mut story);
    assert_eq!(question.as_deref(), Some("Quit while an agent is at work?"));
    assert!(!is_ending(&mut story));
    story.keys("escape");
    assert!(!story.cx.simulate_close(), "the window's own button");
    assert!(asks(&mut story).is_some());
    story.keys("right enter");
    story.settle();
    assert!(is_ending(&mut story));
}

#[gpui_kit::test]
fn quitting_does_not_ask_while_no_agent_works(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    fake.set_running(&[running("new", "/p", SessionActivity::Idle)]);
    story.settle();
    story.act(Quit);
    assert!(is_ending(&mut story));
}
