//! Switching to another model within a session.

use model::ResponseScript;

use super::super::resume;
use super::fakes::{Talk, assert_whole, kinds, world};
use crate::record::{Handover, SessionRecord, TurnEnd};
use crate::session::{AgentEvent, SessionCommand};

fn to(how: Handover) -> SessionCommand {
    SessionCommand::Switch {
        model: "other/model".to_owned(),
        how,
    }
}

#[tokio::test(start_paused = true)]
async fn switching_informs_the_new_model() {
    let world = world([
        ResponseScript::calls(&[("1", "look", "{}")]),
        ResponseScript::text("one"),
        ResponseScript::text("two"),
    ]);
    let mut talk = world.open();
    talk.ask("first").await;
    talk.tell(to(Handover::Full)).await;
    assert_eq!(talk.ask("second").await, TurnEnd::Done);
    let request = world.client.requests().remove(2);
    assert_eq!(request.model.to_string(), "other/model");
    let told = format!("{:?}", request.messages.last());
    assert!(told.contains("until now test/model answered"), "{told}");
    let records = talk.records();
    assert!(kinds(&records).contains(&"switched"));
    assert_whole(&records);
    // The session keeps the new model when it is resumed.
    world.client.push_script(ResponseScript::text("three"));
    let id = talk.id.clone();
    talk.close().await;
    let mut talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
    talk.ask("third").await;
    assert_eq!(world.client.requests()[3].model.to_string(), "other/model");
}

#[tokio::test(start_paused = true)]
async fn forking_to_a_model_keeps_the_old_session() {
    let world = world([
        ResponseScript::text("one"),
        ResponseScript::text("two"),
        ResponseScript::text("three"),
    ]);
    let mut talk = world.open();
    talk.ask("first").await;
    talk.tell(to(Handover::Fork)).await;
    let forked = talk
        .until(|event| matches!(event, AgentEvent::Forked { .. }))
        .await;
    let AgentEvent::Forked { session } = forked else {
        unreachable!("it was looked for");
    };
    let before = world.kept(&talk.id).await;
    let mut other = Talk::new(resume(world.begin(), &session).await.expect("it opens"));
    assert_eq!(other.ask("second").await, TurnEnd::Done);
    assert_eq!(world.client.requests()[1].model.to_string(), "other/model");
    assert_whole(&world.kept(&session).await);
    assert_eq!(world.kept(&talk.id).await, before);
    talk.ask("second").await;
    assert_eq!(world.client.requests()[2].model.to_string(), "test/model");
}

#[tokio::test(start_paused = true)]
async fn summary_handover_sends_only_the_summary() {
    let mut scripts: Vec<ResponseScript> = (0..6)
        .map(|ix| {
            let id = format!("c{ix}");
            ResponseScript::calls(&[(&id, "look", r#"{"fill":4000}"#)])
        })
        .collect();
    scripts.extend([
        ResponseScript::text("one"),
        ResponseScript::text("the summary"),
        ResponseScript::text("two"),
    ]);
    let world = world(scripts);
    let mut talk = world.open();
    talk.ask("first").await;
    talk.tell(to(Handover::Summary)).await;
    assert_eq!(talk.ask("second").await, TurnEnd::Done);
    let request = world.client.requests().remove(8);
    let first = format!("{:?}", request.messages[0]);
    assert!(first.contains("the summary"), "{first}");
    let records = talk.records();
    let compacted = records.iter().find_map(|stored| match &stored.record {
        SessionRecord::Compacted { bytes, .. } => Some(*bytes),
        _ => None,
    });
    let (before, after) = compacted.expect("it was");
    assert!(after < before, "{before} and {after}");
    assert_whole(&records);
}
