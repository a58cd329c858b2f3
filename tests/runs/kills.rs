//! Four agents at work and kill -9 at any moment: afterwards every record is readable, nothing ran
//! twice, and no process survives.
//!
//! Every command writes its own id into a journal, so a repeated command appears twice there. A
//! repeated edit would leave its line twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use agent::engine::repair_records;
use agent::record::{SessionRecord, Stored};
use agent::transcript::{self, Transcript};
use agent::{CallOutcome, Detail};
use mockllm::MockServer;
use model::{ModelId, ModelRequest, TokenCount};
use router::wire::{ChatDialect, WireOptions, WireProtocol, encode};
use serde_json::{Value, json};

use super::world::{Dice, Ended, Going, WIRES, World, count, serve};

/// The number of an agent's steps before it finishes.
const STEPS: u32 = 6;

/// The counts of the kill runs, for the test's output.
#[derive(Debug, Default)]
struct Found {
    finished_first: usize,
    without_session: usize,
    calls_in_flight: usize,
    survivors: usize,
    unfinished_children: usize,
}

/// All sessions of a ledger, with their records.
type Sessions = BTreeMap<String, Vec<Stored>>;

#[test]
fn killed_sessions_resume_without_repeating_calls() {
    let servers: Vec<MockServer> = WIRES.iter().map(|_| serve(&script())).collect();
    let mut dice = Dice(0x5eed_0001);
    let mut found = Found::default();
    let whole = whole(&servers[0]);
    let kills = count("BURIN_KILLS", 8);
    for number in 0..kills {
        let ix = number % WIRES.len();
        servers[ix].forget();
        let world = World::new(WIRES[ix], &servers[ix]);
        // Alternates between time and event count, because load on the machine affects only the
        // time.
        let moment = match number / WIRES.len() % 2 {
            0 => Moment::After(Duration::from_micros(
                dice.below(whole.length.as_micros() as u64),
            )),
            _ => Moment::Told(dice.below(whole.told as u64) as usize),
        };
        let trial = Trial {
            world,
            what: format!("kill {number} over {} at {moment:?}", WIRES[ix].0),
        };
        trial.run(moment, &mut found);
    }
    eprintln!("{kills} kills within {whole:?}: {found:?}");
}

/// The moment at which a program is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// This long after its start.
    After(Duration),
    /// After this many events.
    Told(usize),
}

/// An uninterrupted run, for comparison.
#[derive(Clone, Copy, Debug)]
struct Whole {
    length: Duration,
    /// The number of its events.
    told: usize,
}

/// Runs the whole task twice, because the first start of a program takes longer, and returns the
/// second run.
fn whole(server: &MockServer) -> Whole {
    let mut whole = None;
    for _ in 0..2 {
        let world = World::new(WIRES[0], server);
        let start = Instant::now();
        let left = world.run(&["task-of-p"]);
        whole = Some(Whole {
            length: start.elapsed(),
            told: left.told.len(),
        });
        assert_eq!(left.code, Some(0), "{}", left.errors);
        let sessions = sessions(&world);
        assert_eq!(sessions.len(), 4, "a parent and three subagents");
        assert_eq!(
            begun(&sessions).len(),
            3 + 4 * 2 * STEPS as usize - 4,
            "{:?}",
            begun(&sessions).keys()
        );
        assert_effects(&world, &sessions, "without a kill");
    }
    whole.expect("two runs")
}

struct Trial {
    world: World,
    what: String,
}

impl Trial {
    fn run(self, moment: Moment, found: &mut Found) {
        let mut going = self.world.start(&["task-of-p"]);
        let id = self.kill(&mut going, moment, found);
        let what = &self.what;
        if !self.world.path().join("state/ledger.db").exists() {
            found.without_session += 1;
            assert_eq!(
                self.world.text("journal"),
                "",
                "{what}: before there was a ledger"
            );
            return;
        }
        found.survivors += self.world.survivors().len();
        let before = sessions(&self.world);
        let is_known = |id: &String| before.contains_key(id);
        let Some(id) = id.filter(is_known) else {
            found.without_session += 1;
            assert_eq!(self.world.text("journal"), "", "{what}: without a session");
            return;
        };
        found.calls_in_flight += in_flight(&before).len();
        before
            .iter()
            .for_each(|(id, records)| self.assert_valid(id, records));
        let left = self.world.run(&["--resume", &id, "resume-p"]);
        assert_eq!(
            left.code,
            Some(0),
            "{what}: {}\n{:?}",
            left.errors,
            left.told.last()
        );
        let child = before
            .iter()
            .find(|(other, records)| **other != id && !has_ended(records));
        if let Some((child, _)) = child {
            found.unfinished_children += 1;
            let left = self.world.run(&["--resume", child, "resume-c"]);
            assert_eq!(left.code, Some(0), "{what}, child: {}", left.errors);
        }
        let after = sessions(&self.world);
        self.assert_unknown(&before, &after, &[Some(&id), child.map(|(id, _)| id)]);
        after
            .iter()
            .for_each(|(id, records)| self.assert_valid(id, records));
        assert_effects(&self.world, &after, what);
        let survivors = self.world.survivors();
        assert!(survivors.is_empty(), "{what}: {survivors:?}");
    }

