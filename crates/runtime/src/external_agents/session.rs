//! A session of an external agent, with the commands and events of our own sessions.
//!
//! One task owns the agent's process, the journal and the running turn. The process starts with the
//! session and ends with it; a session that goes on is continued in a new process, as far as the
//! agent supports that.
//! Invariant: each prompt is recorded or given back.
//! Invariant: however the agent ends, a turn that was recorded ends with a reason.
//! Start at `start`.

mod commands;
mod host_events;
mod turn;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use ::host::process::SandboxSpawner;
use ::host::{Clock as _, Dirs, RealClock};
use agent::AgentEvent;
use agent::command_feed::ControlChange;
use agent::engine::{HostedJournal, SessionChannels};
use agent::queue::PromptQueue;
use agent::record::{AgentOption, SessionRecord, Stored};
use agent::session::{SessionCommand, UserPrompt};
use agent::user_prompts::{UserPrompts, UserQuestion};
use base::AbsPath;
use composer::change_history::CallGate;
use connect::acp::host::{
    self, AgentDescription, HostedAgentCommand, HostedAgentEvent, SessionStart,
};
use connect::mcp::ServerEntry;
use tokio::sync::{mpsc, oneshot, watch};

use super::directory::ExternalAgent;
use super::launch::LaunchRequest;
use super::options::Offer;
use super::permission::OpenRequest;
use super::recorder::{SessionCost, TurnRecorder};
use super::sign_in::SignInAnswer;
use super::terminals::{CommandConditions, HostedTerminals};
use super::tree_author::TreeAuthor;
use crate::Error;

/// Capacity of the command channel.
const COMMAND_CAPACITY: usize = 64;
/// Capacity of the event channel. Display-only events are dropped while it is full.
const EVENT_CAPACITY: usize = 4096;
/// Questions and answers that may wait.
const QUESTION_CAPACITY: usize = 16;

/// The parts of a session.
pub(crate) struct HostedSessionParts {
    /// The agent, which is installed.
    pub(crate) agent: ExternalAgent,
    pub(crate) dirs: Dirs,
    /// The root of the worktree.
    pub(crate) root: AbsPath,
    pub(crate) servers: Vec<ServerEntry>,
    /// The sandbox of the agent's process; `None` only if the user turned it off.
    pub(crate) sandbox: Option<Arc<dyn SandboxSpawner>>,
    /// The conditions of the commands that it runs in our terminals.
    pub(crate) commands: CommandConditions,
    pub(crate) journal: HostedJournal,
    /// The earlier records of the session.
    pub(crate) past: Vec<Stored>,
    pub(crate) tree: TreeAuthor,
    /// Holds back the next prompt while the job is paused.
    pub(crate) gate: CallGate,
    /// Whether permission requests are allowed without asking.
    pub(crate) allows_all: bool,
    /// Whether a user can answer.
    pub(crate) has_user: bool,
}

/// Starts a session of an external agent on the current tokio runtime. Its process starts at once.
/// The receiver ends when the session has ended and can be opened again.
pub(crate) fn start(parts: HostedSessionParts) -> (SessionChannels, oneshot::Receiver<()>) {
    let (commands, received) = mpsc::channel(COMMAND_CAPACITY);
    let (sender, events) = mpsc::channel(EVENT_CAPACITY);
    let (running, ended) = oneshot::channel();
    let id = parts.journal.id().clone();
    tokio::spawn(async move {
        let session = HostedSession::new(parts, sender.clone());
        session.run(received).await;
        // The journal is closed by now.
        drop(running);
        // The receiver is gone when the board is.
        sender.send(AgentEvent::Closed).await.ok();
    });
    let channels = SessionChannels {
        id,
        queue: PromptQueue::default(),
        commands,
        events,
        problems: Vec::new(),
    };
    (channels, ended)
}

