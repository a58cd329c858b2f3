//! The meter of the context below the prompt, and the list of what fills it.

use agent::fill::{ContextFill, FillPart};
use agent::record::SessionMode;
use agent::{AgentEvent, SessionCommand};
use composer_panel::actions::ShowContext;
use composer_panel::agents::FakeAgents;
use gpui_kit::TestAppContext;
use gpui_kit::test::TestQueryExt as _;

use super::Story;
use super::a11y::names;
use super::agents::{open, until_permission};

pub(super) fn fill(tokens: u64, is_estimate: bool) -> AgentEvent {
    AgentEvent::Fill {
        fill: ContextFill {
            tokens,
            is_estimate,
            window: 200_000,
            compact_at: 160_000,
            parts: vec![
                (FillPart::Tools, tokens / 4),
                (FillPart::Messages, tokens - tokens / 4),
            ],
        },
        cost_nano: Some(250_000_000),
    }
}

/// A session that has answered once.
pub(super) fn answered(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    for event in until_permission().into_iter().take(4) {
        fake.send_event(event);
    }
    story.settle();
    fake.take_commands();
    (story, fake)
}

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name == wanted)
}

#[gpui_kit::test]
fn the_meter_shows_the_last_request_and_its_limit(cx: &mut TestAppContext) {
    let (mut story, fake) = answered(cx);
    fake.send_event(fill(24_000, false));
    story.settle();
    let exact = "Context: 24k of 200k tokens, 12 %, compacted from 160k tokens on";
    assert!(is_named(&mut story, exact));
    // A second answer replaces the number, and an estimate says what it is.
    fake.send_event(fill(30_000, true));
    story.settle();
    let about = "Context: about 30k of 200k tokens, 15 %, compacted from 160k tokens on";
    assert!(is_named(&mut story, about));
    fake.send_event(fill(170_000, false));
    story.settle();
    let full = "Context: 170k of 200k tokens, 85 %, compacted with the next request";
    assert!(is_named(&mut story, full));
}

#[gpui_kit::test]
fn the_list_of_the_context_compacts_the_conversation(cx: &mut TestAppContext) {
    let (mut story, fake) = answered(cx);
    fake.send_event(fill(24_000, false));
    story.settle();
    story.keys("alt-u");
    story.settle();
    for wanted in [
        "Contents of the context",
        "Tools: 6k tokens, 25 %",
        "Messages: 18k tokens, 75 %",
    ] {
        assert!(is_named(&mut story, wanted), "{wanted}");
    }
    story.keys("escape");
    story.settle();
    assert!(!is_named(&mut story, "Contents of the context"));
    // The prompt has the focus again.
    story.input("and then");
    story.keys("alt-u");
    story.settle();
    assert!(is_named(&mut story, "Compact now"));
    story.keys("alt-k");
    story.settle();
    assert_eq!(fake.take_commands(), [SessionCommand::Compact]);
    assert!(!is_named(&mut story, "Contents of the context"));
    story.keys("alt-k");
    assert_eq!(fake.take_commands(), [SessionCommand::Compact]);
}

#[gpui_kit::test]
fn a_session_without_history_keeps_the_settings(cx: &mut TestAppContext) {
    let (mut story, fake) = answered(cx);
    fake.send_event(fill(24_000, false));
    story.settle();
    story.keys("alt-m").keys("alt-u");
    story.settle();
    fake.take_commands();
    let button = story
        .cx
        .update(|window, _| window.find_by_label("New session without history"));
    let at = button.bounds().center();
    story.cx.simulate_click(at, gpui_kit::Modifiers::default());
    story.settle();
    assert!(!is_named(&mut story, "Contents of the context"));
    story.input("again").keys("enter");
    story.settle();
    let started = fake.started();
    assert_eq!(started.len(), 2);
    assert_eq!(
        (started[1].mode, &started[1].model),
        (SessionMode::Plan, &started[0].model)
    );
}

#[gpui_kit::test]
fn without_an_answer_there_is_no_list_of_the_context(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.act(ShowContext);
    let seen = names(&mut story, "the panel for agents");
    let why = "measured with the first answer";
    assert!(seen.iter().any(|name| name.contains(why)), "{seen:?}");
}
