//! What a turn does, step by step.

use std::time::Duration;

use model::{
    Content, Event as Piece, Failure, FailureClass, Role, Script, ScriptedClient, StopReason,
};
use serde_json::json;
use tokio::time::Instant;

use super::super::{Limits, ScriptedMind};
use super::fakes::{assert_whole, kinds, prompt, world, world_with};
use crate::outcome::Outcome;
use crate::record::{Record, TurnEnd};
use crate::session::{Command, Event};

fn call(id: &str, arguments: serde_json::Value) -> (String, String) {
    (id.to_owned(), arguments.to_string())
}

/// An answer that calls `look` with each of these.
fn looks(calls: &[(String, String)]) -> Script {
    let calls: Vec<(&str, &str, &str)> = calls
        .iter()
        .map(|(id, arguments)| (id.as_str(), "look", arguments.as_str()))
        .collect();
    Script::calls(&calls)
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_and_everything_is_on_the_disk() {
    let world = world([Script::text("Good day.")]);
    let mut talk = world.open();
    assert_eq!(talk.ask("Hello").await, TurnEnd::Done);
    let records = talk.records();
    assert_eq!(
        kinds(&records),
        [
            "began",
            "joined",
            "prompted",
            "asked",
            "answered",
            "turn_ended"
        ]
    );
    assert!(
        talk.told
            .iter()
            .any(|event| matches!(event, Event::Text(text) if text == "Good day."))
    );
    assert_eq!(world.kept(&talk.id).await, records);
    assert_whole(&records);
    let request = world.client.requests().remove(0);
    assert_eq!(request.system[0].text, "You are a test.");
    assert_eq!(request.messages.len(), 1);
    assert_eq!(request.conversation.as_deref(), Some(talk.id.as_ref()));
    talk.close().await;
}

#[tokio::test(start_paused = true)]
async fn independent_calls_run_side_by_side_and_others_in_turn() {
    let calls: Vec<_> = (0..8)
        .map(|ix| {
            call(
                &format!("c{ix}"),
                json!({ "ms": 100, "writes": [format!("f{ix}")] }),
            )
        })
        .collect();
    let world = world([
        looks(&calls),
        looks(&[
            call("a", json!({ "ms": 100, "writes": ["same"] })),
            call("b", json!({ "ms": 100, "reads": ["same"] })),
            call("c", json!({ "ms": 100, "reads": ["same"] })),
        ]),
        Script::text("done"),
    ]);
    let mut talk = world.open();
    talk.say("go").await;
    let is_end = |event: &Event, id: &str| {
        matches!(event, Event::Recorded(stored)
            if matches!(&stored.record, Record::CallEnded { call, .. } if call == id))
    };
    let began = Instant::now();
    talk.until(|event| is_end(event, "c7")).await;
    let took = began.elapsed();
    assert!(took < Duration::from_millis(115), "{took:?}");
    let began = Instant::now();
    talk.until(|event| is_end(event, "c")).await;
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(200) && took < Duration::from_millis(230),
        "{took:?}"
    );
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn a_call_may_wait_for_those_before_it() {
    let world = world([
        looks(&[
            call("slow", json!({ "ms": 100 })),
            call("quick", json!({ "ms": 10 })),
            call("last", json!({ "wait_for_previous": true })),
        ]),
        Script::text("done"),
    ]);
    let mut talk = world.open();
    talk.ask("go").await;
    assert_eq!(
        world.log(),
        ["+slow", "+quick", "-quick", "-slow", "+last", "-last"]
    );
    // The model reads them in its own order.
    let request = world.client.requests().remove(1);
    let results: Vec<String> = request.messages[2]
        .parts
        .iter()
        .filter_map(|part| match &part.content {
            Content::ToolResult { call, .. } => Some(call.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["slow", "quick", "last"]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_make_no_sense_are_answered_in_words() {
    let world = world([
        Script::calls(&[
            ("1", "lok", "{}"),
            ("2", "look", r#"{"ms":"soon"}"#),
            ("3", "look", "{oops"),
            ("4", "look", r#"{"panic":"yes"}"#),
            ("5", "look", r#"{"say":"fine"}"#),
        ]),
        Script::text("done"),
    ]);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let mut ends = talk.ends();
    ends.sort();
    let expect = [
        (
            Outcome::InvalidArguments,
            "There is no tool lok; the nearest are look",
        ),
        (
            Outcome::InvalidArguments,
            "`ms` must be integer, and is a string",
        ),
        (Outcome::InvalidArguments, "no valid JSON"),
        (
            Outcome::Unknown,
            "The tool look failed in a way it never should (the fake was told to)",
        ),
        (Outcome::Ok, "fine"),
    ];
    for ((_, outcome, text), (wanted, part)) in ends.iter().zip(expect) {
        assert_eq!(*outcome, wanted, "{text}");
        assert!(text.contains(part), "{text}");
    }
    assert_whole(&talk.records());
    let measured = world
        .harness
        .store()
        .metrics(crate::stats::TOOL_CALL, 0)
        .expect("read");
    let unknown = measured
        .iter()
        .filter(|metric| metric.tags.contains("\"unknown\""));
    assert_eq!(unknown.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn prompts_queue_up_and_steering_joins_the_results() {
    let world = world([
        looks(&[call("1", json!({ "ms": 1000 }))]),
        Script::text("as you say"),
        Script::text("next"),
    ]);
    let mut talk = world.open();
    talk.say("first").await;
    talk.until(
        |event| matches!(event, Event::Recorded(stored) if stored.record.kind() == "call_began"),
    )
    .await;
    talk.say("second").await;
    talk.tell(Command::Steer(prompt("but gently"))).await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(talk.end().await, TurnEnd::Done);
    let requests = world.client.requests();
    let last = requests[1].messages.last().expect("a message");
    assert_eq!(last.parts.len(), 2);
    assert_eq!(
        last.parts[1].content,
        Content::Text("but gently".to_owned())
    );
    let last = requests[2].messages.last().expect("a message");
    assert_eq!((last.role, last.parts.len()), (Role::User, 1));
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn how_an_answer_stops_decides_how_the_turn_goes_on() {
    let stop = |text: &str, reason| {
        Script::events([
            Piece::TextDelta(text.to_owned()),
            Piece::Stop {
                reason,
                raw: String::new(),
            },
        ])
    };
    let world = world([
        stop("half", StopReason::MaxTokens),
        stop("paused", StopReason::Pause),
        stop("whole", StopReason::EndTurn),
        stop("I will not", StopReason::Refusal),
        Script::fails(Failure::new(
            FailureClass::Budget,
            "The day's budget is spent.",
        )),
        Script::fails(Failure::new(FailureClass::Offline, "No network.")),
    ]);
    let mut talk = world.open();
    assert_eq!(talk.ask("one").await, TurnEnd::Done);
    let requests = world.client.requests();
    let after_cut = requests[1].messages.last().expect("a message");
    assert!(format!("{after_cut:?}").contains("cut off"));
    let after_pause = requests[2].messages.last().expect("a message");
    assert_eq!(after_pause.role, Role::Assistant);
    assert_eq!(talk.ask("two").await, TurnEnd::Refused);
    let what = "The day's budget is spent.".to_owned();
    assert_eq!(talk.ask("three").await, TurnEnd::OutOfBudget { what });
    let (class, what) = ("offline".to_owned(), "No network.".to_owned());
    assert_eq!(talk.ask("four").await, TurnEnd::Failed { class, what });
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn what_was_complete_before_a_tear_runs() {
    let torn = Script::events([
        Piece::ToolStart {
            index: 0,
            id: "1".to_owned(),
            name: "look".to_owned(),
        },
        Piece::ToolArgsDelta {
            index: 0,
            fragment: "{}".to_owned(),
        },
        Piece::ToolEnd { index: 0 },
        Piece::ToolStart {
            index: 1,
            id: "2".to_owned(),
            name: "look".to_owned(),
        },
        Piece::Failed(Failure::new(FailureClass::Torn, "torn")),
    ]);
    let world = world([torn, Script::text("done")]);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(world.log(), ["+1", "-1"]);
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_is_made_shorter_once() {
    let too_long = || Script::fails(Failure::new(FailureClass::ContextOverflow, "Too long."));
    let mut scripts: Vec<Script> = (0..12)
        .map(|ix| {
            looks(&[call(
                &format!("c{ix}"),
                json!({ "say": format!("{ix}"), "fill": 5_000 }),
            )])
        })
        .collect();
    scripts.extend([too_long(), Script::text("made it")]);
    // From here on nothing is short enough, and no summary can be written either.
    scripts.extend((0..100).map(|_| too_long()));
    let world = world(scripts);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let compacted = |talk: &super::fakes::Talk| {
        kinds(&talk.records())
            .iter()
            .filter(|kind| **kind == "compacted")
            .count()
    };
    assert_eq!(compacted(&talk), 1);
    let requests = world.client.requests();
    let size = |ix: usize| format!("{:?}", requests[ix].messages).len();
    assert!(size(13) * 2 < size(12), "{} and {}", size(12), size(13));
    let class = "context_overflow".to_owned();
    let what = "Too long.".to_owned();
    assert_eq!(talk.ask("again").await, TurnEnd::Failed { class, what });
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn a_summary_stands_for_what_came_before() {
    let long = "x".repeat(900);
    // Nobody tells what these used, so it is guessed from their bytes.
    let silent = |ix: u32| {
        Script::events([
            Piece::ToolStart {
                index: 0,
                id: format!("c{ix}"),
                name: "look".to_owned(),
            },
            Piece::ToolArgsDelta {
                index: 0,
                fragment: json!({ "say": format!("{ix}{long}") }).to_string(),
            },
            Piece::ToolEnd { index: 0 },
            Piece::Stop {
                reason: StopReason::ToolUse,
                raw: String::new(),
            },
        ])
    };
    let mut scripts: Vec<Script> = (0..8).map(silent).collect();
    scripts.push(Script::text("All is well so far."));
    scripts.extend((8..10).map(silent));
    scripts.push(Script::text("done"));
    let mut mind = ScriptedMind::new(ScriptedClient::new(scripts));
    let mut profile = mind.profile.as_ref().clone();
    profile.context = model::TokenCount(6_500);
    mind.profile = profile.into();
    let world = world_with(mind, Limits::default());
    let mut talk = world.open();
    let end = talk.ask("the goal").await;
    let records = talk.records();
    let summaries: Vec<&String> = records
        .iter()
        .filter_map(|stored| match &stored.record {
            Record::Compacted { summary, .. } => Some(summary),
            _ => None,
        })
        .collect();
    assert_eq!(summaries.len(), 1, "{:?}", kinds(&records));
    assert!(summaries[0].contains("the goal"), "{}", summaries[0]);
    assert!(
        summaries[0].ends_with("All is well so far."),
        "{}",
        summaries[0]
    );
    assert_whole(&records);
    assert_eq!(end, TurnEnd::Done);
}

#[tokio::test(start_paused = true)]
async fn going_in_circles_ends_the_turn() {
    let scripts = (0..20).map(|ix| looks(&[call(&format!("c{ix}"), json!({ "say": "same" }))]));
    let world = world(scripts);
    let mut talk = world.open();
    let end = talk.ask("go").await;
    assert!(
        matches!(&end, TurnEnd::Looped { what } if what.contains("8 times")),
        "{end:?}"
    );
    let requests = world.client.requests();
    assert_eq!(requests.len(), 8);
    assert!(format!("{:?}", requests[4].messages.last()).contains("You are going in circles"));
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn a_session_may_cost_no_more_than_it_may() {
    use model::{Cost, Price, Rate, Rates};
    let mut mind = ScriptedMind::new(ScriptedClient::new([
        looks(&[call("1", json!({}))]),
        Script::text("never"),
    ]));
    mind.price = Some(Price {
        base: Rates {
            input: Some(Rate(1_000_000)),
            output: Some(Rate(1_000_000)),
            ..Rates::default()
        },
        tiers: Vec::new(),
    });
    let world = world_with(mind, Limits::default());
    let start = super::super::Start {
        budget: Some(Cost(50)),
        ..world.begin()
    };
    let mut talk = super::fakes::Talk::new(super::super::start(start));
    let end = talk.ask("go").await;
    assert!(
        matches!(&end, TurnEnd::OutOfBudget { what } if what.contains("may cost")),
        "{end:?}"
    );
    assert_eq!(world.client.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_ask_the_person() {
    let world = world([
        looks(&[call("1", json!({ "ask": "Blue?" }))]),
        Script::text("done"),
    ]);
    let mut talk = world.open();
    talk.say("go").await;
    let asked = talk
        .until(|event| matches!(event, Event::Asking { .. }))
        .await;
    let Event::Asking { number, question } = asked else {
        unreachable!("it was looked for");
    };
    assert_eq!(question.text, "Blue?");
    let text = Some("Green.".to_owned());
    talk.tell(Command::Reply {
        question: number,
        text,
    })
    .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(talk.ends()[0].2, "Green.");
}
