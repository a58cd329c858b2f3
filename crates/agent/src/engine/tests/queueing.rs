//! The queue of messages: whatever happens when, each message is sent once or is back with the user.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{Failure, FailureClass, ResponseScript};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::super::{fork, resume};
use super::fakes::{Talk, World, assert_whole, calls, last, prompt, world, world_by};
use crate::queue::PromptQueue;
use crate::record::{Delivery, QueueChange, SessionRecord, TurnEnd};
use crate::session::{AgentEvent, QueueCommand, SessionCommand};
use crate::stored_parts;

fn add(text: &str, delivery: Delivery) -> SessionCommand {
    let prompt = prompt(text);
    SessionCommand::Queue(QueueCommand::Add { prompt, delivery })
}

fn is_queued(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "queued")
}

/// The prompts in the conversation: text, and whether it joined a running turn.
fn sent(talk: &Talk) -> Vec<(String, bool)> {
    let records = talk.records();
    let prompts = records.iter().filter_map(|stored| match &stored.record {
        SessionRecord::Prompted {
            parts, is_steering, ..
        } => Some((stored_parts::texts(parts), *is_steering)),
        _ => None,
    });
    prompts.collect()
}

fn waiting(talk: &Talk) -> Vec<String> {
    let queue = PromptQueue::of(&talk.records());
    let entries = queue.entries().iter();
    entries.map(|entry| entry.prompt().text).collect()
}

