//! Permission requests and the decisions on them.

use std::sync::Arc;

use model::ResponseScript;

use super::super::{SessionOptions, start};
use super::ask_by_tool_class::AskByToolClass;
use super::fakes::{Talk, assert_whole, kinds, world};
use crate::outcome::{CallOutcome, Detail};
use crate::record::{SessionMode, SessionRecord, TurnEnd};
use crate::session::{AgentEvent, SessionCommand};
use crate::user_prompts::PermissionDecision;

fn is_asked(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "leave_asked")
}

#[tokio::test(start_paused = true)]
async fn other_calls_run_while_one_awaits_permission() {
    let world = world([
        ResponseScript::calls(&[
            ("asks", "edit", r#"{"writes":["a"]}"#),
            ("behind", "look", r#"{"reads":["a"]}"#),
            ("free", "look", r#"{"reads":["b"],"ms":10}"#),
        ]),
        ResponseScript::text("done"),
    ]);
    let mut talk = Talk::new(start(world.begin_with(Arc::new(AskByToolClass::default()))));
    talk.say("go").await;
    talk.until(is_asked).await;
    talk.until(
        |event| matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "call_ended"),
    )
    .await;
    assert_eq!(world.log(), ["+free", "-free"]);
    let (call, decision) = ("asks".to_owned(), PermissionDecision::Once);
    talk.tell(SessionCommand::Decide { call, decision }).await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(
        world.log(),
        ["+free", "-free", "+asks", "-asks", "+behind", "-behind"]
    );
    assert_whole(&talk.records());
}

async fn decide(decision: PermissionDecision, calls: usize) -> (Talk, Vec<String>) {
    let scripts = (0..calls).map(|ix| {
        let id = format!("c{ix}");
        ResponseScript::calls(&[(&id, "edit", r#"{"writes":["a"]}"#)])
    });
    let world = world(scripts.chain([ResponseScript::text("done")]));
    let mut talk = Talk::new(start(world.begin_with(Arc::new(AskByToolClass::default()))));
    talk.say("go").await;
    loop {
        let event = talk.next().await;
        match event {
            AgentEvent::Recorded(stored) => {
                if let SessionRecord::LeaveAsked { call, .. } = &stored.record {
                    let (call, decision) = (call.clone(), decision.clone());
                    talk.tell(SessionCommand::Decide { call, decision }).await;
                }
            }
            AgentEvent::Idle(_) => break,
            _ => {}
        }
    }
    assert_whole(&talk.records());
    (talk, world.log())
}

#[tokio::test(start_paused = true)]
async fn decisions_last_for_their_scope() {
    let asked = |talk: &Talk| {
        let kinds = kinds(&talk.records());
        kinds.iter().filter(|kind| **kind == "leave_asked").count()
    };
    let (talk, log) = decide(PermissionDecision::Once, 2).await;
    assert_eq!((asked(&talk), log.len()), (2, 4));
    let (talk, log) = decide(PermissionDecision::Session, 2).await;
    assert_eq!((asked(&talk), log.len()), (1, 4));
    let instead = Some("Use the other file.".to_owned());
    let (talk, log) = decide(PermissionDecision::Refuse { instead }, 1).await;
    assert_eq!((asked(&talk), log.len()), (1, 0));
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(outcome, CallOutcome::UserAborted);
    assert!(
        text.contains("the user refused it. They say: Use the other file."),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn permission_is_refused_without_a_user() {
    let world = world([
        ResponseScript::calls(&[("1", "exec", "{}")]),
        ResponseScript::text("done"),
    ]);
    let mut talk = Talk::new(start(SessionOptions {
        has_user: false,
        ..world.begin_with(Arc::new(AskByToolClass::default()))
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let (_, _, text) = talk.ends().remove(0);
    assert!(text.contains("no user is attached"), "{text}");
    assert!(world.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn modes_override_every_rule() {
    let calls = || {
        ResponseScript::calls(&[
            ("1", "look", "{}"),
            ("2", "edit", r#"{"writes":["src/main.rs"]}"#),
            ("3", "edit", r#"{"writes":[".burin/plans/roof.md"]}"#),
            ("4", "edit", r#"{"writes":[".burin/plans/../../x.md"]}"#),
            ("5", "exec", "{}"),
        ])
    };
    for (mode, may) in [
        (SessionMode::Plan, vec!["1", "3"]),
        (SessionMode::Ask, vec!["1"]),
        (SessionMode::Build, vec!["1", "2", "3", "4", "5"]),
    ] {
        let world = world([calls(), ResponseScript::text("done")]);
        let mut talk = Talk::new(start(SessionOptions {
            mode,
            ..world.begin()
        }));
        assert_eq!(talk.ask("go").await, TurnEnd::Done);
        let mut ok: Vec<String> = talk
            .ends()
            .into_iter()
            .filter(|end| end.1 == CallOutcome::Ok)
            .map(|end| end.0)
            .collect();
        ok.sort();
        assert_eq!(ok, may, "{mode:?}");
        let records = talk.records();
        let denied = records.iter().filter(|stored| {
            matches!(
                &stored.record,
                SessionRecord::CallEnded {
                    detail: Some(Detail::Denied),
                    ..
                }
            )
        });
        assert_eq!(denied.count(), 5 - may.len());
        let first = format!("{:?}", world.client.requests()[0].messages);
        assert_eq!(first.contains("plan mode"), mode == SessionMode::Plan);
    }
}

#[tokio::test(start_paused = true)]
async fn mode_changes_apply_from_the_next_request() {
    let world = world([
        ResponseScript::text("planned"),
        ResponseScript::calls(&[("1", "edit", r#"{"writes":["a"]}"#)]),
        ResponseScript::text("built"),
    ]);
    let mut talk = Talk::new(start(SessionOptions {
        mode: SessionMode::Plan,
        ..world.begin()
    }));
    talk.ask("plan").await;
    talk.tell(SessionCommand::SetMode(SessionMode::Build)).await;
    assert_eq!(
        talk.ask("Build the plan in @.burin/plans/a.md.").await,
        TurnEnd::Done
    );
    assert_eq!(world.log(), ["+1", "-1"]);
    assert!(kinds(&talk.records()).contains(&"mode_set"));
    // The offered tools stayed the same, so the prompt prefix did.
    let requests = world.client.requests();
    assert_eq!(requests[0].tools, requests[1].tools);
    assert_eq!(requests[0].system, requests[1].system);
    assert_whole(&talk.records());
}
