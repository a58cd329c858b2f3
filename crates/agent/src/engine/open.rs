//! Starts sessions: new ones, resumed ones, and forks.

use std::collections::HashSet;
use std::sync::Arc;

use model::policy::TokenEstimator;
use model::{Cost, TokenCount};
use tokio::sync::mpsc;

use super::adaptation::Adaptation;
use super::inbox::{EventSender, Inbox};
use super::judging::JudgedTurn;
use super::omitting::Omitted;
use super::queue_journal::{QueueJournal, RecordNumbers};
use super::session::{OfferedTools, SessionTask, offered};
use super::session_lock::SessionLock;
use super::{Harness, SessionChannels, SessionOptions};
use crate::budget::SessionBudget;
use crate::error::Error;
use crate::language::EditDiagnostics;
use crate::loops::LoopDetector;
use crate::outcome::{CallOutcome, Detail};
use crate::queue::PromptQueue;
use crate::record::{PromptOrigin, QueueChange, SessionRecord, Stored, StoredContent, TurnEnd};
use crate::spawn::{self, SPAWN_AGENT, SpawnAgentTool};
use crate::stored_parts;
use crate::transcript::{PromptFingerprint, Transcript};

/// Capacity of the command channel.
const COMMAND_CAPACITY: usize = 64;
/// Capacity of the event channel.
const EVENT_CAPACITY: usize = 4096;
/// Capacity of the channel for answers of background agents; there are never more such agents.
const LATE_CAPACITY: usize = 256;

/// Result for the model of a call that may or may not have run.
const OUTCOME_UNKNOWN: &str = "The program that ran this call died before it wrote down what came of it. The call may have \
                       done all, part, or nothing of what it was to do. It was not run again. Look at how things \
                       stand before you go on.";
/// Result for the model of a call that never started.
const NEVER_STARTED: &str = "This call was not run: the program ended before it began.";

/// Starts a new session on tokio's current runtime. Nothing is recorded before its first prompt.
pub fn start(start: SessionOptions) -> SessionChannels {
    let id = start.harness.new_id();
    start_with_id(id, start)
}

/// Starts a session with an existing id: one that ended before its first prompt, so that `resume`
/// finds no records of it.
pub fn start_with_id(id: Arc<str>, start: SessionOptions) -> SessionChannels {
    launch(id, start, Vec::new(), 0, None)
}

/// Opens a session from its records. Calls interrupted by a crash get a result first; none of them
/// is run again. Fails if there is no such session, another process holds it, or the ledger cannot
/// be written.
pub async fn resume(mut start: SessionOptions, id: &str) -> Result<SessionChannels, Error> {
    let store = start.harness.store().clone();
    let reader = store.clone();
    let name = id.to_owned();
    let variant = start.variant.take();
    let read = tokio::task::spawn_blocking(move || {
        // A session keeps what it began with, although the user began an experiment since.
        let variant = match variant {
            Some(it) if reader.has_exposure(it.experiment(), &name)? => Some(it),
            _ => None,
        };
        Ok::<_, Error>((reader.read(&name)?, variant))
    });
    let read = read
        .await
        .map_err(|source| task_error(id, "read", source))?;
    let (past, variant) = read?;
    start.variant = variant;
    refuse_hosted(id, &past.records)?;
    let harness = start.harness.clone();
    let name = id.to_owned();
    let held = tokio::task::spawn_blocking(move || harness.lock_session(&name)).await;
    let hold = held.map_err(|source| task_error(id, "opened", source))??;
    let mut records = past.records;
    let at_ms = start.harness.parts.sources.clock.wall_ms();
    let mut repaired = repair_records(&records);
    if PromptQueue::of(&records).sends_next() {
        // Opening a session sends nothing by itself.
        let change = QueueChange::Held;
        repaired.push(SessionRecord::Queued { change });
    }
    // Leftover processes must end first, since the model would look at files that still change.
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
            SessionRecord::Began { model, mode, .. } => {
                start.model.clone_from(model);
                start.mode = *mode;
            }
            SessionRecord::Switched { to, .. } => start.model.clone_from(to),
            SessionRecord::ModeSet { mode } => start.mode = *mode,
            SessionRecord::EffortSet { effort } => start.effort = Some(*effort),
            _ => {}
        }
    }
    Ok(SessionChannels {
        problems: past.problems,
        ..launch(id.into(), start, records, next_seq, hold)
    })
}

pub(super) fn task_error(id: &str, doing: &'static str, source: tokio::task::JoinError) -> Error {
    Error::SessionTask {
        session: id.to_owned(),
        doing,
        source,
    }
}

/// Fails for a session whose conversation an external agent keeps.
fn refuse_hosted(id: &str, records: &[Stored]) -> Result<(), Error> {
    let agent = records.iter().find_map(|stored| match &stored.record {
        SessionRecord::Hosted { agent, .. } => Some(agent.clone()),
        _ => None,
    });
    match agent {
        Some(agent) => Err(Error::HostedSession {
            session: id.to_owned(),
            agent,
        }),
        None => Ok(()),
    }
}

