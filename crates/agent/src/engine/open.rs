//! How sessions begin: anew, from their records, or from another's.

use std::collections::HashSet;
use std::sync::Arc;

use model::policy::TokenEstimator;
use model::{Cost, TokenCount};
use tokio::sync::mpsc;

use super::hold::Hold;
use super::inbox::{Events, Inbox};
use super::omitting::Omitted;
use super::session::{Offered, Session, offered};
use super::{Opened, Start};
use crate::loops::Loops;
use crate::outcome::{Detail, Outcome};
use crate::parts;
use crate::purse::Purse;
use crate::record::{Origin, Record, Stored, StoredContent, TurnEnd};
use crate::spawn::{self, SPAWN_AGENT, SpawnAgent};
use crate::transcript::{Fingerprint, Transcript};

/// Commands that may wait.
const COMMANDS: usize = 64;
/// Events that may wait.
const EVENTS: usize = 4096;
/// Answers of background agents that may wait; there are never more than such agents.
const LATE: usize = 256;

/// What the model is told of a call that may or may not have run.
const UNKNOWN: &str = "The program that ran this call died before it wrote down what came of it. The call may have \
                       done all, part, or nothing of what it was to do. It was not run again. Look at how things \
                       stand before you go on.";
/// What it is told of a call that never began.
const NEVER_BEGAN: &str = "This call was not run: the program ended before it began.";

/// Starts a new session on tokio's current runtime. Nothing is written down before its first prompt.
pub fn start(start: Start) -> Opened {
    let id = start.harness.new_id();
    start_as(id, start)
}

/// Starts a session under a name that it had already: one that ended before its first prompt, so that nothing of it
/// is written down and `resume` finds nothing.
pub fn start_as(id: Arc<str>, start: Start) -> Opened {
    launch(id, start, Vec::new(), 0, None)
}

/// Opens a session from its records. What was under way when its program died is answered first: nothing is run
/// again. Fails with a sentence where there is no such session or the ledger cannot be written.
pub async fn resume(mut start: Start, id: &str) -> Result<Opened, String> {
    let store = start.harness.store().clone();
    let reader = store.clone();
    let name = id.to_owned();
    let read = tokio::task::spawn_blocking(move || reader.read(&name)).await;
    let past = read.map_err(|error| format!("session {id} could not be read: {error}"))??;
    for problem in &past.problems {
        log::warn!("{problem}");
    }
    let harness = start.harness.clone();
    let name = id.to_owned();
    let held = tokio::task::spawn_blocking(move || harness.hold(&name)).await;
    let hold = held.map_err(|error| format!("session {id} could not be opened: {error}"))??;
    let mut records = past.records;
    let at_ms = start.harness.parts.sources.clock.wall_ms();
    let mut repaired = repairs(&records);
    // Whoever looks how things stand must not look at something that still changes.
    let ending = tokio::task::spawn_blocking(host::process::end_orphans);
    let ended = ending.await.unwrap_or_default();
    repaired.extend(orphans_note(ended));
    let mended: Vec<Stored> = (past.next_seq..)
        .zip(repaired)
        .map(|(seq, record)| Stored { seq, at_ms, record })
        .collect();
    let next_seq = past.next_seq + mended.len() as u64;
    store.append(id, &mended).await?;
    records.extend(mended);
    for stored in &records {
        match &stored.record {
            Record::Began { model, mode, .. } => {
                start.model.clone_from(model);
                start.mode = *mode;
            }
            Record::Switched { to, .. } => start.model.clone_from(to),
            Record::ModeSet { mode } => start.mode = *mode,
            _ => {}
        }
    }
    Ok(launch(id.into(), start, records, next_seq, hold))
}

fn orphans_note(ended: usize) -> Option<Record> {
    let text = match ended {
        0 => return None,
        1 => "A process that was still running when the program died was ended.".to_owned(),
        ended => {
            format!("{ended} processes that were still running when the program died were ended.")
        }
    };
    Some(Record::Noted { text })
}

/// Copies a session up to a record, that included, into a new one, which can then be resumed. Answers its name.
pub async fn fork(start: &Start, id: &str, after: u64) -> Result<String, String> {
    let store = start.harness.store().clone();
    let name = id.to_owned();
    let reader = store.clone();
    let read = tokio::task::spawn_blocking(move || reader.read(&name)).await;
    let past = read.map_err(|error| format!("session {id} could not be read: {error}"))??;
    let at_ms = start.harness.parts.sources.clock.wall_ms();
    let mut records: Vec<Stored> = past.records;
    records.retain(|stored| stored.seq <= after);
    let mended = (after + 1..).zip(repairs(&records));
    let mended: Vec<Stored> = mended
        .map(|(seq, record)| Stored { seq, at_ms, record })
        .collect();
    records.extend(mended);
    let Some(first) = records.first_mut() else {
        return Err(format!("session {id} has no record {after} to go on from"));
    };
    let Record::Began { forked_from, .. } = &mut first.record else {
        return Err(format!(
            "session {id} cannot be gone on from: its beginning cannot be read"
        ));
    };
    *forked_from = Some((id.to_owned(), after));
    first.at_ms = at_ms;
    let Record::Began { root, .. } = &first.record else {
        return Err(format!("session {id} has no beginning"));
    };
    let (new, root) = (start.harness.new_id(), root.clone());
    store.begin(&new, &root, &records).await?;
    Ok(new.as_ref().to_owned())
}

