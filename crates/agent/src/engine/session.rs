//! The state of a session, and its life between turns.

use std::collections::HashMap;
use std::sync::Arc;

use model::policy::{AgentId, TokenEstimator, TurnId};
use model::{Effort, Profile, TokenCount, ToolSpec};
use tokio::sync::mpsc;

use super::SessionOptions;
use super::adaptation::Adaptation;
use super::filling::CountedContext;
use super::inbox::{EventSender, Inbox};
use super::judging::JudgedTurn;
use super::omitting::Omitted;
use super::queue_journal::RecordNumbers;
use super::session_lock::SessionLock;
use super::shared::{Harness, SessionContext};
use crate::budget::SessionBudget;
use crate::error::Error;
use crate::hooks::HookEvent;
use crate::language::EditDiagnostics;
use crate::locks::Locks;
use crate::loops::LoopDetector;
use crate::record::{PromptOrigin, SessionMode, SessionRecord, Stored, TodoItem, TurnEnd};
use crate::session::{AgentEvent, UserPrompt};
use crate::spawn::SpawnAgentTool;
use crate::tool::Tool;
use crate::transcript::{PromptFingerprint, Transcript};
use crate::user_prompts::UserPrompts;

/// The reason why a turn cannot continue. Functions of a turn return it as their error.
#[derive(Debug)]
pub(super) enum TurnStop {
    /// The user stopped it.
    Stopped,
    /// The ledger cannot be written: an effect without a record must not happen.
    Unwritten(Error),
}

impl From<super::inbox::TurnStopped> for TurnStop {
    fn from(_: super::inbox::TurnStopped) -> Self {
        Self::Stopped
    }
}

/// The tools offered to a model.
#[derive(Default)]
pub(super) struct OfferedTools {
    /// Own names of the tools and their specs for the model, in order.
    pub(super) specs: Vec<(String, ToolSpec)>,
    /// Tools by the model's names for them.
    pub(super) tools: HashMap<String, Arc<dyn Tool>>,
}

/// A result from outside the turn: the answer of a background subagent.
pub(crate) type LateResult = (PromptOrigin, String);

pub(super) struct SessionTask {
    pub(super) id: Arc<str>,
    pub(super) start: SessionOptions,
    pub(super) inbox: Inbox,
    pub(super) prompts: UserPrompts,
    pub(super) events: EventSender,
    pub(super) transcript: Transcript,
    pub(super) locks: Locks,
    pub(super) agent: AgentId,
    pub(super) model: String,
    pub(super) mode: SessionMode,
    pub(super) offered: OfferedTools,
    pub(super) adaptation: Adaptation,
    pub(super) spawn: Option<Arc<SpawnAgentTool>>,
    /// Adds the errors that an edit brought to its result.
    pub(super) edit_diagnostics: Option<Arc<EditDiagnostics>>,
    pub(super) late: mpsc::Receiver<LateResult>,
    /// Whether the start of the session is recorded.
    pub(super) has_begun: bool,
    pub(super) numbers: RecordNumbers,
    pub(super) turn: u64,
    /// The effort that the user chose before the first prompt.
    pub(super) unrecorded_effort: Option<Effort>,
    /// The turn and the model of the last record of a choice of the router.
    pub(super) routed: Option<(u64, String)>,
    /// Whether the turn's prompt is recorded.
    pub(super) is_written: bool,
    /// Notes about hooks that did not work, to be recorded with the turn's prompt.
    pub(super) hook_notes: Vec<SessionRecord>,
    pub(super) budget: Arc<SessionBudget>,
    pub(super) fingerprint: PromptFingerprint,
    pub(super) loops: LoopDetector,
    pub(super) estimator: TokenEstimator,
    /// The last count of a provider; `None` if it does not apply to the conversation any more.
    pub(super) counted: Option<CountedContext>,
    /// Prevents other processes from continuing the session; `None` before the first record.
    pub(super) session_lock: Option<Arc<SessionLock>>,
    /// Parts of requests that the current model does not accept.
    pub(super) omitted: Omitted,
    /// The current plan of the agent.
    pub(super) todos: Vec<TodoItem>,
    /// Source of prompt additions; `None` until the first turn after opening.
    pub(super) context: Option<Box<dyn SessionContext>>,
    /// Past records of an opened session, until its context is created.
    pub(super) past: Vec<SessionRecord>,
    /// Files that calls read or changed since the last request, relative to the root.
    pub(super) touched: Vec<String>,
    /// The turn that the user's next message is about.
    pub(super) judged: JudgedTurn,
    /// Texts to add to the next request.
    pub(super) joining: Vec<(PromptOrigin, String)>,
}

