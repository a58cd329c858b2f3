//! A plan is made by one model and built by another.

use agent::record::{Handover, SessionMode, TodoItem, TodoState, TurnEnd};
use agent::{AgentEvent, SessionCommand, SessionRecord};
use composer_panel::agents::FakeAgents;
use gpui_kit::TestAppContext;
use gpui_kit::test::TestQueryExt as _;

use super::Story;
use super::a11y::names;
use super::agents::{open, recorded, until_permission};

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name == wanted)
}

fn planned(states: [TodoState; 2]) -> AgentEvent {
    let texts = ["write the test", "mend the code"];
    let todos = texts.into_iter().zip(states);
    recorded(SessionRecord::Planned {
        todos: todos
            .map(|(text, state)| TodoItem {
                text: text.to_owned(),
                state,
            })
            .collect(),
    })
}

/// A session that made a plan, in a window with these settings.
fn with_plan(settings: &str, cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    story
        .files
        .write(&super::path("/burin/config/settings.json"), settings);
    story.settle();
    story.keys("ctrl-alt-b").keys("alt-m");
    story.input("plan it").keys("enter");
    story.settle();
    fake.send_event(recorded(SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Plan,
        model: fake.started()[0].model.clone(),
    }));
    for event in until_permission().into_iter().take(4) {
        fake.send_event(event);
    }
    fake.send_event(planned([TodoState::Open, TodoState::Open]));
    story.settle();
    assert!(
        !is_named(&mut story, "Build this plan"),
        "it is still planning"
    );
    let end = TurnEnd::Done;
    fake.send_event(recorded(SessionRecord::TurnEnded {
        turn: 1,
        end: end.clone(),
    }));
    fake.send_event(AgentEvent::Idle(end));
    story.settle();
    fake.take_commands();
    (story, fake)
}

fn is_build_prompt(command: Option<&SessionCommand>) -> bool {
    matches!(command, Some(SessionCommand::Prompt(prompt)) if prompt.text.starts_with("Build this plan."))
}

#[gpui_kit::test]
fn a_plan_is_built_by_a_key_and_its_steps_tick(cx: &mut TestAppContext) {
    let (mut story, fake) = with_plan("{}", cx);
    assert!(is_named(&mut story, "Build this plan"));
    assert!(is_named(&mut story, "mend the code, open"));
    story.keys("alt-g");
    let commands = fake.take_commands();
    assert_eq!(commands[0], SessionCommand::SetMode(SessionMode::Build));
    assert!(is_build_prompt(commands.get(1)), "{commands:?}");
    assert_eq!(commands.len(), 2);
    fake.send_event(recorded(SessionRecord::ModeSet {
        mode: SessionMode::Build,
    }));
    fake.send_event(planned([TodoState::Done, TodoState::Doing]));
    story.settle();
    assert!(is_named(&mut story, "write the test, done"));
    assert!(is_named(&mut story, "mend the code, in progress"));
    assert!(
        !is_named(&mut story, "Build this plan"),
        "it is being built"
    );
    story.keys("alt-g");
    assert_eq!(fake.take_commands(), []);
}

#[gpui_kit::test]
fn the_settings_pair_a_planner_with_a_builder(cx: &mut TestAppContext) {
    let settings = r#"{ "agents": { "planner_model": "far/thinker", "builder_model": "demo" } }"#;
    let (mut story, fake) = with_plan(settings, cx);
    assert_eq!(fake.started()[0].model, "far/thinker");
    let button = story
        .cx
        .update(|window, _| window.find_by_label("Build this plan"));
    let at = button.bounds().center();
    story.cx.simulate_click(at, gpui_kit::Modifiers::default());
    story.settle();
    let commands = fake.take_commands();
    assert_eq!(
        commands[..2],
        [
            SessionCommand::SetMode(SessionMode::Build),
            SessionCommand::Switch {
                model: "demo".to_owned(),
                how: Handover::Full
            }
        ]
    );
    assert!(is_build_prompt(commands.get(2)), "{commands:?}");
}
