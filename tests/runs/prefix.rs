//! Cacheable prefixes: each request of a long session starts with the whole previous one.

use agent::record::{Handover, SessionMode, TurnEnd};
use agent::session::SessionCommand;
use mockllm::LoggedRequest;
use serde_json::{Value, json};

use super::seat::{Seat, block_on};
use super::world::{WIRES, World, count, serve};

/// Minimum share of all sent bytes that a cache can serve.
const SHARE: f64 = 0.98;

#[test]
fn every_request_begins_with_the_one_before() {
    let turns = count("BURIN_TURNS", 30);
    for wire in WIRES {
        block_on(session(wire, turns));
    }
}

async fn session(wire: (&str, &str), turns: usize) {
    let server = serve(&script());
    let world = World::new(wire, &server);
    let write = |path: &str, text: &str| {
        let path = world.project().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("notes.txt", "END\n");
    write("AGENTS.md", "Write short sentences.\n");
    write("deep/AGENTS.md", "In here, write shorter ones.\n");
    for number in 0..7 {
        let lines: String = (0..60)
            .map(|line| format!("line {line} of file {number}\n"))
            .collect();
        write(&format!("deep/file{number}.txt"), &lines);
    }
    let mut seat = Seat::start(&world).await;
    for turn in 1..=turns {
        match turn % 20 {
            // The program ends and another resumes the session.
            0 => {
                let id = seat.id().to_owned();
                seat.leave().await;
                seat = Seat::resume(&world, &id).await;
            }
            4 => seat.tell(SessionCommand::SetMode(SessionMode::Plan)).await,
            5 => seat.tell(SessionCommand::SetMode(SessionMode::Ask)).await,
            6 => seat.tell(SessionCommand::SetMode(SessionMode::Build)).await,
            // Another program edits a file meanwhile.
            9 => write(
                "deep/file3.txt",
                &format!("line 0 of file 3, changed before turn {turn}\n"),
            ),
            13 => switch(&seat, "mock/n").await,
            16 => switch(&seat, "mock/m").await,
            _ => {}
        }
        let kind = ["look", "edit", "run", "agent"][turn % 4];
        let number = turn % 7;
        let end = seat
            .turn(&format!("turn {turn}: {kind} file{number}.txt"))
            .await;
        assert_eq!(end, TurnEnd::Done, "{wire:?}, turn {turn}");
    }
    seat.leave().await;
    judge(wire.0, turns, &server.requests());
}

async fn switch(seat: &Seat, model: &str) {
    let model = model.to_owned();
    let how = Handover::Full;
    seat.tell(SessionCommand::Switch { model, how }).await;
}

/// Compares each request of the conversation with the one before it.
fn judge(wire: &str, turns: usize, seen: &[LoggedRequest]) {
    let prompts: Vec<Vec<String>> = seen
        .iter()
        .filter(|seen| seen.method == "POST" && seen.status == 200)
        .map(|seen| pieces(wire, &seen.json()))
        .filter(|pieces| {
            !pieces.iter().any(|piece| {
                piece.contains("a part of turn")
                    && piece.contains("child-task")
                    && !piece.contains("spawn_agent")
                    && is_first_user(pieces, piece)
            })
        })
        .collect();
    assert!(prompts.len() > turns, "{wire}: {} requests", prompts.len());
    let (mut sent, mut same, mut known) = (0, 0, 0);
    let mut worst: (f64, usize) = (1.0, 0);
    for (ix, pair) in prompts.windows(2).enumerate() {
        let (before, now) = (pair[0].concat(), pair[1].concat());
        let common = before
            .bytes()
            .zip(now.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        sent += now.len();
        same += common;
        known += before.len();
        let share = common as f64 / before.len() as f64;
        if share < worst.0 {
            worst = (share, ix + 1);
        }
    }
    let of_sent = same as f64 / sent as f64;
    let of_known = same as f64 / known as f64;
    eprintln!(
        "{wire}: {turns} turns, {} requests, {sent} bytes sent: {:.2} % were sent before, {:.2} % of what was sent before \
         is found again, {:.2} % at the worst (request {})",
        prompts.len(),
        of_sent * 100.0,
        of_known * 100.0,
        worst.0 * 100.0,
        worst.1
    );
    if worst.0 < 1.0 {
        let (before, now) = (prompts[worst.1 - 1].concat(), prompts[worst.1].concat());
        let at = before
            .bytes()
            .zip(now.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let around = |text: &str| {
            let bytes = &text.as_bytes()[at.saturating_sub(100)..(at + 200).min(text.len())];
            String::from_utf8_lossy(bytes).into_owned()
        };
        eprintln!("  before: {}\n  now:    {}", around(&before), around(&now));
    }
    assert!(of_known >= SHARE, "{wire}: {of_known}");
}

/// Returns whether a piece is the first user message.
fn is_first_user(pieces: &[String], piece: &str) -> bool {
    let first = pieces.iter().position(|it| it.contains("\"user\""));
    first.is_some_and(|first| pieces[first] == piece)
}

/// Returns the prompt in the order in which a provider caches it: tools, system, messages; without cache markers.
fn pieces(wire: &str, body: &Value) -> Vec<String> {
    let names = match wire {
        "anthropic" => ["tools", "system", "messages"],
        "responses" => ["tools", "instructions", "input"],
        "openai" => ["tools", "", "messages"],
        _ => ["tools", "systemInstruction", "contents"],
    };
    let parts = names.iter().filter_map(|name| body.get(*name));
    parts
        .flat_map(|part| match part {
            Value::Array(items) => items.iter().map(without_marks).collect(),
            other => vec![without_marks(other)],
        })
        .map(|value| value.to_string())
        .collect()
}

fn without_marks(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "cache_control")
            .map(|(name, value)| (name.clone(), without_marks(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_marks).collect(),
        other => other.clone(),
    }
}

fn script() -> String {
    let long =
        "This is what I found out, and what I think should be done about it next. ".repeat(4);
    let turn = |kind: &str, step: u32, reply: Value| {
        json!({
            "match": { "user": { "regex": format!("turn (?<n>\\d+): {kind} (?<file>\\S+)") }, "step": step },
            "reply": reply,
        })
    };
    let call = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let read = call("read", json!({ "path": "deep/{{file}}" }));
    let edit = call(
        "edit",
        json!({ "path": "notes.txt", "old_string": "END\n", "new_string": "turn {{n}}\nEND\n" }),
    );
    let rules = [
        turn(
            "look",
            1,
            json!([{ "text": "I'll look." }, { "calls": [read, call("grep", json!({ "pattern": "line 1", "path": "deep" }))] }]),
        ),
        turn(
            "edit",
            1,
            json!([{ "calls": [call("read", json!({ "path": "notes.txt" }))] }]),
        ),
        turn("edit", 2, json!([{ "calls": [edit] }])),
        turn(
            "run",
            1,
            json!([{ "calls": [call("exec_command", json!({ "command": "echo turn {{n}}; seq 1 200" })), call("list", json!({ "path": "." }))] }]),
        ),
        turn(
            "agent",
            1,
            json!([{ "calls": [call("spawn_agent", json!({ "task": "child-task: a part of turn {{n}}" }))] }]),
        ),
        json!({ "match": { "user": { "contains": "child-task" }, "step": 1 },
            "reply": [{ "calls": [call("read", json!({ "path": "deep/file1.txt" }))] }] }),
        json!({ "reply": [{ "text": long }] }),
    ];
    json!({ "rules": rules }).to_string()
}
