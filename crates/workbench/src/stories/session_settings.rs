//! The mode and the model that the panel shows for the session it addresses.

use agent::record::{Handover, SessionMode};
use agent::{AgentEvent, SessionCommand, SessionRecord};
use composer_panel::actions::{NewSession, NextMode, ShowBoard, ShowSessions};
use composer_panel::agents::{FakeAgents, FakeRequest};
use gpui_kit::TestAppContext;

use super::Story;
use super::a11y::names;
use super::agents::{open, recorded, said, until_permission};

fn began(mode: SessionMode, model: &str) -> AgentEvent {
    recorded(SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode,
        model: model.to_owned(),
    })
}

/// Opens the session of the list, which began with this mode and model.
fn open_session(story: &mut Story, fake: &FakeAgents, mode: SessionMode, model: &str) {
    story.act(ShowSessions).keys("enter");
    story.settle();
    fake.send_event(began(mode, model));
    story.settle();
}

#[track_caller]
fn check(story: &mut Story, mode: &str, model: &str) {
    let names = names(story, "the panel for agents");
    for wanted in [mode, model] {
        assert!(
            names.iter().any(|name| name == wanted),
            "{wanted}: {names:?}"
        );
    }
}

#[gpui_kit::test]
fn labels_are_those_of_the_opened_session(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story
        .keys("ctrl-alt-b")
        .keys("alt-/")
        .input("demo")
        .keys("enter");
    story.settle();
    story.keys("alt-m");
    check(&mut story, "Plan", "Demo model");
    open_session(&mut story, &fake, SessionMode::Build, "local/coder");
    check(&mut story, "Build", "Coder");
    assert_eq!(fake.take_commands(), []);
    // A new session gets what the user chose last.
    story.act(NewSession);
    check(&mut story, "Plan", "Demo model");
    story.input("plan it").keys("enter");
    story.settle();
    let started = fake.started();
    assert_eq!(
        (started[0].mode, started[0].model.as_str()),
        (SessionMode::Plan, "demo")
    );
    check(&mut story, "Plan", "Demo model");
}

#[gpui_kit::test]
fn a_choice_is_shown_until_the_session_takes_it(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    open_session(&mut story, &fake, SessionMode::Build, "local/coder");
    for event in until_permission().into_iter().take(3) {
        fake.send_event(event);
    }
    story.settle();
    story.keys("alt-m");
    story.settle();
    check(&mut story, "Build \u{2192} Plan", "Coder");
    story.keys("alt-/").input("demo").keys("enter");
    story.settle();
    check(
        &mut story,
        "Build \u{2192} Plan",
        "Coder \u{2192} Demo model",
    );
    assert_eq!(
        fake.take_commands(),
        [
            SessionCommand::SetMode(SessionMode::Plan),
            SessionCommand::Switch {
                model: "demo".to_owned(),
                how: Handover::Full
            }
        ]
    );
    fake.send_event(recorded(SessionRecord::ModeSet {
        mode: SessionMode::Plan,
    }));
    fake.send_event(recorded(SessionRecord::Switched {
        from: "local/coder".to_owned(),
        to: "demo".to_owned(),
        how: Handover::Full,
    }));
    story.settle();
    check(&mut story, "Plan", "Demo model");
}

#[gpui_kit::test]
fn a_choice_can_be_taken_back(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    open_session(&mut story, &fake, SessionMode::Build, "local/coder");
    for choice in ["demo", "coder"] {
        story.keys("alt-/").input(choice).keys("enter");
        story.settle();
    }
    check(&mut story, "Build", "Coder");
    let switch = |model: &str| SessionCommand::Switch {
        model: model.to_owned(),
        how: Handover::Full,
    };
    assert_eq!(
        fake.take_commands(),
        [switch("demo"), switch("local/coder")]
    );
}

#[gpui_kit::test]
fn a_choice_reaches_a_session_that_is_being_started(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.hold(FakeRequest::Start);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    story.keys("alt-m");
    story.settle();
    check(&mut story, "Plan", "Coder");
    fake.release(FakeRequest::Start);
    story.settle();
    assert_eq!(
        fake.take_commands(),
        [
            SessionCommand::SetMode(SessionMode::Plan),
            SessionCommand::Prompt(said("fix it"))
        ]
    );
    check(&mut story, "Plan", "Coder");
    fake.send_event(began(SessionMode::Plan, "local/coder"));
    story.settle();
    check(&mut story, "Plan", "Coder");
}

#[gpui_kit::test]
fn choices_on_the_board_stay_out_of_the_open_session(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    open_session(&mut story, &fake, SessionMode::Ask, "local/coder");
    story.act(ShowBoard);
    check(&mut story, "Build", "Coder");
    story.act(NextMode);
    check(&mut story, "Plan", "Coder");
    assert_eq!(fake.take_commands(), []);
    story.act(ShowBoard);
    check(&mut story, "Ask", "Coder");
}
