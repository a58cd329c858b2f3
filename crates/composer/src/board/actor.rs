//! The board's task: owns the jobs and handles commands and session events.

mod commands;
mod start;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use agent::SessionCommand;
use agent::session::UserPrompt;

use crate::Error;

use super::record::{BoardRecord, SavedBoard};
use super::{BoardConfig, BoardStore, StartedSession};
use crate::change_history::CallGate;
use crate::graph::Readiness;
use crate::job::{AwaitedInput, JobId, JobState, JobStatus, JobWorktree, WorkOutcome};
use crate::protocol::{Event, JobCommand};

/// Capacity of the command channel; senders wait while it is full.
const COMMAND_CAPACITY: usize = 256;
/// Capacity of the event channel. A slow receiver blocks the board, except for display-only events,
/// which are dropped.
const EVENT_CAPACITY: usize = 4096;
/// Capacity of the internal channel; sessions wait while it is full.
const INTERNAL_CAPACITY: usize = 1024;

/// The prompt for a session that resumes after an interruption.
pub(super) const RESUME_PROMPT: &str = "You were interrupted. Check the current state of your work, then continue \
    where you stopped.";

/// A handle of an open board.
pub struct BoardHandle {
    /// Sends commands to the board.
    pub commands: async_channel::Sender<JobCommand>,
    /// Receives events from the board.
    pub events: async_channel::Receiver<Event>,
    task: JoinHandle<()>,
}

/// A result or event from a task that the board started.
pub(super) enum InternalEvent {
    Leased(JobId, Result<JobWorktree, Error>),
    Started(JobId, Result<StartedSession, Error>),
    SessionEvent(JobId, Box<agent::AgentEvent>),
    /// Number of the job's calls that wait at its gate.
    CallsHeld(JobId, usize),
    /// The reason why changes of the job's calls could not be recorded.
    ChangesUnrecorded(JobId, String),
    HandedOver(JobId, Result<String, Error>),
    Released(JobId, Result<(), Error>),
}

/// A job with its run-time state.
pub(super) struct Job {
    pub(super) status: JobStatus,
    /// The status in the last event; `None` before the first one.
    last_emitted: Option<JobStatus>,
    pub(super) session: Option<JobSession>,
    /// The first prompt of its session; the task itself if `None`.
    prompt: Option<UserPrompt>,
    /// Commands that set the mode and the model, for a session that does not run yet.
    settings: Vec<SessionCommand>,
    /// The session from which it was forked.
    forked_from: Option<String>,
    /// Worktrees whose work it starts with, besides those of its dependencies.
    start_from: Vec<JobWorktree>,
    /// A stop was requested before the session started.
    is_stopping: bool,
    /// A pause was requested for the next tool call.
    pub(super) is_pausing: bool,
    /// Pending requests to the user, oldest first.
    pub(super) waits: Vec<AwaitedInput>,
    /// Number of prompts sent, and number that the session has taken up.
    pub(super) prompts_sent: u64,
    pub(super) prompts_taken: u64,
    /// Start of the current stretch of work, by the monotonic clock.
    pub(super) working_since: Option<Duration>,
    /// A hand-over of its worktree is in progress.
    is_moving: bool,
    /// Resume as soon as the ended session has closed.
    pub(super) resume_after_close: bool,
}

/// A running session. Dropping it lets go of the session.
pub(super) struct JobSession {
    commands: mpsc::Sender<SessionCommand>,
    gate: CallGate,
    tasks: [JoinHandle<()>; 3],
}

impl Drop for JobSession {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The state of the board's task.
pub(super) struct BoardActor {
    pub(super) config: BoardConfig,
    pub(super) jobs: Vec<Job>,
    commands: async_channel::Receiver<JobCommand>,
    pub(super) events: async_channel::Sender<Event>,
    internal: mpsc::Receiver<InternalEvent>,
    internal_sender: mpsc::Sender<InternalEvent>,
    is_closing: bool,
    was_settled: bool,
}

impl BoardHandle {
    /// Opens a board on the current tokio runtime and restores its jobs; none of them resumes by
    /// itself. Blocks on the disk.
    pub fn open(config: BoardConfig) -> Result<(Self, SavedBoard), Error> {
        let saved = Self::load(config.store.as_ref())?;
        let (commands, command_receiver) = async_channel::bounded(COMMAND_CAPACITY);
        let (event_sender, events) = async_channel::bounded(EVENT_CAPACITY);
        let (internal_sender, internal) = mpsc::channel(INTERNAL_CAPACITY);
        let jobs = saved.jobs.iter().cloned().map(Job::new).collect();
        let actor = BoardActor {
            config,
            jobs,
            commands: command_receiver,
            events: event_sender,
            internal,
            internal_sender,
            is_closing: false,
            was_settled: true,
        };
        let task = tokio::spawn(actor.run());
        let board = Self {
            commands,
            events,
            task,
        };
        Ok((board, saved))
    }