impl SessionTask {
    /// Runs the session until its commands are closed or `SessionCommand::Close` arrives: one turn
    /// for each queued prompt, and idle in between.
    pub(super) async fn run(mut self) {
        if self.has_begun {
            self.report_fill();
        }
        loop {
            if let Err(TurnStop::Unwritten(error)) = self.apply_pending_changes().await {
                log::error!("session {}: {error}", self.id);
            }
            self.inbox.flush_queue().await;
            if self.inbox.is_closing {
                break;
            }
            match self.inbox.next_prompt() {
                Some((prompt, entry)) => self.run_turn(prompt, entry).await,
                None => self.idle().await,
            }
        }
        self.hook(HookEvent::SessionEnd).await;
        self.models().end_agent(self.agent).await;
        (self.harness().parts.on_session_end)(&self.id);
        // Pending records must not be lost if the program exits now.
        if let Err(error) = self.store().flush().await {
            log::error!("session {}: {error}", self.id);
        }
        // Release the lock before the close event: a receiver may open the session again at once,
        // even in another process.
        self.session_lock = None;
        self.events.send(AgentEvent::Closed).await;
    }

    async fn idle(&mut self) {
        self.inbox.begin_idle();
        tokio::select! {
            () = self.inbox.wait() => {}
            Some(late) = self.late.recv() => self.joining.push(late),
        }
        if self.inbox.is_stopped() {
            for prompt in self.inbox.take_unstarted_prompts() {
                self.events.send(AgentEvent::GivenBack(prompt)).await;
            }
        }
    }

    /// Runs a turn for a prompt. `entry` is its place in the queue, if it has one.
    async fn run_turn(&mut self, prompt: UserPrompt, entry: Option<u64>) {
        self.inbox.begin_turn();
        self.is_written = false;
        let end = match self.turn(&prompt, entry).await {
            Ok(end) => end,
            Err(TurnStop::Stopped) => TurnEnd::Stopped,
            Err(TurnStop::Unwritten(error)) => TurnEnd::Failed {
                class: "ledger".to_owned(),
                what: error.to_string(),
            },
        };
        if self.is_written {
            self.write_end(&end).await;
            self.note_turn_end();
        } else {
            // The turn never started: its prompt is not in the records. One from the queue still is
            // there.
            self.turn -= 1;
            if entry.is_none() {
                self.events.send(AgentEvent::GivenBack(prompt)).await;
            }
        }
        self.models().end_turn(self.agent, TurnId(self.turn)).await;
        if end == TurnEnd::Stopped {
            for prompt in self.inbox.take_unstarted_prompts() {
                self.events.send(AgentEvent::GivenBack(prompt)).await;
            }
        }
        self.inbox.end_turn();
        if !self.has_begun {
            for prompt in self.inbox.journal.take_unrecorded() {
                self.events.send(AgentEvent::GivenBack(prompt)).await;
            }
        }
        if end != TurnEnd::Done || self.inbox.is_stopped() {
            self.inbox.journal.hold();
        }
        // The end of the turn is sent after it, so that a view knows if another turn follows.
        self.inbox.flush_queue().await;
        self.events.send(AgentEvent::Idle(end)).await;
    }

    async fn write_end(&mut self, end: &TurnEnd) {
        let record = SessionRecord::TurnEnded {
            turn: self.turn,
            end: end.clone(),
        };
        if let Err(TurnStop::Unwritten(error)) = self.write(vec![record]).await {
            log::error!("session {}: {error}", self.id);
        }
    }

    /// Writes records and waits until they are on the disk. Then adds them to the transcript and
    /// sends them as events. The first records also create the session and lock it. If they cannot
    /// be written, nothing else happens and the turn must end.
    pub(super) async fn write(&mut self, records: Vec<SessionRecord>) -> Result<(), TurnStop> {
        let stored = self.assign_seqs(records);
        if !self.has_begun && self.session_lock.is_none() {
            self.session_lock = self
                .harness()
                .lock_session(&self.id)
                .map_err(TurnStop::Unwritten)?;
        }
        let written = if self.has_begun {
            self.store().append(&self.id, &stored).await
        } else {
            let root = self.start.root.as_path().to_string_lossy().into_owned();
            self.store().create_session(&self.id, &root, &stored).await
        };
        if let Err(error) = written {
            self.numbers.give_back(stored.len());
            return Err(TurnStop::Unwritten(error));
        }
        self.has_begun = true;
        self.inbox.journal.is_open = true;
        self.apply_records(stored).await;
        Ok(())
    }