/// The state of the task.
struct HostedSession {
    parts: HostedSessionParts,
    events: mpsc::Sender<AgentEvent>,
    process: Option<AgentProcess>,
    about: AgentDescription,
    offer: Offer,
    /// The options as the records have them, to be set again in a new process.
    earlier: Vec<AgentOption>,
    /// The agent's own id of the session, once it began one.
    hosted: Option<String>,
    /// Whether the agent's session has begun in this process.
    is_ready: bool,
    /// Records that join the next prompt: nothing is recorded before it.
    waiting_records: Vec<SessionRecord>,
    queue: VecDeque<UserPrompt>,
    /// The prompt of the running turn, for an agent that starts again to sign in.
    sent: Option<UserPrompt>,
    turn: u64,
    running: Option<TurnRecorder>,
    is_stopping: bool,
    is_closing: bool,
    cost: SessionCost,
    /// Permission requests that wait for the user, by the id of their call in our records.
    requests: HashMap<String, OpenRequest>,
    /// Questions that wait for the user, by number.
    questions: BTreeMap<u64, oneshot::Sender<Option<String>>>,
    last_question: u64,
    prompts: UserPrompts,
    asked: mpsc::Receiver<(UserQuestion, oneshot::Sender<Option<String>>)>,
    answers: mpsc::Receiver<UserAnswer>,
    answer_sender: mpsc::Sender<UserAnswer>,
    terminals: Arc<HostedTerminals>,
    control_changes: mpsc::UnboundedReceiver<ControlChange>,
    clock: RealClock,
}

/// The agent's process.
struct AgentProcess {
    commands: mpsc::Sender<HostedAgentCommand>,
    events: mpsc::Receiver<HostedAgentEvent>,
}

/// The user's answer to a request of the agent.
enum UserAnswer {
    /// A form or a page was answered.
    Filled(HostedAgentCommand),
    SignIn(SignInAnswer),
}

/// The next thing to handle.
enum SessionStep {
    Command(Option<SessionCommand>),
    Host(Option<Box<HostedAgentEvent>>),
    Asked(UserQuestion, oneshot::Sender<Option<String>>),
    Answered(UserAnswer),
    Control(ControlChange),
    GateOpen,
}

impl HostedSession {
    fn new(parts: HostedSessionParts, events: mpsc::Sender<AgentEvent>) -> Self {
        let (asks, asked) =
            mpsc::channel::<(UserQuestion, oneshot::Sender<Option<String>>)>(QUESTION_CAPACITY);
        let (answer_sender, answers) = mpsc::channel(QUESTION_CAPACITY);
        let prompts = UserPrompts::new(move |question| {
            let asks = asks.clone();
            Box::pin(async move {
                let (answer, answered) = oneshot::channel();
                asks.send((question, answer)).await.ok()?;
                answered.await.ok().flatten()
            })
        });
        let (mut turn, mut hosted, mut earlier, mut has_finished) = (0, None, Vec::new(), false);
        for stored in &parts.past {
            match &stored.record {
                SessionRecord::Prompted { turn: number, .. } => turn = *number,
                SessionRecord::Hosted { session, .. } => hosted = Some(session.clone()),
                SessionRecord::Offered { options, .. } => earlier.clone_from(options),
                SessionRecord::TurnEnded { .. } => has_finished = true,
                _ => {}
            }
        }
        let (changes, control_changes) = mpsc::unbounded_channel();
        let terminals = Arc::new(HostedTerminals {
            session: parts.journal.id().to_string(),
            conditions: parts.commands.clone(),
            changes,
        });
        Self {
            prompts: if parts.has_user {
                prompts
            } else {
                UserPrompts::empty()
            },
            parts,
            events,
            process: None,
            about: AgentDescription::default(),
            offer: Offer::default(),
            earlier,
            // Agents store a session with its first finished turn.
            hosted: hosted.filter(|_| has_finished),
            is_ready: false,
            waiting_records: Vec::new(),
            queue: VecDeque::new(),
            sent: None,
            turn,
            running: None,
            is_stopping: false,
            is_closing: false,
            cost: SessionCost::default(),
            requests: HashMap::new(),
            questions: BTreeMap::new(),
            last_question: 0,
            asked,
            answers,
            answer_sender,
            terminals,
            control_changes,
            clock: RealClock::default(),
        }
    }

