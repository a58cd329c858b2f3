//! What needs leave, and who gives it.

use std::sync::Arc;

use model::Script;

use super::super::{Start, start};
use super::fakes::{Talk, assert_whole, kinds, world};
use crate::ask::Decision;
use crate::leave::AskFirst;
use crate::outcome::{Detail, Outcome};
use crate::record::{Mode, Record, TurnEnd};
use crate::session::{Command, Event};

fn is_asked(event: &Event) -> bool {
    matches!(event, Event::Recorded(stored) if stored.record.kind() == "leave_asked")
}

#[tokio::test(start_paused = true)]
async fn others_go_on_while_one_waits_for_leave() {
    let world = world([
        Script::calls(&[
            ("asks", "edit", r#"{"writes":["a"]}"#),
            ("behind", "look", r#"{"reads":["a"]}"#),
            ("free", "look", r#"{"reads":["b"],"ms":10}"#),
        ]),
        Script::text("done"),
    ]);
    let mut talk = Talk::new(start(world.begin_with(Arc::new(AskFirst::default()))));
    talk.say("go").await;
    talk.until(is_asked).await;
    talk.until(
        |event| matches!(event, Event::Recorded(stored) if stored.record.kind() == "call_ended"),
    )
    .await;
    assert_eq!(world.log(), ["+free", "-free"]);
    let (call, decision) = ("asks".to_owned(), Decision::Once);
    talk.tell(Command::Decide { call, decision }).await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(
        world.log(),
        ["+free", "-free", "+asks", "-asks", "+behind", "-behind"]
    );
    assert_whole(&talk.records());
}

async fn decide(decision: Decision, calls: usize) -> (Talk, Vec<String>) {
    let scripts = (0..calls).map(|ix| {
        let id = format!("c{ix}");
        Script::calls(&[(&id, "edit", r#"{"writes":["a"]}"#)])
    });
    let world = world(scripts.chain([Script::text("done")]));
    let mut talk = Talk::new(start(world.begin_with(Arc::new(AskFirst::default()))));
    talk.say("go").await;
    loop {
        let event = talk.next().await;
        match event {
            Event::Recorded(stored) => {
                if let Record::LeaveAsked { call, .. } = &stored.record {
                    let (call, decision) = (call.clone(), decision.clone());
                    talk.tell(Command::Decide { call, decision }).await;
                }
            }
            Event::Idle(_) => break,
            _ => {}
        }
    }
    assert_whole(&talk.records());
    (talk, world.log())
}

#[tokio::test(start_paused = true)]
async fn a_decision_holds_as_long_as_it_says() {
    let asked = |talk: &Talk| {
        let kinds = kinds(&talk.records());
        kinds.iter().filter(|kind| **kind == "leave_asked").count()
    };
    let (talk, log) = decide(Decision::Once, 2).await;
    assert_eq!((asked(&talk), log.len()), (2, 4));
    let (talk, log) = decide(Decision::Session, 2).await;
    assert_eq!((asked(&talk), log.len()), (1, 4));
    let instead = Some("Use the other file.".to_owned());
    let (talk, log) = decide(Decision::Refuse { instead }, 1).await;
    assert_eq!((asked(&talk), log.len()), (1, 0));
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(outcome, Outcome::UserAborted);
    assert!(
        text.contains("the person refused it. They say: Use the other file."),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn where_nobody_is_there_it_is_refused_in_a_sentence() {
    let world = world([Script::calls(&[("1", "exec", "{}")]), Script::text("done")]);
    let mut talk = Talk::new(start(Start {
        has_person: false,
        ..world.begin_with(Arc::new(AskFirst::default()))
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let (_, _, text) = talk.ends().remove(0);
    assert!(text.contains("nobody is there to give it"), "{text}");
    assert!(world.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn modes_stand_above_every_rule() {
    let calls = || {
        Script::calls(&[
            ("1", "look", "{}"),
            ("2", "edit", r#"{"writes":["src/main.rs"]}"#),
            ("3", "edit", r#"{"writes":[".burin/plans/roof.md"]}"#),
            ("4", "edit", r#"{"writes":[".burin/plans/../../x.md"]}"#),
            ("5", "exec", "{}"),
        ])
    };
    for (mode, may) in [
        (Mode::Plan, vec!["1", "3"]),
        (Mode::Ask, vec!["1"]),
        (Mode::Build, vec!["1", "2", "3", "4", "5"]),
    ] {
        let world = world([calls(), Script::text("done")]);
        let mut talk = Talk::new(start(Start {
            mode,
            ..world.begin()
        }));
        assert_eq!(talk.ask("go").await, TurnEnd::Done);
        let mut ok: Vec<String> = talk
            .ends()
            .into_iter()
            .filter(|end| end.1 == Outcome::Ok)
            .map(|end| end.0)
            .collect();
        ok.sort();
        assert_eq!(ok, may, "{mode:?}");
        let records = talk.records();
        let denied = records.iter().filter(|stored| {
            matches!(
                &stored.record,
                Record::CallEnded {
                    detail: Some(Detail::Denied),
                    ..
                }
            )
        });
        assert_eq!(denied.count(), 5 - may.len());
        let first = format!("{:?}", world.client.requests()[0].messages);
        assert_eq!(first.contains("plan mode"), mode == Mode::Plan);
    }
}

#[tokio::test(start_paused = true)]
async fn another_mode_holds_from_the_next_request() {
    let world = world([
        Script::text("planned"),
        Script::calls(&[("1", "edit", r#"{"writes":["a"]}"#)]),
        Script::text("built"),
    ]);
    let mut talk = Talk::new(start(Start {
        mode: Mode::Plan,
        ..world.begin()
    }));
    talk.ask("plan").await;
    talk.tell(Command::SetMode(Mode::Build)).await;
    assert_eq!(
        talk.ask(&crate::leave::build_prompt(".burin/plans/a.md"))
            .await,
        TurnEnd::Done
    );
    assert_eq!(world.log(), ["+1", "-1"]);
    assert!(kinds(&talk.records()).contains(&"mode_set"));
    // What was offered stayed the same, so the beginning of the prompt did.
    let requests = world.client.requests();
    assert_eq!(requests[0].tools, requests[1].tools);
    assert_eq!(requests[0].system, requests[1].system);
    assert_whole(&talk.records());
}