    /// Loads the jobs of a board without opening the board. Jobs that were in progress count as
    /// interrupted. Blocks on the disk.
    pub fn load(store: &dyn BoardStore) -> Result<SavedBoard, Error> {
        Ok(SavedBoard::from_records(&store.records()?))
    }

    /// Records the outcome of a job's work while no board is open. Blocks on the disk.
    pub fn note_outcome(
        store: &dyn BoardStore,
        status: &JobStatus,
        outcome: &WorkOutcome,
        at_ms: u64,
    ) -> Result<(), Error> {
        let record = BoardRecord::StateChanged {
            job: status.job.clone(),
            state: JobState::from_outcome(outcome),
            cost_nano: status.cost_nano,
            turns: status.turns,
            worked_ms: status.worked_ms,
        };
        let body = serde_json::to_string(&record)?;
        store.append(record.kind(), &body, at_ms)
    }

    /// Waits until the board has ended, after `JobCommand::Close`.
    pub async fn closed(self) {
        drop(self.commands);
        // The caller takes no more events; without this the board could block on a full channel.
        drop(self.events);
        if let Err(error) = self.task.await {
            log::error!("the board's task failed: {error}");
        }
    }
}

impl Job {
    fn new(status: JobStatus) -> Self {
        Self {
            last_emitted: Some(status.clone()),
            status,
            session: None,
            prompt: None,
            settings: Vec::new(),
            forked_from: None,
            start_from: Vec::new(),
            is_stopping: false,
            is_pausing: false,
            waits: Vec::new(),
            prompts_sent: 0,
            prompts_taken: 0,
            working_since: None,
            is_moving: false,
            resume_after_close: false,
        }
    }

    fn id(&self) -> JobId {
        self.status.job.clone()
    }

    /// Adds the time since work began to the total.
    pub(super) fn stop_timer(&mut self, now: Duration) {
        if let Some(began) = self.working_since.take() {
            self.status.worked_ms += now.saturating_sub(began).as_millis() as u64;
        }
    }
}

impl BoardActor {
    async fn run(mut self) {
        loop {
            self.start_ready_jobs().await;
            self.emit_changes().await;
            if self.is_closing
                && self
                    .jobs
                    .iter()
                    .all(|job| job.session.is_none() && job.status.state != JobState::Starting)
            {
                break;
            }
            tokio::select! {
                command = self.commands.recv() => match command {
                    Ok(command) => self.handle_command(command).await,
                    // All command senders are gone.
                    Err(_) if !self.is_closing => self.close().await,
                    Err(_) => match self.internal.recv().await {
                        Some(event) => self.on_internal_event(event).await,
                        None => break,
                    },
                },
                Some(event) = self.internal.recv() => self.on_internal_event(event).await,
            }
        }
        self.emit(Event::Closed).await;
    }

    async fn on_internal_event(&mut self, event: InternalEvent) {
        match event {
            InternalEvent::Leased(job, leased) => self.on_leased(&job, leased).await,
            InternalEvent::Started(job, started) => self.on_started(&job, started).await,
            InternalEvent::SessionEvent(job, event) => self.on_session_event(&job, *event).await,
            InternalEvent::CallsHeld(job, count) => self.on_calls_held(&job, count).await,
            InternalEvent::ChangesUnrecorded(job, why) => {
                let text = format!("Review, blame and undo miss changes of {job}: {why}.");
                self.emit(Event::Notice { job, text }).await;
            }
            InternalEvent::HandedOver(job, done) => {
                if let Some(job) = self.jobs.iter_mut().find(|it| it.status.job == job) {
                    job.is_moving = false;
                }
                let event = match done {
                    Ok(text) => Event::Notice { job, text },
                    Err(error) => Event::Refused(error.to_string()),
                };
                self.emit(event).await;
            }
            InternalEvent::Released(job, done) => self.on_released(&job, done).await,
        }
    }

    /// Sends a prompt to the session of the job at index `ix`. Fails if the session has ended.
    async fn send_prompt(&mut self, ix: usize, prompt: UserPrompt) -> Result<(), Error> {
        let job = &mut self.jobs[ix];
        let command = SessionCommand::Steer(prompt);
        let sent = match &job.session {
            Some(session) => session.commands.send(command).await.is_ok(),
            None => false,
        };
        if !sent {
            let job = &job.status.job;
            return Err(Error::WrongState(format!("the session of {job} has ended")));
        }
        job.prompts_sent += 1;
        Ok(())
    }

    /// Sends a command to the session of the job at index `ix`. Does nothing if the job has no
    /// session.
    pub(super) async fn send_command(&self, ix: usize, command: SessionCommand) {
        if let Some(session) = &self.jobs[ix].session {
            // A session that has ended reports it by an event.
            session.commands.send(command).await.ok();
        }
    }