    /// Runs until the session is closed, or cannot go on.
    async fn run(mut self, mut commands: mpsc::Receiver<SessionCommand>) {
        if let Err(error) = self.launch().await {
            // The first prompt tries again, and is recorded with the reason.
            log::warn!("{error}");
        }
        loop {
            let is_held = self.is_held();
            let step = {
                let Self {
                    process,
                    asked,
                    answers,
                    control_changes,
                    parts,
                    ..
                } = &mut self;
                let gate = parts.gate.clone();
                tokio::select! {
                    biased;
                    command = commands.recv() => SessionStep::Command(command),
                    event = next_event(process) => SessionStep::Host(event.map(Box::new)),
                    Some((question, answer)) = asked.recv() => SessionStep::Asked(question, answer),
                    Some(answer) = answers.recv() => SessionStep::Answered(answer),
                    Some(change) = control_changes.recv() => SessionStep::Control(change),
                    () = pass(gate), if is_held => SessionStep::GateOpen,
                }
            };
            let done = match step {
                SessionStep::Command(None | Some(SessionCommand::Close)) => {
                    self.close().await;
                    break;
                }
                SessionStep::Command(Some(command)) => self.on_command(command).await,
                SessionStep::Host(event) => self.on_host_event(event.map(|it| *it)).await,
                SessionStep::Asked(question, answer) => self.ask(question, answer).await,
                SessionStep::Answered(answer) => self.on_answer(answer).await,
                SessionStep::Control(change) => self.record_or_keep(change.into_record()).await,
                SessionStep::GateOpen => self.begin_next_turn().await,
            };
            if let Err(error) = done {
                self.fail(&error.to_string()).await;
            }
        }
        self.give_back_queue().await;
    }

    /// Starts the agent's process.
    async fn launch(&mut self) -> Result<(), Error> {
        let session = match &self.hosted {
            Some(id) => SessionStart::Continue(id.clone()),
            None => SessionStart::New,
        };
        let request = LaunchRequest {
            root: self.parts.root.clone(),
            session,
            servers: self.parts.servers.clone(),
            sign_in: None,
            sandbox: self.parts.sandbox.clone(),
            terminals: self.terminals.clone(),
        };
        let launch = self.parts.agent.launch(&self.parts.dirs, request)?;
        let (commands, events) = host::start(launch);
        self.is_ready = false;
        self.process = Some(AgentProcess { commands, events });
        self.show_waiting(format!("{} starts.", self.parts.agent.name));
        Ok(())
    }

    /// Sends a command to the agent. An agent that is gone reports that by an event.
    async fn tell(&self, command: HostedAgentCommand) {
        if let Some(process) = &self.process {
            process.commands.send(command).await.ok();
        }
    }

    /// Sends an event of which each one counts. Waits while the channel is full.
    async fn emit(&self, event: AgentEvent) {
        // The receiver is gone when the board is.
        self.events.send(event).await.ok();
    }

    /// Sends an event for display only.
    fn show(&self, event: AgentEvent) {
        self.events.try_send(event).ok();
    }

    fn show_waiting(&self, why: String) {
        self.show(AgentEvent::Waiting {
            why,
            pause: std::time::Duration::ZERO,
        });
    }

    /// Writes records and sends them.
    async fn write(&mut self, records: Vec<SessionRecord>) -> Result<(), Error> {
        let stored = self.parts.journal.write(records).await;
        for stored in stored.map_err(Error::session)? {
            self.emit(AgentEvent::Recorded(stored)).await;
        }
        Ok(())
    }

    /// Writes a notice, outside of a turn with the next prompt.
    async fn note(&mut self, text: String) -> Result<(), Error> {
        self.record_or_keep(SessionRecord::Noted { text }).await
    }

    /// Writes a record, outside of a turn with the next prompt.
    async fn record_or_keep(&mut self, record: SessionRecord) -> Result<(), Error> {
        if self.running.is_none() {
            self.waiting_records.push(record);
            return Ok(());
        }
        self.write(vec![record]).await
    }

    /// Asks the user a question.
    async fn ask(
        &mut self,
        question: UserQuestion,
        answer: oneshot::Sender<Option<String>>,
    ) -> Result<(), Error> {
        self.last_question += 1;
        let number = self.last_question;
        self.questions.insert(number, answer);
        self.emit(AgentEvent::Asking { number, question }).await;
        Ok(())
    }

    async fn give_back_queue(&mut self) {
        for prompt in std::mem::take(&mut self.queue) {
            self.emit(AgentEvent::GivenBack(prompt)).await;
        }
    }

    fn now_ms(&self) -> u64 {
        self.clock.wall_ms()
    }
}

/// Waits for the next event of the agent; forever without a process.
async fn next_event(process: &mut Option<AgentProcess>) -> Option<HostedAgentEvent> {
    match process {
        Some(process) => process.events.recv().await,
        None => std::future::pending().await,
    }
}

/// Waits until the gate is open.
async fn pass(gate: CallGate) {
    let (_never, stop) = watch::channel(false);
    gate.pass(stop).await;
}
