//! Everything that arrives while a session is busy: commands of the user, questions of tools.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use model::Effort;
use tokio::sync::{mpsc, oneshot, watch};

use super::queue_journal::QueueJournal;
use crate::command_feed::ControlChange;
use crate::excerpt::head_and_tail;
use crate::record::{Delivery, Handover, QueueChange, SessionMode, SessionRecord};
use crate::session::{AgentEvent, QueueCommand, SessionCommand, UserPrompt};
use crate::user_prompts::{PermissionDecision, UserPrompts, UserQuestion};

/// Maximum number of bytes of a command in a text for the model.
const MAX_NOTED_COMMAND: usize = 400;

/// The error of waiting while the user stopped the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnStopped;

/// Sender for the events of a session.
#[derive(Clone)]
pub(crate) struct EventSender(pub(crate) mpsc::Sender<AgentEvent>);

impl EventSender {
    /// Sends an event that must not be lost; waits while the channel is full.
    pub(crate) async fn send(&self, event: AgentEvent) {
        // An error means that the receiver is gone; the records are in the ledger anyway.
        self.0.send(event).await.ok();
    }

    /// Sends a display-only event; drops it if the channel is full.
    pub(crate) fn send_lossy(&self, event: AgentEvent) {
        self.0.try_send(event).ok();
    }
}

/// The command senders of the running subagents, by session id, through which a stop reaches them.
/// Clones share the list.
#[derive(Clone, Default)]
pub(crate) struct Children(Arc<Mutex<HashMap<String, mpsc::Sender<SessionCommand>>>>);

impl Children {
    pub(crate) fn add(&self, session: &str, commands: mpsc::Sender<SessionCommand>) {
        self.lock().insert(session.to_owned(), commands);
    }

    pub(crate) fn remove(&self, session: &str) {
        self.lock().remove(session);
    }