    /// Queues the job at index `ix` again, with `prompt` for its session if given, after prompts
    /// that the session did not get so far. Fails while the job's work is being copied.
    pub(super) async fn requeue(
        &mut self,
        ix: usize,
        prompt: Option<UserPrompt>,
    ) -> Result<(), Error> {
        let job = &mut self.jobs[ix];
        if job.is_moving {
            return Err(Error::Busy(format!(
                "the work of {} is being copied; wait until that is done",
                job.status.job
            )));
        }
        if let Some(prompt) = prompt {
            job.prompt = Some(match job.prompt.take() {
                Some(earlier) => joined(earlier, prompt),
                None => prompt,
            });
        }
        (job.is_stopping, job.is_pausing) = (false, false);
        self.was_settled = false;
        self.set_state(ix, JobState::Queued).await;
        Ok(())
    }

    /// Sets and records the state of a job, updates its working time and emits its status.
    pub(super) async fn set_state(&mut self, ix: usize, state: JobState) {
        let now = self.config.clock.elapsed();
        let job = &mut self.jobs[ix];
        match state {
            JobState::Working => {
                job.working_since.get_or_insert(now);
            }
            JobState::Waiting { .. } => {}
            _ => job.stop_timer(now),
        }
        if !state.is_open() {
            job.is_pausing = false;
            job.is_stopping = false;
        }
        job.status.state = state.clone();
        job.status.activity.clear();
        let record = BoardRecord::StateChanged {
            job: job.id(),
            state,
            cost_nano: job.status.cost_nano,
            turns: job.status.turns,
            worked_ms: job.status.worked_ms,
        };
        if let Err(error) = self.append_record(record).await {
            self.refuse(error).await;
        }
    }

    /// Writes a record to the store and waits until it is on the disk.
    pub(super) async fn append_record(&self, record: BoardRecord) -> Result<(), Error> {
        let store = Arc::clone(&self.config.store);
        let at_ms = self.config.clock.wall_ms();
        let body = serde_json::to_string(&record)?;
        let written =
            tokio::task::spawn_blocking(move || store.append(record.kind(), &body, at_ms)).await;
        written.unwrap_or_else(|error| {
            Err(Error::Aborted(format!(
                "cannot write the board's record: {error}"
            )))
        })
    }

    async fn emit_changes(&mut self) {
        for ix in 0..self.jobs.len() {
            if self.jobs[ix].status.state == JobState::Queued {
                self.jobs[ix].status.activity = match self.readiness(&self.jobs[ix]) {
                    Readiness::Ready => "waiting for a free slot".to_owned(),
                    Readiness::Waits(needs) => format!("waiting for {}", needs.join(", ")),
                    Readiness::Stuck(needs) => {
                        format!("depends on {}, which did not finish", needs.join(", "))
                    }
                };
            }
            let job = &mut self.jobs[ix];
            if job.last_emitted.as_ref() != Some(&job.status) {
                job.last_emitted = Some(job.status.clone());
                let status = Box::new(job.status.clone());
                self.emit(Event::Job(status)).await;
            }
        }
        let is_settled = self.jobs.iter().all(|job| {
            let is_stuck = || matches!(self.readiness(job), Readiness::Stuck(_));
            !job.status.state.is_open() || (job.status.state == JobState::Queued && is_stuck())
        });
        if is_settled && !self.was_settled {
            self.emit(Event::AllSettled).await;
        }
        self.was_settled = is_settled;
    }

    /// Emits the error of a command.
    pub(super) async fn refuse(&self, error: Error) {
        self.emit(Event::Refused(error.to_string())).await;
    }

    /// Emits an event. Waits while the channel is full.
    pub(super) async fn emit(&self, event: Event) {
        // A closed channel means that the receiver is gone.
        self.events.send(event).await.ok();
    }

    /// Returns the index of a job by its id.
    pub(super) fn position(&self, job: &str) -> Option<usize> {
        self.jobs.iter().position(|it| it.status.job == job)
    }

    /// Returns the index of the job in `jobs`; fails with `NotFound` if there is none.
    fn job_index(&self, job: &str) -> Result<usize, Error> {
        self.position(job)
            .ok_or_else(|| Error::NotFound(format!("there is no job \"{job}\" on the board")))
    }
}

/// Joins two prompts, with a blank line between their texts.
fn joined(first: UserPrompt, second: UserPrompt) -> UserPrompt {
    UserPrompt {
        text: format!("{}\n\n{}", first.text, second.text),
        images: [first.images, second.images].concat(),
    }
}

/// A prompt without images.
fn text_prompt(text: String) -> UserPrompt {
    UserPrompt {
        text,
        images: Vec::new(),
    }
}
