//! The list of models with their facts, the effort, and the price of a switch.

use agent::record::{Handover, SessionMode, TurnEnd};
use agent::{AgentEvent, SessionCommand, SessionRecord};
use composer_panel::ModelTraits;
use composer_panel::agents::{FakeAgents, ModelEntry, ModelList};
use gpui_kit::TestAppContext;
use model::{Effort, Price, Rates, Tier, TokenRate};

use super::Story;
use super::a11y::names;
use super::agents::{open_with_models, recorded, said, until_permission};
use super::context::fill;

fn entry(id: &str, name: &str, traits: Option<ModelTraits>) -> ModelEntry {
    ModelEntry {
        id: id.to_owned(),
        name: name.to_owned(),
        about: String::new(),
        traits,
    }
}

fn open(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let far = ModelTraits {
        tier: Tier::Strong,
        price: Some(Price {
            base: Rates {
                input: Some(TokenRate(3_000_000)),
                output: Some(TokenRate(15_000_000)),
                ..Rates::default()
            },
            tiers: Vec::new(),
        }),
        context: 400_000,
        efforts: vec![Effort::Low, Effort::Medium, Effort::High],
        takes_images: Some(true),
    };
    let near = ModelTraits {
        tier: Tier::Fast,
        price: Some(Price::FREE),
        context: 32_000,
        efforts: Vec::new(),
        takes_images: Some(false),
    };
    let models = ModelList {
        models: vec![
            entry("auto", "Auto", None),
            entry("local/coder", "Coder", Some(near)),
            entry("far/big", "Big", Some(far)),
        ],
        default: "local/coder".to_owned(),
        ..ModelList::default()
    };
    open_with_models(models, cx)
}

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the window");
    names.iter().any(|name| name == wanted)
}

#[gpui_kit::test]
fn the_list_of_models_states_their_facts_and_their_efforts(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").keys("alt-/");
    story.settle();
    for wanted in [
        "Coder, fast \u{b7} free \u{b7} 32k context \u{b7} no images",
        "Big, strong \u{b7} $3 in, $15 out per million \u{b7} 400k context \u{b7} low to high effort \u{b7} images",
    ] {
        assert!(is_named(&mut story, wanted), "{wanted}");
    }
    assert!(!is_named(&mut story, "Effort: low, for the next message"));
    story.input("big").keys("enter");
    story.settle();
    assert!(is_named(&mut story, "Effort: auto"));
    // The model has levels, so that the list offers them.
    story.keys("alt-/").input("effort hi").keys("enter");
    story.settle();
    assert!(is_named(&mut story, "Effort: high"));
    story.input("fix it").keys("enter");
    story.settle();
    assert_eq!(
        fake.take_commands(),
        [
            SessionCommand::SetEffort(Effort::High),
            SessionCommand::Prompt(said("fix it"))
        ]
    );
    assert_eq!(fake.started()[0].model, "far/big");
    fake.send_event(recorded(SessionRecord::EffortSet {
        effort: Effort::High,
    }));
    story.settle();
    story.act(composer_panel::actions::ChooseEffort);
    story.input("low").keys("enter");
    story.settle();
    assert!(is_named(&mut story, "Effort: high \u{2192} low"));
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::SetEffort(Effort::Low)]
    );
}

#[gpui_kit::test]
fn a_switch_states_the_price_of_the_history(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    let began = SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Build,
        model: "local/coder".to_owned(),
    };
    fake.send_event(recorded(began));
    for event in until_permission().into_iter().take(4) {
        fake.send_event(event);
    }
    fake.send_event(fill(24_000, false));
    story.settle();
    story.keys("alt-/");
    story.settle();
    let seen = names(&mut story, "the models");
    let row = "Big, sends 24k tokens again: about $0.072 \u{b7} strong";
    assert!(seen.iter().any(|name| name.starts_with(row)), "{seen:?}");
    let own = "Coder, fast \u{b7} free";
    assert!(seen.iter().any(|name| name.starts_with(own)), "{seen:?}");
    story.input("big").keys("enter").keys("enter");
    story.settle();
    // The meter is that of the model that answers next.
    let next = "Context: about 24k of 400k tokens, 6 %, compacted from 320k tokens on";
    assert!(is_named(&mut story, next));
}

