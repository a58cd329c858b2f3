//! Prompts that are sent while the engines still start, load or fail.

use agent::SessionCommand;
use composer_panel::actions::{NewSession, ShowBoard, ShowSessions, Stop};
use composer_panel::agents::{FakeAgents, FakeRequest};
use composer_panel::board::{Command, StartAgents};
use gpui_kit::TestAppContext;

use super::a11y::names;
use super::agents::{open, said, until_permission};
use super::{Story, path};

/// Opens a panel and sends "fix it"; the session does not start until the test releases it.
fn held_start(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    fake.hold(FakeRequest::Start);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), []);
    (story, fake)
}

fn is_shown(story: &mut Story, sentence: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name.contains(sentence))
}

fn shows_session(story: &mut Story) -> bool {
    story.read(|it, cx| it.agents().read(cx).transcript().is_some())
}

fn prompt(text: &str) -> SessionCommand {
    SessionCommand::Prompt(said(text))
}

#[gpui_kit::test]
fn the_session_list_does_not_cancel_a_start(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    story.act(ShowSessions);
    fake.release(FakeRequest::Start);
    story.settle();
    assert_eq!(fake.take_commands(), [prompt("fix it")]);
    assert!(is_shown(&mut story, "tidy the tests"), "the list stays");
    story.keys("escape");
    assert!(shows_session(&mut story));
}

#[gpui_kit::test]
fn a_start_goes_on_behind_the_session_opened_meanwhile(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    story.act(ShowSessions).keys("enter");
    story.settle();
    assert_eq!(fake.opened(), ["old"]);
    fake.release(FakeRequest::Start);
    story.settle();
    assert_eq!(fake.take_commands(), [prompt("fix it")]);
    // Events of the started session do not reach the panel.
    for event in until_permission() {
        fake.send_event(event);
    }
    story.settle();
    let items = story.read(|it, cx| {
        let transcript = it.agents().read(cx).transcript();
        transcript.map(|it| it.items().len())
    });
    assert_eq!(items, Some(0));
}

#[gpui_kit::test]
fn two_starts_run_side_by_side(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    story.act(NewSession);
    story.input("another task").keys("enter");
    fake.release(FakeRequest::Start);
    story.settle();
    assert_eq!(fake.started().len(), 2);
    let mut commands = fake.take_commands();
    commands.sort_by_key(|command| format!("{command:?}"));
    assert_eq!(commands, [prompt("another task"), prompt("fix it")]);
}

#[gpui_kit::test]
fn a_further_prompt_joins_the_session_being_started(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    story.input("and the docs").keys("enter");
    fake.release(FakeRequest::Start);
    story.settle();
    assert_eq!(fake.started().len(), 1);
    assert_eq!(
        fake.take_commands(),
        [
            prompt("fix it"),
            SessionCommand::Steer(said("and the docs"))
        ]
    );
}

#[gpui_kit::test]
fn a_failed_start_returns_all_prompts(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    story.input("and the docs").keys("enter").input("tests too");
    fake.refuse(FakeRequest::Start, Some("no server answers"));
    fake.release(FakeRequest::Start);
    story.settle();
    assert!(is_shown(&mut story, "no server answers"));
    fake.refuse(FakeRequest::Start, None);
    story.keys("enter");
    story.settle();
    assert_eq!(
        fake.take_commands(),
        [prompt("fix it\n\nand the docs\n\ntests too")]
    );
    assert!(!is_shown(&mut story, "no server answers"));
}

#[gpui_kit::test]
fn stop_returns_the_prompt_of_a_start(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    story.act(Stop);
    fake.release(FakeRequest::Start);
    story.settle();
    assert!(fake.started().is_empty());
    story.input(" now").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [prompt("fix it now")]);
}

#[gpui_kit::test]
fn another_folder_does_not_show_the_session_of_the_previous_one(cx: &mut TestAppContext) {
    let (mut story, fake) = held_start(cx);
    let panel = story.read(|it, _| it.agents().clone());
    story.cx.update(|window, cx| {
        panel.update(cx, |panel, cx| {
            panel.set_root(Some(path("/other")), window, cx);
        });
    });
    fake.release(FakeRequest::Start);
    story.settle();
    assert_eq!(fake.started()[0].root, path("/p"));
    assert_eq!(fake.take_commands(), [prompt("fix it")]);
    assert!(!shows_session(&mut story));
}

#[gpui_kit::test]
fn models_still_load_after_a_prompt_was_sent(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.hold(FakeRequest::Models);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    story.act(ShowSessions);
    fake.release(FakeRequest::Models);
    story.settle();
    let models = story.read(|it, cx| it.agents().read(cx).models().models.len());
    assert_eq!(models, 2);
    assert_eq!(fake.started()[0].model, "local/coder");
    assert_eq!(fake.take_commands(), [prompt("fix it")]);
}

/// A panel that has sent "tidy up" to a board that is not open yet.
fn held_board(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    fake.hold(FakeRequest::Board);
    story.keys("ctrl-alt-b").keys("alt-n");
    story.input("tidy up").keys("enter");
    story.settle();
    (story, fake)
}

#[gpui_kit::test]
fn agents_start_once_the_board_is_open(cx: &mut TestAppContext) {
    let (mut story, fake) = held_board(cx);
    // To the session page and back.
    story.act(ShowBoard).act(ShowBoard);
    fake.release(FakeRequest::Board);
    story.settle();
    let commands = fake.take_board_commands();
    assert!(
        matches!(&commands[..], [Command::Start(StartAgents { prompt, .. })] if prompt == "tidy up"),
        "{commands:?}"
    );
}

#[gpui_kit::test]
fn a_board_that_cannot_open_returns_the_prompt(cx: &mut TestAppContext) {
    let (mut story, fake) = held_board(cx);
    fake.refuse(FakeRequest::Board, Some("this folder is no Git checkout"));
    fake.release(FakeRequest::Board);
    story.settle();
    assert!(is_shown(&mut story, "this folder is no Git checkout"));
    fake.refuse(FakeRequest::Board, None);
    story.keys("i").keys("enter");
    story.settle();
    let commands = fake.take_board_commands();
    assert!(
        matches!(&commands[..], [Command::Start(StartAgents { prompt, .. })] if prompt == "tidy up"),
        "{commands:?}"
    );
}
