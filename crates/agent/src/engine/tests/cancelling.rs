//! Stopping at any moment leaves a valid transcript and nothing that runs.

use std::sync::Arc;

use model::Script;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::time::Instant;

use super::super::start;
use super::fakes::{Talk, World, assert_whole, calls, last, prompt, world, world_by};
use crate::leave::AskFirst;
use crate::outcome::Outcome;
use crate::record::TurnEnd;
use crate::session::{Command, Event};

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_stopped_is_dropped_and_what_was_said_is_kept() {
    use model::Event as Piece;
    let world = world([
        Script::events([Piece::TextDelta("I will".to_owned())]).then_silence(),
        Script::text("fine"),
    ]);
    let mut talk = world.open();
    talk.say("go").await;
    talk.until(|event| matches!(event, Event::Text(_))).await;
    talk.say("later").await;
    talk.tell(Command::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    assert_eq!(world.client.cancelled(), 1);
    let given = talk.told.iter().filter_map(|event| match event {
        Event::GivenBack(prompt) => Some(prompt.text.as_str()),
        _ => None,
    });
    assert_eq!(given.collect::<Vec<_>>(), ["later"]);
    assert_eq!(talk.ask("again").await, TurnEnd::Done);
    let messages = &world.client.requests()[1].messages;
    assert!(format!("{:?}", messages[1]).contains("I will"));
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn calls_that_run_have_a_moment_and_are_then_dropped() {
    let world = world([Script::calls(&[
        ("kind", "look", r#"{"ms":60000,"heeds":true}"#),
        ("deaf", "look", r#"{"ms":60000}"#),
        ("behind", "edit", r#"{"ms":1,"wait_for_previous":true}"#),
    ])]);
    let mut talk = world.open();
    talk.say("go").await;
    talk.until(
        |event| matches!(event, Event::Recorded(stored) if stored.record.kind() == "call_began"),
    )
    .await;
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    let stopped = Instant::now();
    talk.tell(Command::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    let took = stopped.elapsed();
    assert!(took.as_millis() <= 250, "{took:?}");
    let mut ends = talk.ends();
    ends.sort();
    let texts: Vec<&str> = ends.iter().map(|(_, _, text)| text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "aborted by the user after 7 s, before it began",
            "aborted by the user after 7 s; it may have done part of its work",
            "stopped half way",
        ]
    );
    assert!(
        ends.iter()
            .all(|(_, outcome, _)| *outcome == Outcome::UserAborted)
    );
    assert!(!world.log().contains(&"-deaf".to_owned()));
    assert_whole(&talk.records());
}

/// A model that looks, edits what has to be allowed, and is done.
fn busy() -> World {
    world_by(|request| {
        let number = calls(request);
        let ids: Vec<String> = (number..number + 3).map(|ix| format!("c{ix}")).collect();
        match last(request) {
            (_, 0) => Script::calls(&[
                (&ids[0], "look", r#"{"ms":5,"heeds":true}"#),
                (&ids[1], "edit", r#"{"ms":5,"writes":["a"]}"#),
                (&ids[2], "edit", r#"{"ms":5,"writes":["a"]}"#),
            ]),
            (_, 3) => Script::calls(&[(&ids[0], "look", "{}")]),
            _ => Script::text("done"),
        }
    })
}

/// Answers every question for leave, in one way or the other.
async fn answer_leaves(talk: &mut Talk, rng: &mut StdRng, mut until: impl FnMut(&Event) -> bool) {
    loop {
        let event = talk.next().await;
        if let Event::Recorded(stored) = &event
            && let crate::record::Record::LeaveAsked { call, .. } = &stored.record
        {
            let decision = match rng.random_bool(0.7) {
                true => crate::ask::Decision::Once,
                false => crate::ask::Decision::Refuse { instead: None },
            };
            let call = call.clone();
            talk.tell(Command::Decide { call, decision }).await;
        }
        if until(&event) {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_after_any_event_leaves_everything_whole() {
    for seed in 0..60_u64 {
        let mut rng = StdRng::seed_from_u64(seed);
        let world = busy();
        let mut talk = Talk::new(start(world.begin_with(Arc::new(AskFirst::default()))));
        talk.say("go").await;
        let mut left = rng.random_range(0..26);
        let mut is_over = false;
        answer_leaves(&mut talk, &mut rng, |event| {
            is_over = matches!(event, Event::Idle(_));
            left -= 1;
            is_over || left < 0
        })
        .await;
        // Somewhere between two events.
        for _ in 0..rng.random_range(0..12) {
            tokio::task::yield_now().await;
        }
        talk.tell(Command::Stop).await;
        if !is_over {
            talk.until(|event| matches!(event, Event::Idle(_))).await;
        }
        assert_whole(&world.kept(&talk.id).await);
        talk.tell(Command::Prompt(prompt("again"))).await;
        let mut ended = None;
        answer_leaves(&mut talk, &mut rng, |event| match event {
            Event::Idle(end) => {
                ended = Some(end.clone());
                true
            }
            // The stop came when the turn was over, and took the new prompt along.
            Event::GivenBack(_) => true,
            _ => false,
        })
        .await;
        if let Some(end) = ended {
            assert!(
                matches!(end, TurnEnd::Done | TurnEnd::Stopped),
                "seed {seed}: {end:?}"
            );
        }
        let records = world.kept(&talk.id).await;
        assert_whole(&records);
        assert_eq!(records, talk.records(), "seed {seed}");
        talk.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_never_written_down_is_given_back() {
    let world = world([Script::text("never")]);
    let mut talk = world.open();
    talk.say("go").await;
    talk.tell(Command::Stop).await;
    let end = talk.end().await;
    assert_eq!(end, TurnEnd::Stopped);
    let was_written = talk
        .records()
        .iter()
        .any(|stored| stored.record.kind() == "prompted");
    let was_given = talk
        .told
        .iter()
        .any(|event| matches!(event, Event::GivenBack(_)));
    assert_ne!(was_written, was_given, "{}", json!(was_written));
}