    /// Returns whether no subagent is running.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn send(&self, session: &str, command: SessionCommand) {
        let way = self.lock().get(session).cloned();
        // A child that has ended or is not receiving does not need it.
        way.map(|way| way.try_send(command).is_ok());
    }

    fn stop_all(&self) {
        for way in self.lock().values() {
            way.try_send(SessionCommand::Stop).ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<SessionCommand>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControlChange {
    /// Returns the text for the model about a command that was given back.
    pub(crate) fn note(&self) -> Option<String> {
        let typed = self.given_back.as_ref()?;
        Some(format!(
            "The user took over the terminal of this command, and it is given back now:\n{}\n{}",
            head_and_tail(&self.command, MAX_NOTED_COMMAND),
            typed.text
        ))
    }

    /// Returns the record of the change.
    pub fn into_record(self) -> SessionRecord {
        SessionRecord::TerminalControl {
            call: self.call,
            command: self.command,
            is_taken: self.given_back.is_none(),
            typed: self.given_back.map_or(0, |typed| typed.count),
        }
    }
}

/// A tool's question and the channel for its answer.
pub(crate) type PendingQuestion = (UserQuestion, oneshot::Sender<Option<String>>);

/// Incoming commands and questions of a session.
pub(super) struct Inbox {
    commands: mpsc::Receiver<SessionCommand>,
    questions: mpsc::Receiver<PendingQuestion>,
    events: EventSender,
    /// The queue that is kept with the session.
    pub(super) journal: QueueJournal,
    /// Prompts of programs for later turns.
    pub(super) queued: VecDeque<UserPrompt>,
    /// Prompts to add to the running turn.
    pub(super) steering: Vec<UserPrompt>,
    /// A requested switch to another model.
    pub(super) switch: Option<(String, Handover)>,
    /// A requested change of mode.
    pub(super) mode: Option<SessionMode>,
    /// A requested change of the reasoning effort.
    pub(super) effort: Option<Effort>,
    /// Whether a compaction is requested.
    pub(super) compact: bool,
    /// Edits of summaries: the number of the compaction's record, and the new text.
    pub(super) edited_summaries: Vec<(u64, String)>,
    /// Records to pin, or to unpin.
    pub(super) pins: Vec<(u64, bool)>,
    /// Whether the session is to close.
    pub(super) is_closing: bool,
    pub(super) children: Children,
    /// The way of changes of the control of commands into this inbox. Unbounded: a user makes few.
    pub(super) control_changes: mpsc::UnboundedSender<ControlChange>,
    changed_controls: mpsc::UnboundedReceiver<ControlChange>,
    /// Texts for the model about commands that the user gave back.
    control_notes: Vec<String>,
    is_running: bool,
    stop: watch::Sender<bool>,
    permissions: HashMap<String, oneshot::Sender<PermissionDecision>>,
    replies: HashMap<u64, oneshot::Sender<Option<String>>>,
    last_question: u64,
}

impl Inbox {
    /// Creates the inbox, and the handle through which tools ask its user. With `has_person` false,
    /// every question is answered with `None`.
    pub(super) fn new(
        commands: mpsc::Receiver<SessionCommand>,
        events: EventSender,
        journal: QueueJournal,
        has_person: bool,
    ) -> (Self, UserPrompts) {
        // Each question waits for its answer, so there is at most one per running call.
        let (pose, questions) = mpsc::channel::<PendingQuestion>(64);
        let prompts = if has_person {
            UserPrompts::new(move |question| {
                let pose = pose.clone();
                async move {
                    let (answer, answered) = oneshot::channel();
                    pose.send((question, answer)).await.ok()?;
                    answered.await.ok().flatten()
                }
                .boxed()
            })
        } else {
            UserPrompts::empty()
        };
        let (control_changes, changed_controls) = mpsc::unbounded_channel();
        let inbox = Self {
            commands,
            questions,
            events,
            journal,
            queued: VecDeque::new(),
            steering: Vec::new(),
            switch: None,
            mode: None,
            effort: None,
            compact: false,
            edited_summaries: Vec::new(),
            pins: Vec::new(),
            is_closing: false,
            children: Children::default(),
            control_changes,
            changed_controls,
            control_notes: Vec::new(),
            is_running: false,
            stop: watch::channel(false).0,
            permissions: HashMap::new(),
            replies: HashMap::new(),
            last_question: 0,
        };
        (inbox, prompts)
    }

    /// Starts a turn: discards stop requests of the last one.
    pub(super) fn begin_turn(&mut self) {
        self.is_running = true;
        self.stop = watch::channel(false).0;
    }

    /// Enters the idle state, in which a stop only returns the queued prompts.
    pub(super) fn begin_idle(&mut self) {
        self.stop.send_replace(false);
    }

    /// Returns the prompt of the next turn, and its entry if it comes from the queue, where it stays
    /// until it is recorded.
    pub(super) fn next_prompt(&mut self) -> Option<(UserPrompt, Option<u64>)> {
        match self.queued.pop_front() {
            Some(prompt) => Some((prompt, None)),
            None => {
                let entry = self.journal.next_entry()?;
                Some((entry.prompt(), Some(entry.id)))
            }
        }
    }

    /// Records the changes of the queue.
    pub(super) async fn flush_queue(&mut self) {
        self.journal.flush(&self.events.0).await;
    }

    /// Ends a turn. Unread steering prompts become the next prompt, unless the turn was stopped.
    pub(super) fn end_turn(&mut self) {
        self.is_running = false;
        self.permissions.clear();
        self.replies.clear();
        self.journal.end_sending();
        for prompt in self.steering.drain(..).rev() {
            self.queued.push_front(prompt);
        }
    }

    /// Returns whether the turn is to stop.
    pub(super) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns a receiver whose value becomes true when the turn stops.
    pub(super) fn stop_watch(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Records changes of the queue, or waits for one command or question and handles it: a command changes the inbox, a question
    /// goes to the view. The future may be dropped at any time.
    pub(super) async fn wait(&mut self) {
        if self.journal.is_due() {
            return self.flush_queue().await;
        }
        tokio::select! {
            command = self.commands.recv() => self.handle(command),
            Some(posed) = self.questions.recv() => self.ask_user(posed).await,
            Some(change) = self.changed_controls.recv() => self.note_control(change),
        }
    }

    /// Records that the user took a command over or gave it back.
    fn note_control(&mut self, change: ControlChange) {
        self.control_notes.extend(change.note());
        self.journal.record(change.into_record());
    }

    /// Takes the texts for the model about commands that the user gave back.
    pub(super) fn take_control_notes(&mut self) -> Vec<String> {
        while let Ok(change) = self.changed_controls.try_recv() {
            self.note_control(change);
        }
        std::mem::take(&mut self.control_notes)
    }

    /// Waits for a future and handles input meanwhile. Drops the future and fails once the turn is
    /// stopped.
    pub(super) async fn during<T>(
        &mut self,
        future: impl Future<Output = T>,
    ) -> Result<T, TurnStopped> {
        tokio::pin!(future);
        loop {
            if self.is_stopped() {
                return Err(TurnStopped);
            }
            tokio::select! {
                biased;
                () = self.wait() => {}
                done = &mut future => return Ok(done),
            }
        }
    }

    /// Returns a receiver for the user's decision about a call. It is closed without a value when
    /// the turn ends first.
    pub(super) fn await_decision(&mut self, call: &str) -> oneshot::Receiver<PermissionDecision> {
        let (decide, decided) = oneshot::channel();
        self.permissions.insert(call.to_owned(), decide);
        decided
    }

    /// Removes and returns all prompts that have not started: messages for the running turn first,
    /// then queued ones.
    pub(super) fn take_unstarted_prompts(&mut self) -> Vec<UserPrompt> {
        let steering = self.steering.drain(..);
        let all: Vec<UserPrompt> = steering.chain(self.queued.drain(..)).collect();
        all
    }

    fn handle(&mut self, command: Option<SessionCommand>) {
        match command {
            Some(SessionCommand::Prompt(prompt)) => self.queued.push_back(prompt),
            Some(SessionCommand::Steer(prompt)) if self.is_running => self.steering.push(prompt),
            Some(SessionCommand::Steer(prompt)) => self.queued.push_back(prompt),
            Some(SessionCommand::Queue(command)) => self.handle_queue(command),
            Some(SessionCommand::Decide { call, decision }) => {
                // A call that was stopped or has no pending question needs no decision.
                let way = self.permissions.remove(&call);
                way.map(|way| way.send(decision).is_ok());
            }
            Some(SessionCommand::Reply { question, text }) => {
                let way = self.replies.remove(&question);
                way.map(|way| way.send(text).is_ok());
            }
            Some(SessionCommand::Stop) => self.stop(),
            Some(SessionCommand::Switch { model, how }) => self.switch = Some((model, how)),
            Some(SessionCommand::SetMode(mode)) => self.mode = Some(mode),
            Some(SessionCommand::SetEffort(effort)) => self.effort = Some(effort),
            Some(SessionCommand::Compact) => self.compact = true,
            Some(SessionCommand::EditSummary { compaction, memory }) => {
                self.edited_summaries.push((compaction, memory));
            }
            Some(SessionCommand::Pin { record, is_pinned }) => self.pins.push((record, is_pinned)),
            Some(SessionCommand::SetOption { option, .. }) => {
                log::debug!("the option {option} is for external agents only");
            }
            Some(SessionCommand::Child { session, command }) => {
                self.children.send(&session, *command)
            }
            // After this there can be no further input.
            Some(SessionCommand::Close) | None => {
                self.is_closing = true;
                self.stop();
            }
        }
    }

    fn handle_queue(&mut self, command: QueueCommand) {
        match command {
            // Nothing is recorded before the first prompt is.
            QueueCommand::Add { prompt, .. } if !self.is_running && !self.journal.is_open => {
                self.queued.push_back(prompt);
            }
            QueueCommand::Add {
                prompt,
                delivery: Delivery::NextRequest,
            } if self.is_running => self.journal.add_now(&prompt),
            command => self.journal.command(command),
        }
    }

    fn stop(&mut self) {
        self.journal.change(QueueChange::Held);
        self.children.stop_all();
        self.stop.send_replace(true);
    }

    async fn ask_user(&mut self, (question, answer): PendingQuestion) {
        self.last_question += 1;
        self.replies.insert(self.last_question, answer);
        let number = self.last_question;
        self.events
            .send(AgentEvent::Asking { number, question })
            .await;
    }
}
