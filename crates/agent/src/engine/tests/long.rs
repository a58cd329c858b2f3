//! Long sessions: each request is a prefix of the next, and memory does not grow.

use model::ResponseScript;
use serde_json::json;

use super::fakes::{Talk, assert_whole, calls, last, records, world_by};
use crate::record::{SessionRecord, Stored, TurnEnd};
use crate::session::{AgentEvent, SessionCommand};

/// Returns how many bytes of each prompt are a prefix of the next, and the total.
fn reuse(records: &[Stored]) -> (u64, u64) {
    let mut before = None;
    let (mut same, mut all) = (0, 0);
    for stored in records {
        if let SessionRecord::Asked {
            bytes, same_bytes, ..
        } = &stored.record
        {
            if let Some(before) = before {
                all += before;
                same += same_bytes;
            }
            before = Some(*bytes);
        }
    }
    (same, all)
}

#[tokio::test(start_paused = true)]
async fn hundred_turns_keep_their_prompt_prefix() {
    let world = world_by(|request| {
        let number = calls(request);
        let (text, results) = last(request);
        let ids: Vec<String> = (number..number + 2).map(|ix| format!("c{ix}")).collect();
        let writes = json!({ "writes": [format!("f{number}")], "fill": 400 }).to_string();
        let say = json!({ "say": format!("{number}"), "fill": 800 }).to_string();
        let spawn = json!({ "task": "child" }).to_string();
        match (text.as_str(), results) {
            ("child", _) => ResponseScript::text("found"),
            (_, 0) if number.is_multiple_of(3) => {
                ResponseScript::calls(&[(&ids[0], "look", &say), (&ids[1], "edit", &writes)])
            }
            (_, 0) if number % 3 == 1 => ResponseScript::calls(&[(&ids[0], "exec", &say)]),
            (_, 0) => ResponseScript::calls(&[(&ids[0], "spawn_agent", &spawn)]),
            _ => ResponseScript::text("so much for that"),
        }
    });
    let mut talk = world.open();
    for turn in 0..100 {
        if turn == 50 {
            let mode = crate::record::SessionMode::Plan;
            talk.tell(SessionCommand::SetMode(mode)).await;
            talk.tell(SessionCommand::SetMode(crate::record::SessionMode::Build))
                .await;
        }
        assert_eq!(talk.ask(&format!("turn {turn}")).await, TurnEnd::Done);
    }
    let records = talk.records();
    assert_whole(&records);
    let (same, all) = reuse(&records);
    let share = same as f64 / all as f64;
    assert!(share >= 0.98, "{same} of {all} bytes: {share}");
    // Nothing was compacted or changed, so all of it is reused.
    assert_eq!(same, all);
}

#[tokio::test(start_paused = true)]
async fn five_hundred_calls_are_stored_once() {
    let world = world_by(|request| {
        let number = calls(request);
        let id = format!("c{number}");
        let say = json!({ "say": format!("{number}"), "fill": 1000 }).to_string();
        match number {
            500.. => ResponseScript::text("done"),
            _ => ResponseScript::calls(&[(&id, "look", &say)]),
        }
    });
    let mut talk = world.open();
    talk.say("go").await;
    let mut events: Vec<AgentEvent> = Vec::new();
    loop {
        let event = talk.next().await;
        // Drop events as they arrive, as a program without a window does.
        events.append(&mut talk.told);
        if let AgentEvent::Idle(end) = event {
            assert_eq!(end, TurnEnd::Done);
            break;
        }
    }
    let records = records(&events);
    assert_whole(&records);
    let ended = records
        .iter()
        .filter(|stored| stored.record.kind() == "call_ended");
    assert_eq!(ended.count(), 500);
    let (same, all) = reuse(&records);
    assert_eq!(same, all);
    // The last prompt is as long as the conversation, and no longer.
    let last = records
        .iter()
        .rev()
        .find_map(|stored| match &stored.record {
            SessionRecord::Asked { bytes, .. } => Some(*bytes),
            _ => None,
        });
    let last = last.expect("it asked");
    assert!((500_000..700_000).contains(&last), "{last}");
    let talk: Talk = talk;
    talk.close().await;
}