/// Returns the note that says how many orphaned processes were ended; `None` for 0.
fn orphans_note(ended: usize) -> Option<SessionRecord> {
    let text = match ended {
        0 => return None,
        1 => "A process that was still running when the program died was ended.".to_owned(),
        ended => {
            format!("{ended} processes that were still running when the program died were ended.")
        }
    };
    Some(SessionRecord::Noted { text })
}

/// Copies a session up to and including the record number `after` into a new one, which can then be
/// resumed. Returns the id of the copy. The original stays unchanged.
pub async fn fork(harness: &Harness, id: &str, after: u64) -> Result<String, Error> {
    let store = harness.store().clone();
    let name = id.to_owned();
    let reader = store.clone();
    // The copy is made from the records on the disk.
    store.flush().await?;
    let read = tokio::task::spawn_blocking(move || reader.read(&name)).await;
    let past = read.map_err(|source| task_error(id, "read", source))??;
    refuse_hosted(id, &past.records)?;
    let at_ms = harness.parts.sources.clock.wall_ms();
    let mut records: Vec<Stored> = past.records;
    records.retain(|stored| stored.seq <= after);
    let mut repaired = repair_records(&records);
    // The messages go out from the original, and only once.
    let queue = PromptQueue::of(&records);
    repaired.extend(queue.entries().iter().map(|entry| SessionRecord::Queued {
        change: QueueChange::Removed { id: entry.id },
    }));
    let mended = (after + 1..).zip(repaired);
    let mended: Vec<Stored> = mended
        .map(|(seq, record)| Stored { seq, at_ms, record })
        .collect();
    records.extend(mended);
    let session = || id.to_owned();
    let Some(first) = records.first_mut() else {
        return Err(Error::NoRecord {
            session: session(),
            after,
        });
    };
    first.at_ms = at_ms;
    let SessionRecord::Began {
        forked_from, root, ..
    } = &mut first.record
    else {
        return Err(Error::NoSessionStart(session()));
    };
    *forked_from = Some((session(), after));
    let root = root.clone();
    let new = harness.new_id();
    store.create_session(&new, &root, &records).await?;
    Ok(new.as_ref().to_owned())
}

/// Returns the records that a session needs to continue after a crash: the end of every unfinished
/// call, and of the turn.
pub fn repair_records(records: &[Stored]) -> Vec<SessionRecord> {
    let mut repairs = Vec::new();
    let mut began = HashSet::new();
    let mut ended = HashSet::new();
    let mut called: Vec<(u64, &str, &str)> = Vec::new();
    let mut tools = std::collections::HashMap::new();
    let mut open_turn = None;
    for stored in records {
        match &stored.record {
            SessionRecord::Prompted {
                turn,
                is_steering: false,
                ..
            } => open_turn = Some(*turn),
            SessionRecord::Answered { turn, parts, .. } => {
                for part in parts {
                    if let StoredContent::Call { id, name, .. } = &part.content {
                        called.push((*turn, id, name));
                    }
                }
            }
            SessionRecord::CallBegan {
                turn, call, tool, ..
            } => {
                began.insert(call.as_str());
                tools.insert(call.as_str(), tool.as_str());
                if !called.iter().any(|(_, id, _)| id == call) {
                    called.push((*turn, call, tool));
                }
            }
            SessionRecord::CallEnded { call, .. } => {
                ended.insert(call.as_str());
            }
            SessionRecord::TurnEnded { .. } => open_turn = None,
            _ => {}
        }
    }
    for (turn, call, name) in called {
        if !ended.insert(call) {
            continue;
        }
        let (detail, text) = if began.contains(call) {
            (Some(Detail::ToolOutcomeUnknown), OUTCOME_UNKNOWN)
        } else {
            (None, NEVER_STARTED)
        };
        repairs.push(SessionRecord::CallEnded {
            turn,
            call: call.to_owned(),
            tool: tools.get(call).copied().unwrap_or(name).to_owned(),
            outcome: CallOutcome::UnexpectedEnvironment,
            detail,
            content: vec![stored_parts::text(text)],
            shown: Vec::new(),
            millis: 0,
        });
    }
    repairs.extend(open_turn.map(|turn| SessionRecord::TurnEnded {
        turn,
        end: TurnEnd::Interrupted,
    }));
    repairs
}

/// Returns every part of the prompt that these records produce, with its origin: first the tools,
/// in the order offered. Sends nothing; `burin-agent run --show-prompt` prints it.
pub fn prompt_parts(start: &SessionOptions, records: &[Stored]) -> Vec<(PromptOrigin, String)> {
    let mut model = start.model.clone();
    for stored in records {
        if let SessionRecord::Switched { to, .. } = &stored.record {
            model.clone_from(to);
        }
    }
    let profile = start.harness.parts.models.profile(&model);
    let offered = offered(start, &profile, None);
    let mut specs = offered.specs;
    if can_spawn(start) {
        specs.push((SPAWN_AGENT.to_owned(), spawn::spec(&profile)));
    }
    Transcript::of(records).listing(&specs)
}