/// A session of 24,000 tokens whose first turn has ended.
fn conversation(cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    let began = SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Build,
        model: "local/coder".to_owned(),
    };
    fake.send_event(recorded(began));
    for event in until_permission().into_iter().take(4) {
        fake.send_event(event);
    }
    let end = SessionRecord::TurnEnded {
        turn: 1,
        end: TurnEnd::Done,
    };
    fake.send_event(recorded(end));
    fake.send_event(AgentEvent::Idle(TurnEnd::Done));
    fake.send_event(fill(24_000, false));
    story.settle();
    fake.take_commands();
    (story, fake)
}

fn switch(how: Handover) -> SessionCommand {
    SessionCommand::Switch {
        model: "far/big".to_owned(),
        how,
    }
}

#[gpui_kit::test]
fn a_switch_in_a_conversation_offers_the_history(cx: &mut TestAppContext) {
    let (mut story, fake) = conversation(cx);
    story.keys("alt-/").input("big").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), []);
    for wanted in [
        "Full history, sends 24k tokens again: about $0.072",
        "Summary, Coder writes it for free; your messages, rules and plan stay whole",
        "New session from a summary, a copy goes on with Big; Coder writes its summary for free; this session stays",
    ] {
        assert!(is_named(&mut story, wanted), "{wanted}");
    }
    // The complete history comes first.
    story.keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [switch(Handover::Full)]);
    // Escape changes nothing.
    story.keys("alt-/").input("big").keys("enter");
    story.settle();
    story.keys("escape");
    story.settle();
    assert_eq!(fake.take_commands(), []);
    story.keys("alt-/").input("big").keys("enter");
    story.settle();
    story.keys("down enter");
    story.settle();
    assert_eq!(fake.take_commands(), [switch(Handover::Summary)]);
    assert!(is_named(&mut story, "Coder \u{2192} Big"));
}

#[gpui_kit::test]
fn a_copy_goes_on_from_a_summary(cx: &mut TestAppContext) {
    let (mut story, fake) = conversation(cx);
    story.keys("alt-/").input("big").keys("enter");
    story.settle();
    story.keys("down down enter");
    story.settle();
    assert_eq!(fake.forks(), [("new".to_owned(), 0)]);
    assert_eq!(fake.opened().len(), 1);
    assert_eq!(fake.take_commands(), [switch(Handover::Summary)]);
    story.input("go on").keys("enter");
    story.settle();
    assert_eq!(
        fake.take_commands(),
        [SessionCommand::Prompt(said("go on"))]
    );
}

#[gpui_kit::test]
fn a_short_conversation_is_passed_on_whole(cx: &mut TestAppContext) {
    let (mut story, fake) = conversation(cx);
    fake.send_event(fill(900, false));
    story.settle();
    story.keys("alt-/").input("big").keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [switch(Handover::Full)]);
}

#[gpui_kit::test]
fn a_turn_of_auto_names_its_model_and_the_reason(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").input("fix it").keys("enter");
    let mut events = until_permission();
    events.truncate(4);
    let routed = recorded(SessionRecord::Routed {
        turn: 1,
        model: "far/big".to_owned(),
        reason: "it scores best for a step that needs a strong model".to_owned(),
    });
    events.insert(3, routed);
    for event in events {
        fake.send_event(event);
    }
    story.settle();
    let shown = story.read(|it, cx| {
        let transcript = it.agents().read(cx).transcript().expect("a session");
        format!("{:?}", transcript.items())
    });
    let (note, answer) = (
        shown.find("Auto chose far/big: it scores"),
        shown.find("I run **the"),
    );
    assert!(note.is_some() && note < answer, "{shown}");
}