/// A model that makes one call of 50 ms before each of its answers.
fn slow() -> World {
    world_by(|request| match last(request) {
        (_, 0) => {
            let id = format!("c{}", calls(request));
            ResponseScript::calls(&[(&id, "look", r#"{"ms":50}"#)])
        }
        _ => ResponseScript::text("done"),
    })
}

async fn busy(world: &World) -> Talk {
    let mut talk = world.open();
    talk.say("go").await;
    talk.until(
        |event| matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "call_began"),
    )
    .await;
    talk
}

#[tokio::test(start_paused = true)]
async fn a_queued_message_begins_the_next_turn_in_order() {
    let world = slow();
    let mut talk = busy(&world).await;
    talk.tell(add("one", Delivery::NextTurn)).await;
    talk.tell(add("two", Delivery::NextTurn)).await;
    talk.tell(add("now", Delivery::NextRequest)).await;
    talk.tell(SessionCommand::Queue(QueueCommand::Move {
        id: 2,
        before: Some(1),
    }))
    .await;
    for _ in 0..3 {
        assert_eq!(talk.end().await, TurnEnd::Done);
    }
    let expected = [("go", false), ("now", true), ("two", false), ("one", false)];
    assert_eq!(
        sent(&talk),
        expected.map(|(text, is_steering)| (text.to_owned(), is_steering))
    );
    assert_eq!(waiting(&talk), Vec::<String>::new());
    assert_whole(&world.kept(&talk.id).await);
}

#[tokio::test(start_paused = true)]
async fn messages_wait_after_a_stop_until_they_are_released() {
    let world = slow();
    let mut talk = busy(&world).await;
    talk.tell(add("one", Delivery::NextTurn)).await;
    talk.tell(add("two", Delivery::NextRequest)).await;
    talk.tell(SessionCommand::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    assert_eq!(waiting(&talk), ["one", "two"]);
    assert!(PromptQueue::of(&talk.records()).is_held());
    // Another prompt sends none of them.
    assert_eq!(talk.ask("else").await, TurnEnd::Done);
    assert_eq!(waiting(&talk), ["one", "two"]);
    // One that is sent begins a turn, and the other still waits.
    talk.tell(SessionCommand::Queue(QueueCommand::SendNow(2)))
        .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(waiting(&talk), ["one"]);
    talk.tell(SessionCommand::Queue(QueueCommand::Release))
        .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    let texts: Vec<String> = sent(&talk).into_iter().map(|it| it.0).collect();
    assert_eq!(texts, ["go", "else", "two", "one"]);
}

#[tokio::test(start_paused = true)]
async fn messages_wait_after_an_error() {
    let failure = Failure::new(FailureClass::InvalidRequest, "It will not.");
    let world = world([
        ResponseScript::calls(&[("c", "look", r#"{"ms":50}"#)]),
        ResponseScript::fails(failure),
    ]);
    let mut talk = busy(&world).await;
    talk.tell(add("one", Delivery::NextTurn)).await;
    assert!(matches!(talk.end().await, TurnEnd::Failed { .. }));
    assert_eq!(waiting(&talk), ["one"]);
    assert!(PromptQueue::of(&talk.records()).is_held());
}

#[tokio::test(start_paused = true)]
async fn a_reopened_session_keeps_its_queue_and_sends_nothing() {
    let world = slow();
    let mut talk = busy(&world).await;
    talk.tell(add("one", Delivery::NextTurn)).await;
    talk.until(is_queued).await;
    let id = talk.id.clone();
    // The session ends before its records are read: meanwhile the clock would go on.
    talk.close().await;
    let records = world.kept(&id).await;
    let copy = fork(&world.harness, &id, records.len() as u64 - 1).await;
    let mut talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
    let kept = world.kept(&id).await;
    let queue = PromptQueue::of(&kept);
    assert!(queue.is_held(), "{kept:?}");
    assert_eq!(queue.entries().len(), 1);
    assert_eq!(talk.ask("hello").await, TurnEnd::Done);
    assert_eq!(sent(&talk), [("hello".to_owned(), false)]);
    talk.tell(SessionCommand::Queue(QueueCommand::Release))
        .await;
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert_eq!(sent(&talk)[1].0, "one");
    // A copy of the session doesn't send it once more.
    let copied = world.kept(&copy.expect("copied")).await;
    assert!(PromptQueue::of(&copied).entries().is_empty());
}

/// A model that calls, answers or fails at random, until it is calm.
fn moody(seed: u64, is_calm: Arc<AtomicBool>) -> World {
    let random = Mutex::new(StdRng::seed_from_u64(seed));
    world_by(move |request| {
        if is_calm.load(Ordering::Relaxed) {
            return ResponseScript::text("done");
        }
        let id = format!("c{}", calls(request));
        match random.lock().expect("one at a time").random_range(0..8) {
            0 => ResponseScript::fails(Failure::new(FailureClass::InvalidRequest, "It will not.")),
            1..4 => ResponseScript::text("done"),
            4 => ResponseScript::calls(&[(&id, "look", r#"{"ms":40,"heeds":true}"#)]),
            _ => ResponseScript::calls(&[(&id, "look", r#"{"ms":3}"#)]),
        }
    })
}

/// A person who sends, queues, removes, moves and stops at random.
struct Person {
    talk: Talk,
    random: StdRng,
    said: u64,
    /// The queue after the first `seen` events.
    queue: PromptQueue,
    seen: usize,
}

impl Person {
    fn queue(&mut self) -> &PromptQueue {
        for event in &self.talk.told[self.seen..] {
            if let AgentEvent::Recorded(stored) = event {
                self.queue.apply_record(&stored.record);
            }
        }
        self.seen = self.talk.told.len();
        &self.queue
    }

    fn new_text(&mut self) -> String {
        self.said += 1;
        format!("m{}", self.said)
    }

    fn command(&mut self) -> SessionCommand {
        let entries = self.queue().entries();
        let ids: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
        let count = ids.len();
        let mut any = || (count > 0).then(|| ids[self.random.random_range(0..count)]);
        let (one, other) = (any(), any());
        let queue = match (self.random.random_range(0..16), one) {
            (0, _) => return SessionCommand::Stop,
            (1, _) => return SessionCommand::Prompt(prompt(&self.new_text())),
            (2, _) => return SessionCommand::Steer(prompt(&self.new_text())),
            (3, _) => QueueCommand::Release,
            (4..7, Some(id)) => QueueCommand::Remove(id),
            (7, Some(id)) => QueueCommand::Move { id, before: other },
            (8, Some(id)) => QueueCommand::SendNow(id),
            (9..12, _) => return add(&self.new_text(), Delivery::NextRequest),
            _ => return add(&self.new_text(), Delivery::NextTurn),
        };
        SessionCommand::Queue(queue)
    }

    async fn act(&mut self, count: usize) {
        for _ in 0..count {
            let command = self.command();
            self.talk.tell(command).await;
            match self.random.random_range(0..4) {
                0 => {}
                1 => tokio::task::yield_now().await,
                _ => {
                    tokio::time::sleep(Duration::from_millis(self.random.random_range(0..9))).await
                }
            }
            self.talk.drain();
        }
    }

    /// Releases what waits until nothing does.
    async fn settle(&mut self) {
        self.talk.say("end").await;
        loop {
            let event = self.talk.next().await;
            let (is_held, is_empty) = (self.queue().is_held(), self.queue().entries().is_empty());
            if matches!(&event, AgentEvent::GivenBack(prompt) if prompt.text == "end") {
                self.talk.say("end").await;
            }
            if is_held && (is_queued(&event) || matches!(event, AgentEvent::Idle(_))) {
                self.talk
                    .tell(SessionCommand::Queue(QueueCommand::Release))
                    .await;
            }
            let is_over = matches!(event, AgentEvent::Idle(_)) && is_empty;
            if is_over && sent(&self.talk).iter().any(|(text, _)| text == "end") {
                return;
            }
        }
    }

    /// The number of times that each message was sent or came back.
    fn outcomes(&self) -> BTreeMap<String, usize> {
        let mut outcomes = BTreeMap::new();
        let mut queue = PromptQueue::default();
        for event in &self.talk.told {
            let text = match event {
                AgentEvent::GivenBack(prompt) => prompt.text.clone(),
                AgentEvent::Recorded(stored) => match &stored.record {
                    SessionRecord::Prompted { parts, .. } => stored_parts::texts(parts),
                    SessionRecord::Queued { change } => {
                        let removed = match change {
                            QueueChange::Removed { id } => queue.entry(*id).cloned(),
                            _ => None,
                        };
                        queue.apply(change);
                        match removed {
                            Some(entry) => entry.prompt().text,
                            None => continue,
                        }
                    }
                    _ => continue,
                },
                _ => continue,
            };
            *outcomes.entry(text).or_default() += 1;
        }
        outcomes
    }
}

#[tokio::test(start_paused = true)]
async fn random_timing_loses_and_repeats_no_message() {
    for seed in 0..40_u64 {
        let is_calm = Arc::new(AtomicBool::new(false));
        let world = moody(seed, is_calm.clone());
        let mut person = Person {
            talk: world.open(),
            random: StdRng::seed_from_u64(seed),
            said: 0,
            queue: PromptQueue::default(),
            seen: 0,
        };
        person.act(250).await;
        is_calm.store(true, Ordering::Relaxed);
        person.settle().await;
        let outcomes = person.outcomes();
        for number in 1..=person.said {
            let times = outcomes.get(&format!("m{number}")).copied().unwrap_or(0);
            assert_eq!(times, 1, "seed {seed}: message {number}");
        }
        let records = world.kept(&person.talk.id).await;
        assert_whole(&records);
        assert_eq!(records, person.talk.records(), "seed {seed}");
        person.talk.close().await;
    }
}