    /// Queues records for writing, in order: for facts that have already happened, so that waiting
    /// gains nothing.
    pub(super) async fn write_later(&mut self, records: Vec<SessionRecord>) {
        let stored = self.assign_seqs(records);
        self.store().enqueue(&self.id, &stored).await;
        self.apply_records(stored).await;
    }

    fn assign_seqs(&mut self, records: Vec<SessionRecord>) -> Vec<Stored> {
        let at_ms = self.harness().parts.sources.clock.wall_ms();
        let first = self.numbers.take(records.len());
        let numbered = (first..).zip(records);
        numbered
            .map(|(seq, record)| Stored { seq, at_ms, record })
            .collect()
    }

    async fn apply_records(&mut self, stored: Vec<Stored>) {
        for stored in stored {
            self.transcript.apply(&stored);
            self.omitted.apply(&stored.record);
            self.drop_count(&stored.record);
            self.events
                .send(AgentEvent::Recorded(Arc::new(stored)))
                .await;
        }
    }

    /// Runs hooks whose answers have no effect. Problems are logged only, because the session is over
    /// and its records are complete.
    pub(super) async fn hook(&mut self, event: HookEvent) {
        if let Some(hooks) = &self.start.hooks {
            let told = hooks
                .run(event, self.hook_facts(), serde_json::Map::new())
                .await;
            for problem in told.problems {
                log::warn!("session {}: {problem}", self.id);
            }
        }
    }

    pub(super) fn harness(&self) -> &Arc<Harness> {
        &self.start.harness
    }

    pub(super) fn models(&self) -> &dyn super::ModelGateway {
        &*self.start.harness.parts.models
    }

    pub(super) fn store(&self) -> &crate::store::SessionStore {
        &self.start.harness.parts.store
    }

    /// Returns the profile of the model, with its real window if known.
    pub(super) fn profile(&self) -> Arc<Profile> {
        self.in_window(self.adapted_profile(&self.model))
    }

    /// Returns a profile with the window reported by the provider.
    pub(super) fn in_window(&self, profile: Arc<Profile>) -> Arc<Profile> {
        match self.omitted.window {
            Some(window) if window < profile.context.0 => Arc::new(Profile {
                context: TokenCount(window),
                max_output: TokenCount(profile.max_output.0.min(window / 4).max(1)),
                ..(*profile).clone()
            }),
            _ => profile,
        }
    }

    /// Updates the offered tools for the model. The same model is always offered the same tools,
    /// except those it refused and those with an alarm.
    pub(super) fn update_tools(&mut self) {
        let spawn = self.spawn.clone().map(|spawn| spawn as Arc<dyn Tool>);
        self.offered = offered(&self.start, &self.profile(), spawn);
        self.omitted.filter(&mut self.offered.specs);
        self.adaptation.filter(&self.model, &mut self.offered.specs);
        let OfferedTools { specs, tools } = &mut self.offered;
        tools.retain(|name, _| specs.iter().any(|(_, spec)| spec.name == *name));
    }

    /// Returns the context size of the model in tokens.
    pub(super) fn context_size(&self) -> TokenCount {
        self.profile().context
    }
}

/// Returns the tools offered to a model of this profile: the shared ones, the session's own, and
/// last the one that starts agents.
pub(super) fn offered(
    start: &SessionOptions,
    profile: &Profile,
    spawn: Option<Arc<dyn Tool>>,
) -> OfferedTools {
    let wanted = start.parent.as_ref().and_then(|it| it.tools.as_ref());
    let mut offered = OfferedTools::default();
    let all = start.harness.parts.tools.iter().chain(&start.tools);
    for tool in all.cloned().chain(spawn) {
        let is_wanted = wanted.is_none_or(|names| names.iter().any(|it| it == tool.name()));
        if is_wanted
            && let Some(spec) = tool.spec(profile)
            && !offered.tools.contains_key(&spec.name)
        {
            offered.tools.insert(spec.name.clone(), tool.clone());
            offered.specs.push((tool.name().to_owned(), spec));
        }
    }
    offered
}