    /// Kills the program at its moment; returns its session, if it reported one.
    fn kill(&self, going: &mut Going, moment: Moment, found: &mut Found) -> Option<String> {
        let start = Instant::now();
        let mut told: Vec<Value> = Vec::new();
        let is_due = |told: usize| match moment {
            Moment::After(after) => start.elapsed() >= after,
            Moment::Told(count) => told > count,
        };
        let mut is_over = false;
        while !is_over && !is_due(told.len()) {
            match going.next_within(Duration::from_millis(2)) {
                Ok(value) => told.extend(value),
                Err(Ended) => is_over = true,
            }
        }
        found.finished_first += usize::from(is_over);
        // It may have ended already.
        going.child.kill().ok();
        going.child.wait().expect("its end");
        told.extend(std::iter::from_fn(|| going.next()));
        let session = told.iter().find(|told| told["event"] == "session");
        session.and_then(|told| Some(told["id"].as_str()?.to_owned()))
    }

    /// Asserts that the session, once opened and repaired, can be sent over every wire.
    fn assert_valid(&self, id: &str, records: &[Stored]) {
        let what = &self.what;
        let mended = repair_records(records).into_iter().enumerate();
        let next = records.last().map_or(0, |last| last.seq + 1);
        let mended: Vec<Stored> = mended
            .map(|(ix, record)| Stored {
                seq: next + ix as u64,
                at_ms: 0,
                record,
            })
            .collect();
        let transcript = Transcript::of(records.iter().chain(&mended));
        let messages = transcript.messages();
        let problems = transcript::problems(&messages);
        assert!(problems.is_empty(), "{what}, session {id}: {problems:?}");
        if messages.is_empty() {
            return;
        }
        let model = ModelId::parse("mock/m").expect("a name");
        let mut request = ModelRequest::new(model, messages, TokenCount(4096));
        request.system = transcript.system();
        let (dialect, options) = (ChatDialect::default(), WireOptions::default());
        for wire in [
            WireProtocol::Anthropic,
            WireProtocol::Responses,
            WireProtocol::Chat,
            WireProtocol::Gemini,
        ] {
            let encoded = encode(wire, &dialect, &options, &request);
            let body = encoded
                .unwrap_or_else(|failure| panic!("{what}, {wire:?}: {failure}"))
                .body;
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            assert!(body.is_object(), "{what}, {wire:?}");
        }
    }

    /// Asserts that an interrupted call is reported as unknown once, and never starts again.
    fn assert_unknown(&self, before: &Sessions, after: &Sessions, resumed: &[Option<&String>]) {
        let what = &self.what;
        for (session, call) in in_flight(before) {
            if !resumed.contains(&Some(&session)) {
                continue;
            }
            let ends: Vec<_> = after[&session]
                .iter()
                .filter_map(|stored| match &stored.record {
                    SessionRecord::CallEnded {
                        call: it,
                        outcome,
                        detail,
                        ..
                    } if *it == call => Some((*outcome, detail.clone())),
                    _ => None,
                })
                .collect();
            let unknown = (
                CallOutcome::UnexpectedEnvironment,
                Some(Detail::ToolOutcomeUnknown),
            );
            assert_eq!(ends, [unknown], "{what}: {call}");
        }
        for ((session, call), times) in begun(after) {
            assert_eq!(times, 1, "{what}: {call} of {session} began again");
        }
    }
}

/// Asserts that every effect happened at most once, those of successful calls exactly once, and
/// none without a record.
fn assert_effects(world: &World, sessions: &Sessions, what: &str) {
    let journal = world.text("journal");
    let mut happened: BTreeMap<&str, usize> = BTreeMap::new();
    for line in journal.lines() {
        *happened.entry(line).or_default() += 1;
    }
    let twice: Vec<_> = happened.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{what}: {twice:?}");
    let mut told = BTreeSet::new();
    let mut commands = BTreeMap::new();
    for stored in sessions.values().flatten() {
        match &stored.record {
            SessionRecord::CallBegan {
                call, tool, input, ..
            } if tool == "exec_command" => {
                let command = input["command"].as_str().unwrap_or_default();
                let id = command
                    .strip_prefix("echo ")
                    .and_then(|it| it.split(' ').next());
                let id = id.expect("every command begins with its id").to_owned();
                told.insert(id.clone());
                commands.insert(call.clone(), id);
            }
            SessionRecord::CallEnded {
                call,
                outcome: CallOutcome::Ok,
                ..
            } => {
                if let Some(id) = commands.get(call) {
                    let end = format!("{id}.end");
                    let both =
                        happened.contains_key(id.as_str()) && happened.contains_key(end.as_str());
                    assert!(both, "{what}: {id} ended well and left nothing");
                }
            }
            _ => {}
        }
    }
    for id in happened.keys() {
        let id = id.trim_end_matches(".end");
        assert!(
            told.contains(id),
            "{what}: {id} happened and no record tells of it"
        );
    }
    for who in ["p", "a", "b", "c"] {
        let text = world.text(&format!("{who}.log"));
        let mut lines: Vec<&str> = text.lines().collect();
        let all = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(
            lines.len(),
            all,
            "{what}: an edit of {who}.log was made twice:\n{text}"
        );
    }
}

