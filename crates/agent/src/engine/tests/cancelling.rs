//! Stopping at any moment leaves a valid transcript and no running call.

use std::sync::Arc;

use model::ResponseScript;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::time::Instant;

use super::super::start;
use super::ask_by_tool_class::AskByToolClass;
use super::fakes::{Talk, World, assert_whole, calls, last, prompt, world, world_by};
use crate::outcome::CallOutcome;
use crate::record::TurnEnd;
use crate::session::{AgentEvent, SessionCommand};

#[tokio::test(start_paused = true)]
async fn stopping_drops_the_stream_and_keeps_partial_text() {
    use model::StreamEvent as Piece;
    let world = world([
        ResponseScript::events([Piece::TextDelta("I will".to_owned())]).then_silence(),
        ResponseScript::text("fine"),
    ]);
    let mut talk = world.open();
    talk.say("go").await;
    talk.until(|event| matches!(event, AgentEvent::Text(_)))
        .await;
    talk.say("later").await;
    talk.tell(SessionCommand::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    assert_eq!(world.client.cancelled(), 1);
    let given = talk.told.iter().filter_map(|event| match event {
        AgentEvent::GivenBack(prompt) => Some(prompt.text.as_str()),
        _ => None,
    });
    assert_eq!(given.collect::<Vec<_>>(), ["later"]);
    assert_eq!(talk.ask("again").await, TurnEnd::Done);
    let messages = &world.client.requests()[1].messages;
    assert!(format!("{:?}", messages[1]).contains("I will"));
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn stopped_calls_get_a_grace_period() {
    let world = world([ResponseScript::calls(&[
        ("kind", "look", r#"{"ms":60000,"heeds":true}"#),
        ("deaf", "look", r#"{"ms":60000}"#),
        ("behind", "edit", r#"{"ms":1,"wait_for_previous":true}"#),
    ])]);
    let mut talk = world.open();
    talk.say("go").await;
    talk.until(
        |event| matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "call_began"),
    )
    .await;
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    let stopped = Instant::now();
    talk.tell(SessionCommand::Stop).await;
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
            .all(|(_, outcome, _)| *outcome == CallOutcome::UserAborted)
    );
    assert!(!world.log().contains(&"-deaf".to_owned()));
    assert_whole(&talk.records());
}

/// A model that reads, makes an edit that needs permission, and stops.
fn busy() -> World {
    world_by(|request| {
        let number = calls(request);
        let ids: Vec<String> = (number..number + 3).map(|ix| format!("c{ix}")).collect();
        match last(request) {
            (_, 0) => ResponseScript::calls(&[
                (&ids[0], "look", r#"{"ms":5,"heeds":true}"#),
                (&ids[1], "edit", r#"{"ms":5,"writes":["a"]}"#),
                (&ids[2], "edit", r#"{"ms":5,"writes":["a"]}"#),
            ]),
            (_, 3) => ResponseScript::calls(&[(&ids[0], "look", "{}")]),
            _ => ResponseScript::text("done"),
        }
    })
}

/// Answers every permission request at random.
async fn answer_leaves(
    talk: &mut Talk,
    rng: &mut StdRng,
    mut until: impl FnMut(&AgentEvent) -> bool,
) {
    loop {
        let event = talk.next().await;
        if let AgentEvent::Recorded(stored) = &event
            && let crate::record::SessionRecord::LeaveAsked { call, .. } = &stored.record
        {
            let decision = if rng.random_bool(0.7) {
                crate::user_prompts::PermissionDecision::Once
            } else {
                crate::user_prompts::PermissionDecision::Refuse { instead: None }
            };
            let call = call.clone();
            talk.tell(SessionCommand::Decide { call, decision }).await;
        }
        if until(&event) {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_after_any_event_keeps_the_transcript_valid() {
    for seed in 0..60_u64 {
        let mut rng = StdRng::seed_from_u64(seed);
        let world = busy();
        let mut talk = Talk::new(start(world.begin_with(Arc::new(AskByToolClass::default()))));
        talk.say("go").await;
        let mut left = rng.random_range(0..26);
        let mut is_over = false;
        answer_leaves(&mut talk, &mut rng, |event| {
            is_over = matches!(event, AgentEvent::Idle(_));
            left -= 1;
            is_over || left < 0
        })
        .await;
        // Stop at a random point between two events.
        for _ in 0..rng.random_range(0..12) {
            tokio::task::yield_now().await;
        }
        talk.tell(SessionCommand::Stop).await;
        if !is_over {
            talk.until(|event| matches!(event, AgentEvent::Idle(_)))
                .await;
        }
        assert_whole(&world.kept(&talk.id).await);
        talk.tell(SessionCommand::Prompt(prompt("again"))).await;
        let mut ended = None;
        answer_leaves(&mut talk, &mut rng, |event| match event {
            AgentEvent::Idle(end) => {
                ended = Some(end.clone());
                true
            }
            // The stop came after the turn was over, and returned the new prompt.
            AgentEvent::GivenBack(_) => true,
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
async fn unrecorded_prompts_are_returned_on_stop() {
    let world = world([ResponseScript::text("never")]);
    let mut talk = world.open();
    talk.say("go").await;
    talk.tell(SessionCommand::Stop).await;
    let end = talk.end().await;
    assert_eq!(end, TurnEnd::Stopped);
    let was_written = talk
        .records()
        .iter()
        .any(|stored| stored.record.kind() == "prompted");
    let was_given = talk
        .told
        .iter()
        .any(|event| matches!(event, AgentEvent::GivenBack(_)));
    assert_ne!(was_written, was_given, "{}", json!(was_written));
}
