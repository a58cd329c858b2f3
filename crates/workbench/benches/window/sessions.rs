//! Key to scene while eight agents stream into a long transcript, the opening of that transcript, and the list of many
//! sessions.

use std::sync::Arc;
use std::time::Duration;

use agent::record::{SessionMode, StoredContent, StoredPart, StoredUsage};
use agent::tool::{ToolClass, ToolDisplay};
use agent::{AgentEvent, CallOutcome, SessionRecord, Stored};
use composer_panel::actions::ShowSessions;
use composer_panel::agents::{RunningSession, SessionActivity, SessionEntry, SessionStatus};
use cpu_time::ThreadTime;

use crate::frames::TYPED;
use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::stage::{Pace, keystroke};
use crate::world::{Models, Tab, World};
use workbench::target::LineColumn;

/// Number of stored sessions, and of those that run.
const SESSIONS: usize = 50;
const RUNNING: usize = 8;
/// Size of the texts in the transcript, in bytes.
const TRANSCRIPT_BYTES: usize = 1 << 20;
/// Number of typed lines, and of lines that are not counted: they shape words that are not cached yet.
const LINES: usize = 8;
const FIRST_LINES: usize = 2;
/// Time between keys: eight a second.
const BETWEEN: Duration = Duration::from_millis(125);
/// Time between two chunks of every stream.
const CHUNK_TIME: Duration = Duration::from_millis(25);
/// Goals in milliseconds.
const KEY_P99: f64 = 2.0;
const OPENING: f64 = 100.0;
const LIST_KEY: f64 = 8.0;

const ANSWER: &str = "\
The search walks **every** row of the file for each key, so its cost grows with the file. I keep the rows by their \
revision and look only at those that the parse reports as changed:

```rust
fn changed_rows(&self, since: Revision) -> impl Iterator<Item = Row> {
    self.rows.iter().filter(move |row| row.revision > since)
}
```

1. `Outline::update` takes the changed ranges.
2. `Names` shares them, and nothing reads the whole text.
";
const CHUNK: &str = "and then the *next* part of `the answer` follows, ";
/// Number of chunks in a paragraph, and in an answer, after which a call follows.
const PARAGRAPH: u64 = 8;
const ANSWER_CHUNKS: u64 = 64;

pub(crate) fn run() {
    let text = include_str!("../../src/prediction.rs");
    let file = EditedFile {
        name: "typed.rs",
        text: &format!("{text}\nfn typed() {{\n    \n}}\n"),
        place: LineColumn::new(text.lines().count() as u32 + 3, 5),
    };
    let mut world = World::open(Models::None, Tab::On, &file);
    let entries = (0..SESSIONS).map(entry).collect();
    world.engine().set_sessions(entries);
    world.pass(BETWEEN, Pace::Free);
    filter_list(&mut world);
    open_transcript(&mut world);
    type_beside_streams(&mut world);
}

