//! Subagents.

use model::{Script, ScriptedClient};
use serde_json::json;

use super::super::{Limits, Start, start};
use super::fakes::{Talk, World, assert_whole, calls, last, world_by};
use crate::ask::Decision;
use crate::leave::AskFirst;
use crate::outcome::Outcome;
use crate::record::{Record, TurnEnd};
use crate::session::{Command, Event};

/// A model that hands its work to a child, which does `work` and says what it found.
fn family(spawn: serde_json::Value, work: &'static str) -> World {
    world_by(move |request| {
        let (text, results) = last(request);
        let id = format!("c{}", calls(request));
        match (text.as_str(), results) {
            ("go", _) => Script::calls(&[(&id, "spawn_agent", &spawn.to_string())]),
            ("dig", 0) => {
                let tool = if work.contains("writes") {
                    "edit"
                } else {
                    "look"
                };
                Script::calls(&[("inner", tool, work)])
            }
            (text, _) if text.contains("in the background has ended") => Script::text("both done"),
            (_, 1) if calls(request) == 1 && request.messages[0] == user("dig") => {
                Script::text("gold")
            }
            _ => Script::text("done"),
        }
    })
}

fn user(text: &str) -> model::Message {
    model::Message::text(model::Role::User, text)
}

#[tokio::test(start_paused = true)]
async fn a_childs_last_answer_is_the_result() {
    let world = family(json!({ "task": "dig" }), r#"{"ms":10}"#);
    let mut talk = world.open();
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(
        talk.ends(),
        [("c0".to_owned(), Outcome::Ok, "gold".to_owned())]
    );
    assert_whole(&talk.records());
    let child = talk.told.iter().find_map(|event| match event {
        Event::Child { session, .. } => Some(session.clone()),
        _ => None,
    });
    let child = child.expect("it was heard of");
    let kept = world.kept(&child).await;
    assert_whole(&kept);
    assert!(
        matches!(&kept[0].record, Record::Began { parent: Some(parent), .. }
        if parent.session == talk.id.as_ref() && parent.call == "c0")
    );
    let children = world.harness.store().children(10).expect("listed");
    assert_eq!(children[talk.id.as_ref()][0].id, child.as_ref());
}

#[tokio::test(start_paused = true)]
async fn stopping_stops_the_children() {
    let world = family(json!({ "task": "dig" }), r#"{"ms":600000,"heeds":true}"#);
    let mut talk = world.open();
    talk.say("go").await;
    while !world.log().contains(&"+inner".to_owned()) {
        talk.next().await;
    }
    talk.tell(Command::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    assert_eq!(world.log(), ["+inner", "!inner"]);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(outcome, Outcome::UserAborted, "{text}");
    assert_whole(&talk.records());
    for line in world.harness.store().sessions(10).expect("listed") {
        assert_whole(&world.kept(&line.id).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_asks_the_person_through_its_parent() {
    let world = family(json!({ "task": "dig" }), r#"{"writes":["a"]}"#);
    let mut talk = Talk::new(start(Start {
        judge: std::sync::Arc::new(AskFirst::default()),
        ..world.begin()
    }));
    talk.say("go").await;
    let asked = |event: &Event| match event {
        Event::Child { event, .. } => {
            matches!(&**event, Event::Recorded(stored) if stored.record.kind() == "leave_asked")
        }
        _ => false,
    };
    let Event::Child { session, .. } = talk.until(asked).await else {
        unreachable!("it was looked for");
    };
    let (call, decision) = ("inner".to_owned(), Decision::Once);
    talk.tell(Command::Child {
        session: session.as_ref().to_owned(),
        command: Box::new(Command::Decide { call, decision }),
    })
    .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(world.log(), ["+inner", "-inner"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_in_the_background_is_waited_for_at_the_end() {
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
        Record::Joined { text, .. } if text.contains("has ended") => Some(text.clone()),
        _ => None,
    });
    assert!(joined.expect("it came").ends_with("gold"));
    assert_whole(&records);
}

#[tokio::test(start_paused = true)]
async fn families_do_not_grow_for_ever() {
    let mind = super::super::ScriptedMind::new(ScriptedClient::new([Script::text("hello")]));
    let limits = Limits {
        depth: 0,
        ..Limits::default()
    };
    let world = super::fakes::world_with(mind, limits);
    let mut talk = world.open();
    talk.ask("go").await;
    let tools = world.client.requests().remove(0).tools;
    assert!(tools.iter().all(|tool| tool.name != "spawn_agent"));
}
