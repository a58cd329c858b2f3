//! Prompts to a turn that runs: sent, given back, kept in order.

use agent::record::{Delivery, TurnEnd};
use agent::session::QueueCommand;
use agent::{AgentEvent, SessionCommand};
use composer_panel::agents::FakeAgents;
use gpui_kit::TestAppContext;

use super::Story;
use super::a11y::names;
use super::agents::{open, said, until_permission};

#[gpui_kit::test]
fn steering_and_stopping(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("fix it").keys("enter");
    for event in until_permission().into_iter().take(3) {
        fake.send_event(event);
    }
    story.settle();
    fake.take_commands();
    story.input("mind the style").keys("enter");
    assert_eq!(fake.take_commands(), [steering("mind the style")]);
    story.keys("ctrl-shift-backspace");
    assert_eq!(fake.take_commands(), [SessionCommand::Stop]);
    // A prompt that was not started returns to the input box.
    fake.send_event(AgentEvent::GivenBack(said("mind the style")));
    story.settle();
    story.keys("enter");
    assert_eq!(fake.take_commands(), [steering("mind the style")]);
}

fn steering(text: &str) -> SessionCommand {
    SessionCommand::Queue(QueueCommand::Add {
        prompt: said(text),
        delivery: Delivery::NextRequest,
    })
}

/// Starts a turn, and steers it twice.
fn steered_twice(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("fix it").keys("enter");
    for event in until_permission().into_iter().take(3) {
        fake.send_event(event);
    }
    story.settle();
    story.input("mind the style").keys("enter");
    story.input("and the docs").keys("enter");
    fake.take_commands();
    (story, fake)
}

/// Presses Enter and returns the text of the prompt that is sent to the running turn.
fn sent_by_enter(story: &mut Story, fake: &FakeAgents) -> String {
    story.keys("enter");
    match fake.take_commands().pop() {
        Some(SessionCommand::Queue(QueueCommand::Add {
            prompt,
            delivery: Delivery::NextRequest,
        })) => prompt.text,
        other => panic!("no prompt was sent, but {other:?}"),
    }
}

#[gpui_kit::test]
fn enter_sends_the_prompt_as_it_is(cx: &mut TestAppContext) {
    let (mut story, fake) = steered_twice(cx);
    story.input("one two").keys("left left left");
    assert_eq!(sent_by_enter(&mut story, &fake), "one two");
    story.input("three").keys("ctrl-a");
    assert_eq!(sent_by_enter(&mut story, &fake), "three");
    story.input("four").keys("shift-enter").input("five");
    assert_eq!(sent_by_enter(&mut story, &fake), "four\nfive");
}

#[gpui_kit::test]
fn prompts_given_back_join_the_draft(cx: &mut TestAppContext) {
    let (mut story, fake) = steered_twice(cx);
    story.input("also").keys("left");
    fake.send_event(AgentEvent::GivenBack(said("mind the style")));
    fake.send_event(AgentEvent::GivenBack(said("and the docs")));
    story.settle();
    // The caret is still before the last letter.
    story.input("_");
    let all = "mind the style\n\nand the docs\n\nals_o";
    assert_eq!(sent_by_enter(&mut story, &fake), all);
}

#[gpui_kit::test]
fn prompts_given_back_one_by_one_keep_their_order(cx: &mut TestAppContext) {
    let (mut story, fake) = steered_twice(cx);
    fake.send_event(AgentEvent::GivenBack(said("mind the style")));
    story.settle();
    fake.send_event(AgentEvent::GivenBack(said("and the docs")));
    story.settle();
    story.input("!");
    let all = "mind the style\n\nand the docs!";
    assert_eq!(sent_by_enter(&mut story, &fake), all);
}

#[gpui_kit::test]
fn one_undo_takes_out_prompts_given_back(cx: &mut TestAppContext) {
    let (mut story, fake) = steered_twice(cx);
    story.input("my draft");
    fake.send_event(AgentEvent::GivenBack(said("mind the style")));
    fake.send_event(AgentEvent::GivenBack(said("and the docs")));
    story.settle();
    story.keys("ctrl-z");
    assert_eq!(sent_by_enter(&mut story, &fake), "my draft");
}

#[gpui_kit::test]
fn a_prompt_that_comes_back_by_itself_says_so(cx: &mut TestAppContext) {
    let is_said = |story: &mut Story| {
        let seen = names(story, "the panel for agents");
        seen.iter().any(|name| name.contains("was not sent"))
    };
    let (mut story, fake) = steered_twice(cx);
    story.keys("ctrl-shift-backspace");
    fake.send_event(AgentEvent::GivenBack(said("mind the style")));
    fake.send_event(AgentEvent::Idle(TurnEnd::Stopped));
    story.settle();
    assert!(!is_said(&mut story), "the user knows it");
    fake.send_event(AgentEvent::GivenBack(said("and the docs")));
    story.settle();
    assert!(is_said(&mut story));
    story.keys("enter");
    story.settle();
    assert!(!is_said(&mut story), "it is sent now");
}