/// What has to be written down before a session whose program died can go on: the end of every call that has
/// none, and of the turn.
pub fn repairs(records: &[Stored]) -> Vec<Record> {
    let mut repairs = Vec::new();
    let mut began = HashSet::new();
    let mut ended = HashSet::new();
    let mut called: Vec<(u64, &str, &str)> = Vec::new();
    let mut tools = std::collections::HashMap::new();
    let mut open_turn = None;
    for stored in records {
        match &stored.record {
            Record::Prompted {
                turn,
                is_steering: false,
                ..
            } => open_turn = Some(*turn),
            Record::Answered { turn, parts, .. } => {
                for part in parts {
                    if let StoredContent::Call { id, name, .. } = &part.content {
                        called.push((*turn, id, name));
                    }
                }
            }
            Record::CallBegan {
                turn, call, tool, ..
            } => {
                began.insert(call.as_str());
                tools.insert(call.as_str(), tool.as_str());
                if !called.iter().any(|(_, id, _)| id == call) {
                    called.push((*turn, call, tool));
                }
            }
            Record::CallEnded { call, .. } => {
                ended.insert(call.as_str());
            }
            Record::TurnEnded { .. } => open_turn = None,
            _ => {}
        }
    }
    for (turn, call, name) in called {
        if !ended.insert(call) {
            continue;
        }
        let (detail, text) = match began.contains(call) {
            true => (Some(Detail::ToolOutcomeUnknown), UNKNOWN),
            false => (None, NEVER_BEGAN),
        };
        repairs.push(Record::CallEnded {
            turn,
            call: call.to_owned(),
            tool: tools.get(call).copied().unwrap_or(name).to_owned(),
            outcome: Outcome::UnexpectedEnvironment,
            detail,
            content: vec![parts::text(text)],
            shown: Vec::new(),
            millis: 0,
        });
    }
    repairs.extend(open_turn.map(|turn| Record::TurnEnded {
        turn,
        end: TurnEnd::Interrupted,
    }));
    repairs
}

/// Every piece of the prompt that these records make, with its origin: tools first, as the session is offered them.
pub fn listing(start: &Start, records: &[Stored]) -> Vec<(Origin, String)> {
    let mut model = start.model.clone();
    for stored in records {
        if let Record::Switched { to, .. } = &stored.record {
            model.clone_from(to);
        }
    }
    let profile = start.harness.parts.mind.profile(&model);
    let offered = offered(start, &profile, None);
    let mut specs = offered.specs;
    if can_spawn(start) {
        specs.push((SPAWN_AGENT.to_owned(), spawn::spec(&profile)));
    }
    Transcript::of(records).listing(&specs)
}

/// Whether a session may have subagents.
fn can_spawn(start: &Start) -> bool {
    let depth = start.parent.as_ref().map_or(0, |it| it.depth);
    depth < start.harness.parts.limits.depth
}

fn launch(
    id: Arc<str>,
    start: Start,
    records: Vec<Stored>,
    next_seq: u64,
    hold: Option<Arc<Hold>>,
) -> Opened {
    let (commands, obeyed) = mpsc::channel(COMMANDS);
    let (told, events) = mpsc::channel(EVENTS);
    let told = Events(told);
    let (inbox, desk) = Inbox::new(obeyed, told.clone(), start.has_person);
    let (late, waiting) = mpsc::channel(LATE);
    let locks = start.parent.as_ref().map(|it| it.locks.clone());
    let locks = locks.unwrap_or_default();
    let above = start.parent.as_ref().map(|it| it.purse.clone());
    let purse = Purse::new(start.budget, above);
    let spawn = can_spawn(&start).then(|| {
        Arc::new(SpawnAgent::new(
            start.clone(),
            id.clone(),
            told.clone(),
            inbox.children.clone(),
            (locks.clone(), purse.clone()),
            late,
        ))
    });
    let transcript = Transcript::of(&records);
    let mut session = Session {
        agent: start.harness.new_agent(),
        model: start.model.clone(),
        mode: start.mode,
        has_begun: !records.is_empty(),
        transcript,
        inbox,
        desk,
        events: told,
        locks,
        offered: Offered::default(),
        spawn,
        late: waiting,
        next_seq,
        turn: 0,
        is_written: false,
        purse,
        fingerprint: Fingerprint::default(),
        loops: Loops::default(),
        estimator: TokenEstimator::default(),
        hold,
        omitted: Omitted::default(),
        todos: Vec::new(),
        context: None,
        past: Vec::new(),
        touched: Vec::new(),
        joining: Vec::new(),
        id: id.clone(),
        start,
    };
    session.recall(records);
    session.offer();
    if session.has_begun {
        session.fingerprint = session.transcript.fingerprint(&session.offered.specs);
    }
    tokio::spawn(session.run());
    Opened {
        id,
        commands,
        events,
    }
}

impl Session {
    /// Takes over from records what is not in the transcript.
    fn recall(&mut self, records: Vec<Stored>) {
        let mut asked_bytes = 0;
        let mut counted_from = 0;
        for stored in &records {
            self.omitted.apply(&stored.record);
            match &stored.record {
                Record::Began {
                    forked_from: Some((_, after)),
                    ..
                } => counted_from = after + 1,
                Record::Prompted { turn, .. } => self.turn = *turn,
                Record::Asked { bytes, .. } => asked_bytes = *bytes,
                Record::Answered {
                    usage, cost_nano, ..
                } => {
                    if stored.seq >= counted_from {
                        self.purse.pay(cost_nano.map(Cost));
                    }
                    let prompt = usage.input + usage.cache_read + usage.cache_write;
                    self.estimator.observe(asked_bytes, TokenCount(prompt));
                }
                Record::Planned { todos } => self.todos.clone_from(todos),
                _ => {}
            }
        }
        // Only what joined tells a context what was said already.
        let joined = records.into_iter().map(|stored| stored.record);
        self.past = joined
            .filter(|record| matches!(record, Record::Joined { .. } | Record::Began { .. }))
            .collect();
    }
}