/// Opens the list of sessions and filters it.
fn filter_list(world: &mut World) {
    let start = ThreadTime::now();
    world.act(ShowSessions);
    world.stage.cx.run_until_parked();
    let opening = start.elapsed().as_secs_f64() * 1e3;
    print("list of 50 sessions: opening", opening, 1, Goal::None);
    let mut times = Vec::new();
    for key in "part 7".chars() {
        let start = ThreadTime::now();
        world.press(keystroke(key));
        world.stage.cx.run_until_parked();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let name = "list of 50 sessions: key of the filter to scene, largest";
    print(
        name,
        quantile(&times, 1.0),
        times.len(),
        Goal::AtMost(LIST_KEY),
    );
}

/// Opens the session that the filter left, whose records are a long transcript.
fn open_transcript(world: &mut World) {
    world.press(keystroke('\n'));
    world.stage.cx.run_until_parked();
    let opened = world.engine().opened();
    let [id] = opened.as_slice() else {
        panic!("the filter leaves one session: {opened:?}");
    };
    let records = transcript();
    let count = records.len();
    for record in records {
        assert!(
            world.engine().send_event_of(id, record),
            "the panel shows the session"
        );
    }
    let start = ThreadTime::now();
    world.stage.cx.run_until_parked();
    let time = start.elapsed().as_secs_f64() * 1e3;
    let rows = world.transcript_rows().unwrap_or_default();
    assert!(rows * 2 > count / 2, "the transcript is shown: {rows} rows");
    let name = "transcript of 1 MB: records to scene, all threads of the program";
    print(name, time, count, Goal::AtMost(OPENING));
}

/// Types while the session and seven subagents of it stream.
fn type_beside_streams(world: &mut World) {
    world.focus_text();
    let root = world.root();
    let running = |ix: usize| RunningSession {
        id: format!("s{ix}"),
        folder: root.clone(),
        activity: SessionActivity::Working,
        waiting_for: String::new(),
    };
    let running: Vec<_> = (0..RUNNING).map(running).collect();
    world.engine().set_running(&running);
    for child in 1..RUNNING {
        stream(world, Some(child), AgentEvent::Text(ANSWER.to_owned()));
    }
    let (mut keys, mut updates) = (Vec::new(), Vec::new());
    let mut chunks = 0_u64;
    for (ix, line) in TYPED.lines().cycle().take(LINES).enumerate() {
        for key in line.chars().chain(['\n']) {
            let took = world.press(keystroke(key));
            if ix >= FIRST_LINES {
                keys.push(took);
            }
            let mut passed = Duration::ZERO;
            while passed < BETWEEN {
                chunks += 1;
                let end = if chunks.is_multiple_of(PARAGRAPH) {
                    "\n\n"
                } else {
                    ""
                };
                for child in (1..RUNNING).map(Some).chain([None]) {
                    stream(world, child, AgentEvent::Text(format!("{CHUNK}{end}")));
                    if chunks.is_multiple_of(ANSWER_CHUNKS) {
                        end_step(world, child, chunks / ANSWER_CHUNKS);
                    }
                }
                let start = ThreadTime::now();
                world.stage.cx.run_until_parked();
                updates.push(start.elapsed().as_secs_f64() * 1e3);
                world.pass(CHUNK_TIME, Pace::Real);
                passed += CHUNK_TIME;
            }
        }
    }
    let name = "key to scene while 8 agents stream into a transcript of 1 MB";
    print(
        &format!("{name} p50"),
        quantile(&keys, 0.5),
        keys.len(),
        Goal::None,
    );
    print(
        &format!("{name} p99"),
        quantile(&keys, 0.99),
        keys.len(),
        Goal::AtMost(KEY_P99),
    );
    let name = "a chunk of each of the 8 streams to scene, with Markdown";
    print(
        &format!("{name} p50"),
        quantile(&updates, 0.5),
        updates.len(),
        Goal::None,
    );
    print(
        &format!("{name} p99"),
        quantile(&updates, 0.99),
        updates.len(),
        Goal::None,
    );
}

/// Ends an answer of a stream with its call, and begins another one.
fn end_step(world: &World, child: Option<usize>, step: u64) {
    let name = child.map_or_else(|| "own".to_owned(), |child| child.to_string());
    let [asked, answered, began, ended] = step_records(u64::MAX, step, &name);
    for (seq, record) in (0..).zip([answered, began, ended, asked]) {
        let stored = Stored {
            seq: u64::MAX / 2 + 4 * step + seq,
            at_ms: 0,
            record,
        };
        stream(world, child, AgentEvent::Recorded(Arc::new(stored)));
    }
}

/// Sends an event of the open session or of one of its subagents.
fn stream(world: &World, child: Option<usize>, event: AgentEvent) {
    let event = match child {
        Some(child) => AgentEvent::Child {
            session: format!("child-{child}").into(),
            event: Box::new(event),
        },
        None => event,
    };
    world.engine().send_event(event);
}

fn print(name: &str, value: f64, n: usize, goal: Goal) {
    let figure = Figure {
        name,
        value,
        unit: "ms",
        n,
    };
    figure.print(goal);
}

fn entry(ix: usize) -> SessionEntry {
    SessionEntry {
        id: format!("s{ix}"),
        title: format!("Speed up part {ix} of the search"),
        age_ms: 60_000 * ix as u64,
        model: "anthropic/claude-sonnet-5".to_owned(),
        cost_nano: Some(120_000_000),
        status: SessionStatus::Done,
        agent: None,
        is_archived: false,
        is_unread: ix.is_multiple_of(9),
    }
}

/// Returns the records of a session whose texts have `TRANSCRIPT_BYTES`, the last turn of which is running.
fn transcript() -> Vec<AgentEvent> {
    let output = "test search::rows_of_a_revision ... ok\n".repeat(40);
    let of_turn = 3 * (ANSWER.len() + output.len());
    let turns = (TRANSCRIPT_BYTES / of_turn) as u64;
    let mut records = vec![SessionRecord::Began {
        root: "/p".to_owned(),
        parent: None,
        forked_from: None,
        mode: SessionMode::Build,
        model: "bench/model".to_owned(),
    }];
    for turn in 1..=turns {
        records.push(SessionRecord::Prompted {
            turn,
            parts: vec![text("Make the search faster, and measure it.")],
            is_steering: false,
        });
        for step in 1..=3 {
            records.extend(step_records(turn, step, &output));
        }
        let is_last = turn == turns;
        let ended = SessionRecord::TurnEnded {
            turn,
            end: agent::record::TurnEnd::Done,
        };
        records.extend((!is_last).then_some(ended));
    }
    let stored = |(seq, record)| {
        AgentEvent::Recorded(Arc::new(Stored {
            seq,
            at_ms: 0,
            record,
        }))
    };
    (0..).zip(records).map(stored).collect()
}

/// Returns the records of a request, its answer, and its call.
fn step_records(turn: u64, step: u64, output: &str) -> [SessionRecord; 4] {
    let call = format!("call-{turn}-{step}");
    let command = "cargo test -p search".to_owned();
    [
        SessionRecord::Asked {
            turn,
            step,
            model: "bench/model".to_owned(),
            prompt: String::new(),
            bytes: 0,
            same_bytes: 0,
        },
        SessionRecord::Answered {
            turn,
            step,
            model: "bench/model".to_owned(),
            parts: vec![
                text(ANSWER),
                StoredPart {
                    content: StoredContent::Call {
                        id: call.clone(),
                        name: "exec_command".to_owned(),
                        arguments: serde_json::json!({ "command": command }).to_string(),
                    },
                    opaque: None,
                },
            ],
            usage: StoredUsage::default(),
            cost_nano: Some(5),
            stop: "tool_use".to_owned(),
        },
        SessionRecord::CallBegan {
            turn,
            call: call.clone(),
            tool: "exec_command".to_owned(),
            name: "exec_command".to_owned(),
            class: ToolClass::Execute,
            title: command.clone(),
            input: serde_json::json!({ "command": command }),
        },
        SessionRecord::CallEnded {
            turn,
            call,
            tool: "exec_command".to_owned(),
            outcome: CallOutcome::Ok,
            detail: None,
            content: vec![text(output)],
            shown: vec![ToolDisplay::Command {
                command,
                code: Some(0),
                output: output.to_owned(),
            }],
            millis: 12,
        },
    ]
}

fn text(text: &str) -> StoredPart {
    StoredPart {
        content: StoredContent::Text {
            text: text.to_owned(),
        },
        opaque: None,
    }
}