/// Returns whether a session may start subagents.
fn can_spawn(start: &SessionOptions) -> bool {
    let depth = start.parent.as_ref().map_or(0, |it| it.depth);
    depth < start.harness.parts.limits.depth
}

fn launch(
    id: Arc<str>,
    mut start: SessionOptions,
    records: Vec<Stored>,
    next_seq: u64,
    hold: Option<Arc<SessionLock>>,
) -> SessionChannels {
    let (commands, received) = mpsc::channel(COMMAND_CAPACITY);
    let (told, events) = mpsc::channel(EVENT_CAPACITY);
    let told = EventSender(told);
    if let Some(variant) = &mut start.variant {
        variant.begin(&id);
        // A reasoning effort that the user set in this session takes precedence over that of the experiment.
        let is_chosen = |it: &Stored| matches!(it.record, SessionRecord::EffortSet { .. });
        if !records.iter().any(is_chosen) {
            start.effort = variant.effort().or(start.effort);
        }
    }
    let numbers = RecordNumbers::starting_at(next_seq);
    let queue = PromptQueue::of(&records);
    let mut journal = QueueJournal::new(
        start.harness.store().clone(),
        id.clone(),
        start.harness.parts.sources.clock.clone(),
        numbers.clone(),
        queue.clone(),
    );
    journal.is_open = !records.is_empty();
    let (inbox, prompts) = Inbox::new(received, told.clone(), journal, start.has_user);
    let (late, waiting) = mpsc::channel(LATE_CAPACITY);
    let locks = start.parent.as_ref().map(|it| it.locks.clone());
    let locks = locks.unwrap_or_default();
    let clock = start.harness.parts.sources.clock.clone();
    let above = start.parent.as_ref().map(|it| it.budget.clone());
    let budget = SessionBudget::new(start.budget, clock.elapsed(), above);
    let spawn = can_spawn(&start).then(|| {
        Arc::new(SpawnAgentTool::new(
            start.clone(),
            id.clone(),
            told.clone(),
            inbox.children.clone(),
            (locks.clone(), budget.clone()),
            late,
        ))
    });
    let transcript = Transcript::of(&records);
    let edit_diagnostics = start.edit_diagnostics.clone();
    let mut session = SessionTask {
        edit_diagnostics: edit_diagnostics.map(|it| Arc::new(EditDiagnostics::new(it))),
        agent: start.harness.new_agent(),
        model: start.model.clone(),
        mode: start.mode,
        has_begun: !records.is_empty(),
        transcript,
        inbox,
        prompts,
        events: told,
        locks,
        offered: OfferedTools::default(),
        adaptation: Adaptation::default(),
        spawn,
        late: waiting,
        numbers,
        turn: 0,
        unrecorded_effort: None,
        routed: None,
        is_written: false,
        hook_notes: Vec::new(),
        budget,
        fingerprint: PromptFingerprint::default(),
        loops: LoopDetector::default(),
        estimator: TokenEstimator::default(),
        counted: None,
        session_lock: hold,
        omitted: Omitted::default(),
        todos: Vec::new(),
        context: None,
        past: Vec::new(),
        touched: Vec::new(),
        judged: JudgedTurn::default(),
        joining: Vec::new(),
        id: id.clone(),
        start,
    };
    session.restore(records);
    session.update_tools();
    if session.has_begun {
        session.fingerprint = session.transcript.fingerprint(&session.offered.specs);
    }
    tokio::spawn(session.run());
    SessionChannels {
        id,
        queue,
        problems: Vec::new(),
        commands,
        events,
    }
}

impl SessionTask {
    /// Restores the state that is not in the transcript from records.
    fn restore(&mut self, records: Vec<Stored>) {
        let mut asked_bytes = 0;
        let mut counted_from = 0;
        for stored in &records {
            self.omitted.apply(&stored.record);
            match &stored.record {
                SessionRecord::Began {
                    forked_from: Some((_, after)),
                    ..
                } => counted_from = after + 1,
                SessionRecord::Prompted { turn, .. } => self.turn = *turn,
                SessionRecord::Asked { bytes, .. } => asked_bytes = *bytes,
                SessionRecord::Answered {
                    usage, cost_nano, ..
                } => {
                    let prompt = usage.input + usage.cache_read + usage.cache_write;
                    if stored.seq >= counted_from {
                        self.budget.spend(cost_nano.map(Cost));
                        self.budget.count_tokens(TokenCount(prompt + usage.output));
                    }
                    self.estimator.observe(asked_bytes, TokenCount(prompt));
                }
                SessionRecord::Planned { todos } => self.todos.clone_from(todos),
                _ => {}
            }
        }
        // A context needs only the added texts to know what was already sent.
        let joined = records.into_iter().map(|stored| stored.record);
        self.past = joined
            .filter(|record| {
                matches!(
                    record,
                    SessionRecord::Joined { .. } | SessionRecord::Began { .. }
                )
            })
            .collect();
    }
}
