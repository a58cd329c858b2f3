//! The behaviour of a turn, step by step.

use std::time::Duration;

use model::{
    Failure, FailureClass, PartContent, ResponseScript, Role, ScriptedClient, StopReason,
    StreamEvent as Piece,
};
use serde_json::json;
use tokio::time::Instant;

use super::super::{ScriptedGateway, SessionLimits};
use super::fakes::{assert_whole, kinds, prompt, world, world_with};
use crate::outcome::CallOutcome;
use crate::record::{SessionRecord, TurnEnd};
use crate::session::{AgentEvent, SessionCommand};

fn call(id: &str, arguments: serde_json::Value) -> (String, String) {
    (id.to_owned(), arguments.to_string())
}

/// Returns a response that calls `look` with each of these arguments.
fn looks(calls: &[(String, String)]) -> ResponseScript {
    let calls: Vec<(&str, &str, &str)> = calls
        .iter()
        .map(|(id, arguments)| (id.as_str(), "look", arguments.as_str()))
        .collect();
    ResponseScript::calls(&calls)
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_and_everything_is_on_the_disk() {
    let world = world([ResponseScript::text("Good day.")]);
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
            .any(|event| matches!(event, AgentEvent::Text(text) if text == "Good day."))
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
async fn independent_calls_run_in_parallel() {
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
        ResponseScript::text("done"),
    ]);
    let mut talk = world.open();
    talk.say("go").await;
    let is_end = |event: &AgentEvent, id: &str| {
        matches!(event, AgentEvent::Recorded(stored)
            if matches!(&stored.record, SessionRecord::CallEnded { call, .. } if call == id))
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
async fn calls_can_wait_for_their_predecessors() {
    let world = world([
        looks(&[
            call("slow", json!({ "ms": 100 })),
            call("quick", json!({ "ms": 10 })),
            call("last", json!({ "wait_for_previous": true })),
        ]),
        ResponseScript::text("done"),
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
            PartContent::ToolResult { call, .. } => Some(call.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["slow", "quick", "last"]);
}

#[tokio::test(start_paused = true)]
async fn invalid_calls_get_an_error_answer() {
    let world = world([
        ResponseScript::calls(&[
            ("1", "lok", "{}"),
            ("2", "look", r#"{"ms":"soon"}"#),
            ("3", "look", "{oops"),
            ("4", "look", r#"{"panic":"yes"}"#),
            ("5", "look", r#"{"say":"fine"}"#),
        ]),
        ResponseScript::text("done"),
    ]);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let mut ends = talk.ends();
    ends.sort();
    let expect = [
        (
            CallOutcome::InvalidArguments,
            "There is no tool lok; the nearest are look",
        ),
        (
            CallOutcome::InvalidArguments,
            "`ms` must be integer, and is a string",
        ),
        (CallOutcome::InvalidArguments, "not valid JSON"),
        (
            CallOutcome::Unknown,
            "The tool look failed unexpectedly (the fake was told to)",
        ),
        (CallOutcome::Ok, "fine"),
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
async fn prompts_queue_and_steering_follows_the_results() {
    let world = world([
        looks(&[call("1", json!({ "ms": 1000 }))]),
        ResponseScript::text("as you say"),
        ResponseScript::text("next"),
    ]);
    let mut talk = world.open();
    talk.say("first").await;
    talk.until(
        |event| matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "call_began"),
    )
    .await;
    talk.say("second").await;
    talk.tell(SessionCommand::Steer(prompt("but gently"))).await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(talk.end().await, TurnEnd::Done);
    let requests = world.client.requests();
    let last = requests[1].messages.last().expect("a message");
    assert_eq!(last.parts.len(), 2);
    assert_eq!(
        last.parts[1].content,
        PartContent::Text("but gently".to_owned())
    );
    let last = requests[2].messages.last().expect("a message");
    assert_eq!((last.role, last.parts.len()), (Role::User, 1));
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn stop_reason_decides_the_next_step() {
    let stop = |text: &str, reason| {
        ResponseScript::events([
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
        ResponseScript::fails(Failure::new(
            FailureClass::Budget,
            "The day's budget is spent.",
        )),
        ResponseScript::fails(Failure::new(FailureClass::Offline, "No network.")),
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
async fn complete_calls_of_a_broken_stream_run() {
    let torn = ResponseScript::events([
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
    let world = world([torn, ResponseScript::text("done")]);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(world.log(), ["+1", "-1"]);
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn long_conversation_is_compacted_once() {
    let too_long =
        || ResponseScript::fails(Failure::new(FailureClass::ContextOverflow, "Too long."));
    let mut scripts: Vec<ResponseScript> = (0..12)
        .map(|ix| {
            looks(&[call(
                &format!("c{ix}"),
                json!({ "say": format!("{ix}"), "fill": 5_000 }),
            )])
        })
        .collect();
    scripts.extend([too_long(), ResponseScript::text("made it")]);
    // From here on, nothing is short enough, and no summary can be written.
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
async fn summary_replaces_the_older_conversation() {
    let long = "x".repeat(900);
    // No usage is reported for these, so it is estimated from their bytes.
    let silent = |ix: u32| {
        ResponseScript::events([
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
    let mut scripts: Vec<ResponseScript> = (0..8).map(silent).collect();
    scripts.push(ResponseScript::text("All is well so far."));
    scripts.extend((8..10).map(silent));
    scripts.push(ResponseScript::text("done"));
    let mut mind = ScriptedGateway::new(ScriptedClient::new(scripts));
    let mut profile = mind.profile.as_ref().clone();
    profile.context = model::TokenCount(6_500);
    mind.profile = profile.into();
    let world = world_with(mind, SessionLimits::default());
    let mut talk = world.open();
    let end = talk.ask("the goal").await;
    let records = talk.records();
    let summaries: Vec<&String> = records
        .iter()
        .filter_map(|stored| match &stored.record {
            SessionRecord::Compacted { summary, .. } => Some(summary),
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
async fn repeated_loops_end_the_turn() {
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
async fn budget_limits_the_session() {
    use model::{Cost, Price, Rates, TokenRate};
    let mut mind = ScriptedGateway::new(ScriptedClient::new([
        looks(&[call("1", json!({}))]),
        ResponseScript::text("never"),
    ]));
    mind.price = Some(Price {
        base: Rates {
            input: Some(TokenRate(1_000_000)),
            output: Some(TokenRate(1_000_000)),
            ..Rates::default()
        },
        tiers: Vec::new(),
    });
    let world = world_with(mind, SessionLimits::default());
    let start = super::super::SessionOptions {
        budget: Some(Cost(50)).into(),
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
async fn tools_can_ask_the_user() {
    let world = world([
        looks(&[call("1", json!({ "ask": "Blue?" }))]),
        ResponseScript::text("done"),
    ]);
    let mut talk = world.open();
    talk.say("go").await;
    let asked = talk
        .until(|event| matches!(event, AgentEvent::Asking { .. }))
        .await;
    let AgentEvent::Asking { number, question } = asked else {
        unreachable!("it was looked for");
    };
    assert_eq!(question.text, "Blue?");
    let text = Some("Green.".to_owned());
    talk.tell(SessionCommand::Reply {
        question: number,
        text,
    })
    .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(talk.ends()[0].2, "Green.");
}
