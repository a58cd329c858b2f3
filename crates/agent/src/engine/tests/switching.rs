//! One model goes on where another was.

use model::Script;

use super::super::resume;
use super::fakes::{Talk, assert_whole, kinds, world};
use crate::record::{Handover, Record, TurnEnd};
use crate::session::{Command, Event};

fn to(how: Handover) -> Command {
    Command::Switch {
        model: "other/model".to_owned(),
        how,
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_takes_over_is_told() {
    let world = world([
        Script::calls(&[("1", "look", "{}")]),
        Script::text("one"),
        Script::text("two"),
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
    // It is still the other one after the session is opened again.
    world.client.then(Script::text("three"));
    let id = talk.id.clone();
    talk.close().await;
    let mut talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
    talk.ask("third").await;
    assert_eq!(world.client.requests()[3].model.to_string(), "other/model");
}

#[tokio::test(start_paused = true)]
async fn a_fork_leaves_the_old_session_as_it_is() {
    let world = world([
        Script::text("one"),
        Script::text("two"),
        Script::text("three"),
    ]);
    let mut talk = world.open();
    talk.ask("first").await;
    talk.tell(to(Handover::Fork)).await;
    let forked = talk
        .until(|event| matches!(event, Event::Forked { .. }))
        .await;
    let Event::Forked { session } = forked else {
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
async fn a_summary_is_all_that_is_handed_over() {
    let mut scripts: Vec<Script> = (0..6)
        .map(|ix| {
            let id = format!("c{ix}");
            Script::calls(&[(&id, "look", r#"{"fill":4000}"#)])
        })
        .collect();
    scripts.extend([
        Script::text("one"),
        Script::text("the summary"),
        Script::text("two"),
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
        Record::Compacted { bytes, .. } => Some(*bytes),
        _ => None,
    });
    let (before, after) = compacted.expect("it was");
    assert!(after < before, "{before} and {after}");
    assert_whole(&records);
}
