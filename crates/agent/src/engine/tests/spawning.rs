//! Subagents in a turn.

use model::{ResponseScript, ScriptedClient};
use serde_json::json;

use super::super::{SessionLimits, SessionOptions, start};
use super::ask_by_tool_class::AskByToolClass;
use super::fakes::{Talk, World, assert_whole, calls, last, world_by};
use crate::outcome::CallOutcome;
use crate::record::{SessionRecord, TurnEnd};
use crate::session::{AgentEvent, SessionCommand};
use crate::user_prompts::PermissionDecision;

/// A model that delegates its work to a child, which does `work` and reports its findings.
fn family(spawn: serde_json::Value, work: &'static str) -> World {
    world_by(move |request| {
        let (text, results) = last(request);
        let id = format!("c{}", calls(request));
        match (text.as_str(), results) {
            ("go", _) => ResponseScript::calls(&[(&id, "spawn_agent", &spawn.to_string())]),
            ("dig", 0) => {
                let tool = if work.contains("writes") {
                    "edit"
                } else {
                    "look"
                };
                ResponseScript::calls(&[("inner", tool, work)])
            }
            (text, _) if text.contains("in the background has ended") => {
                ResponseScript::text("both done")
            }
            (_, 1) if calls(request) == 1 && request.messages[0] == user("dig") => {
                ResponseScript::text("gold")
            }
            _ => ResponseScript::text("done"),
        }
    })
}

fn user(text: &str) -> model::Message {
    model::Message::text(model::Role::User, text)
}

#[tokio::test(start_paused = true)]
async fn subagent_answer_is_the_call_result() {
    let world = family(json!({ "task": "dig" }), r#"{"ms":10}"#);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(
        talk.ends(),
        [("c0".to_owned(), CallOutcome::Ok, "gold".to_owned())]
    );
    assert_whole(&talk.records());
    let child = talk.told.iter().find_map(|event| match event {
        AgentEvent::Child { session, .. } => Some(session.clone()),
        _ => None,
    });
    let child = child.expect("it was heard of");
    let kept = world.kept(&child).await;
    assert_whole(&kept);
    assert!(
        matches!(&kept[0].record, SessionRecord::Began { parent: Some(parent), .. }
        if parent.session == talk.id.as_ref() && parent.call == "c0")
    );
    let children = world.harness.store().children(10).expect("listed");
    assert_eq!(children[talk.id.as_ref()][0].id, child.as_ref());
}

#[tokio::test(start_paused = true)]
async fn stopping_stops_subagents() {
    let world = family(json!({ "task": "dig" }), r#"{"ms":600000,"heeds":true}"#);
    let mut talk = world.open();
    talk.say("go").await;
    while !world.log().contains(&"+inner".to_owned()) {
        talk.next().await;
    }
    talk.tell(SessionCommand::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    assert_eq!(world.log(), ["+inner", "!inner"]);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(outcome, CallOutcome::UserAborted, "{text}");
    assert_whole(&talk.records());
    for line in world.harness.store().sessions(10).expect("listed") {
        assert_whole(&world.kept(&line.id).await);
    }
}

#[tokio::test(start_paused = true)]
async fn subagent_questions_reach_the_user() {
    let world = family(json!({ "task": "dig" }), r#"{"writes":["a"]}"#);
    let mut talk = Talk::new(start(SessionOptions {
        call_judge: std::sync::Arc::new(AskByToolClass::default()),
        ..world.begin()
    }));
    talk.say("go").await;
    let asked = |event: &AgentEvent| match event {
        AgentEvent::Child { event, .. } => {
            matches!(&**event, AgentEvent::Recorded(stored) if stored.record.kind() == "leave_asked")
        }
        _ => false,
    };
    let AgentEvent::Child { session, .. } = talk.until(asked).await else {
        unreachable!("it was looked for");
    };
    let (call, decision) = ("inner".to_owned(), PermissionDecision::Once);
    talk.tell(SessionCommand::Child {
        session: session.as_ref().to_owned(),
        command: Box::new(SessionCommand::Decide { call, decision }),
    })
    .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(world.log(), ["+inner", "-inner"]);
}

#[tokio::test(start_paused = true)]
async fn turn_waits_for_background_agents() {
    let world = family(
        json!({ "task": "dig", "background": true }),
        r#"{"ms":5000}"#,
    );
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let (_, _, text) = talk.ends().remove(0);
    assert!(text.contains("works in the background"), "{text}");
    let records = talk.records();
    let joined = records.iter().find_map(|stored| match &stored.record {
        SessionRecord::Joined { text, .. } if text.contains("has ended") => Some(text.clone()),
        _ => None,
    });
    assert!(joined.expect("it came").ends_with("gold"));
    assert_whole(&records);
}

#[tokio::test(start_paused = true)]
async fn subagent_nesting_is_limited() {
    let mind =
        super::super::ScriptedGateway::new(ScriptedClient::new([ResponseScript::text("hello")]));
    let limits = SessionLimits {
        depth: 0,
        ..SessionLimits::default()
    };
    let world = super::fakes::world_with(mind, limits);
    let mut talk = world.open();
    talk.ask("go").await;
    let tools = world.client.requests().remove(0).tools;
    assert!(tools.iter().all(|tool| tool.name != "spawn_agent"));
}
