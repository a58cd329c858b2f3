//! Long sessions: what was sent stays the prefix of what is sent next, and nothing is kept twice.

use model::Script;
use serde_json::json;

use super::fakes::{Talk, assert_whole, calls, last, records, world_by};
use crate::record::{Record, Stored, TurnEnd};
use crate::session::{Command, Event};

/// How much of each prompt is still the beginning of the next, in all.
fn reuse(records: &[Stored]) -> (u64, u64) {
    let mut before = None;
    let (mut same, mut all) = (0, 0);
    for stored in records {
        if let Record::Asked {
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
async fn a_hundred_turns_keep_their_prefix() {
    let world = world_by(|request| {
        let number = calls(request);
        let (text, results) = last(request);
        let ids: Vec<String> = (number..number + 2).map(|ix| format!("c{ix}")).collect();
        let writes = json!({ "writes": [format!("f{number}")], "fill": 400 }).to_string();
        let say = json!({ "say": format!("{number}"), "fill": 800 }).to_string();
        let spawn = json!({ "task": "child" }).to_string();
        match (text.as_str(), results) {
            ("child", _) => Script::text("found"),
            (_, 0) if number.is_multiple_of(3) => {
                Script::calls(&[(&ids[0], "look", &say), (&ids[1], "edit", &writes)])
            }
            (_, 0) if number % 3 == 1 => Script::calls(&[(&ids[0], "exec", &say)]),
            (_, 0) => Script::calls(&[(&ids[0], "spawn_agent", &spawn)]),
            _ => Script::text("so much for that"),
        }
    });
    let mut talk = world.open();
    for turn in 0..100 {
        if turn == 50 {
            let mode = crate::record::Mode::Plan;
            talk.tell(Command::SetMode(mode)).await;
            talk.tell(Command::SetMode(crate::record::Mode::Build))
                .await;
        }
        assert_eq!(talk.ask(&format!("turn {turn}")).await, TurnEnd::Done);
    }
    let records = talk.records();
    assert_whole(&records);
    let (same, all) = reuse(&records);
    let share = same as f64 / all as f64;
    assert!(share >= 0.98, "{same} of {all} bytes: {share}");
    // Nothing was compacted and nothing changed, so it is all of them.
    assert_eq!(same, all);
}

#[tokio::test(start_paused = true)]
async fn five_hundred_calls_are_kept_once() {
    let world = world_by(|request| {
        let number = calls(request);
        let id = format!("c{number}");
        let say = json!({ "say": format!("{number}"), "fill": 1000 }).to_string();
        match number {
            500.. => Script::text("done"),
            _ => Script::calls(&[(&id, "look", &say)]),
        }
    });
    let mut talk = world.open();
    talk.say("go").await;
    let mut events: Vec<Event> = Vec::new();
    loop {
        let event = talk.next().await;
        // What was told is dropped as it comes, as a program without a window does.
        events.append(&mut talk.told);
        if let Event::Idle(end) = event {
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
    // The last prompt is as long as what was said, and no longer.
    let last = records
        .iter()
        .rev()
        .find_map(|stored| match &stored.record {
            Record::Asked { bytes, .. } => Some(*bytes),
            _ => None,
        });
    let last = last.expect("it asked");
    assert!((500_000..700_000).contains(&last), "{last}");
    let talk: Talk = talk;
    talk.close().await;
}