fn sessions(world: &World) -> Sessions {
    let store = world.store();
    let lines = store.sessions(usize::MAX).expect("the sessions");
    let read = lines.into_iter().map(|line| {
        let past = store.read(&line.id).expect("a session opens");
        assert!(past.problems.is_empty(), "{:?}", past.problems);
        (line.id, past.records)
    });
    read.collect()
}

fn has_ended(records: &[Stored]) -> bool {
    let last = records.last().map(|stored| &stored.record);
    matches!(last, Some(SessionRecord::TurnEnded { .. }))
}

/// Counts how often each call began, by session and call.
fn begun(sessions: &Sessions) -> BTreeMap<(String, String), usize> {
    let mut begun = BTreeMap::new();
    for (session, records) in sessions {
        for stored in records {
            if let SessionRecord::CallBegan { call, .. } = &stored.record {
                *begun.entry((session.clone(), call.clone())).or_default() += 1;
            }
        }
    }
    begun
}

/// Returns the calls that began and have no end, as session and call.
fn in_flight(sessions: &Sessions) -> BTreeSet<(String, String)> {
    let mut open: BTreeSet<_> = begun(sessions).into_keys().collect();
    for (session, records) in sessions {
        for stored in records {
            if let SessionRecord::CallEnded { call, .. } = &stored.record {
                open.remove(&(session.clone(), call.clone()));
            }
        }
    }
    open
}

/// Returns a command that writes a mark at its start and its end, and starts a process that would
/// survive it.
fn command(id: &str, step: u32) -> Call {
    let between = match step % 3 {
        0 => "setsid nohup sleep 300 >/dev/null 2>&1 & sleep 0.05",
        1 => "(trap '' TERM HUP; sleep 300 & sleep 300) >/dev/null 2>&1 & sleep 0.05",
        _ => "sleep 0.02",
    };
    let line = format!("echo {id} >> journal; {between}; echo {id}.end >> journal");
    Call(json!({ "tool": "exec_command", "arguments": { "command": line } }))
}

struct Call(Value);

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn edit(who: &str, step: u32) -> Call {
    Call(match step {
        1 => {
            json!({ "tool": "write", "arguments": { "path": format!("{who}.log"), "content": "line 1\nEND\n" } })
        }
        _ => json!({ "tool": "edit", "arguments": {
            "path": format!("{who}.log"), "old_string": "END\n", "new_string": format!("line {step}\nEND\n"),
        } }),
    })
}

/// Returns the script of a parent that starts three agents and works in parallel.
fn script() -> String {
    let mut rules = Vec::new();
    for (user, who) in [("task-of-p", "p"), ("task-of-(?<who>[abc])", "{{who}}")] {
        for step in 1..=STEPS {
            let mut calls = vec![command(&format!("{who}-{step}"), step), edit(who, step)];
            if step == STEPS {
                calls.pop();
            }
            if step == 1 && who == "p" {
                let spawn = |it: &str| {
                    Call(
                        json!({ "tool": "spawn_agent", "arguments": { "task": format!("task-of-{it}") } }),
                    )
                };
                calls.splice(0..0, ["a", "b", "c"].map(spawn));
            }
            let calls: Vec<Value> = calls.into_iter().map(|call| call.0).collect();
            rules.push(json!({
                "match": { "user": { "regex": user }, "step": step },
                "reply": [{ "text": format!("Step {step}.") }, { "calls": calls }],
                "pace": { "first_byte_ms": 15 },
            }));
        }
    }
    for step in 1..=2 {
        let id = format!("{{{{who}}}}-resumed-{step}");
        rules.push(json!({
            "match": { "user": { "regex": "resume-(?<who>\\w)" }, "step": step },
            "reply": [{ "calls": [command(&id, step).0] }],
        }));
    }
    rules.push(json!({ "reply": [{ "text": "Done." }] }));
    json!({ "rules": rules }).to_string()
}
