//! The composer service of one repository: jobs, forecast, review and landings, for windows.
//!
//! The service runs until the program ends, with or without a view. Slow work (scans, merges,
//! landings) runs beside the task that owns the state.
//! Start at `ComposerHandle::open`, on a tokio runtime: a `Command` goes in, `Event::Board` comes
//! out.

mod board_model;
mod forecast_notes;
mod pending_events;
mod task;
mod worktree_scanner;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent::session::UserPrompt;
use agent::{AgentEvent, SessionCommand};
use base::AbsPath;
use futures::StreamExt as _;
use futures::channel::mpsc;
use host::RealClock;
use project::UnsavedTexts;

use crate::Error;
use crate::board::{BoardConfig, BoardHandle, BoardStore, SavedBoard, SessionStarter};
use crate::job::{JobId, JobStatus};
use crate::land::CheckSource;
use crate::landing;
use crate::protocol::{Command, Event, JobCommand};
use crate::view::Board;
use crate::worktrees::{JobWorktrees, lock_of};

/// The handle of the composer task. Clones refer to the same task.
#[derive(Clone)]
pub struct ComposerHandle {
    /// Unbounded: the user sends few commands.
    commands: mpsc::UnboundedSender<Command>,
    shared: Arc<ComposerShared>,
}

/// A board that this program has open, with the worktrees of its jobs.
pub struct OpenBoard {
    /// The scheduler of the jobs.
    pub scheduler: BoardHandle,
    /// The state of the board when it was opened.
    pub saved: SavedBoard,
    /// The worktrees of the jobs.
    pub worktrees: JobWorktrees,
    starter: Arc<dyn SessionStarter>,
}

/// The parts of the program that the service uses.
pub struct ServiceOptions {
    /// The user's unsaved texts.
    pub unsaved: Arc<UnsavedTexts>,
    /// The checks that landings must pass.
    pub checks: Arc<dyn CheckSource>,
    /// The model of agents that are started without one.
    pub default_model: String,
    /// Whether the repository is the sample project, the only one for the demo model.
    pub is_sample: bool,
    /// The name of the repository, if the user has another folder open.
    pub project: Option<String>,
}

/// The state that the composer task shares with its handles.
struct ComposerShared {
    starter: Arc<dyn SessionStarter>,
    commands: async_channel::Sender<JobCommand>,
    /// The latest state of the board.
    board: Mutex<Arc<Board>>,
    /// The receivers of events. Unbounded: a window takes only the latest state.
    listeners: Mutex<Vec<mpsc::UnboundedSender<Event>>>,
    /// The views of single sessions, by job. Unbounded: a view takes events as fast as a session
    /// makes them.
    views: Mutex<HashMap<JobId, Vec<mpsc::UnboundedSender<AgentEvent>>>>,
    sessions: Mutex<HashMap<JobId, JobSessionState>>,
}

/// The session of a job.
#[derive(Clone, Default)]
struct JobSessionState {
    session: Option<String>,
    root: Option<AbsPath>,
    pending: pending_events::PendingEvents,
}

/// A view's connection to the session of a job.
pub struct SessionView {
    /// The id of the session.
    pub session: String,
    /// The root of the job's worktree.
    pub root: AbsPath,
    /// The records of the session, then those of subagents of the running turn, then unanswered
    /// questions.
    pub past: Vec<AgentEvent>,
    /// The session's events from now on.
    pub events: mpsc::UnboundedReceiver<AgentEvent>,
    /// Sends a command to the session without blocking. A prompt that the session does not get
    /// comes back as `AgentEvent::GivenBack`.
    pub send: Arc<dyn Fn(SessionCommand) + Send + Sync>,
}

impl OpenBoard {
    /// Opens the board of a repository on the current tokio runtime; at most `max_parallel` jobs run
    /// at the same time. Only one program at a time can open a board. Blocks on the disk.
    pub fn open(
        worktrees: JobWorktrees,
        store: Arc<dyn BoardStore>,
        starter: Arc<dyn SessionStarter>,
        max_parallel: usize,
    ) -> Result<Self, Error> {
        worktrees.lock_board()?;
        landing::recover(&worktrees);
        let (scheduler, saved) = BoardHandle::open(BoardConfig {
            store,
            worktrees: Arc::new(worktrees.clone()),
            starter: starter.clone(),
            clock: Arc::new(RealClock::default()),
            max_parallel,
        })?;
        Ok(Self {
            scheduler,
            saved,
            worktrees,
            starter,
        })
    }
}

impl ComposerHandle {
    /// Starts the service over a board on the current tokio runtime. Blocks on the disk.
    pub fn open(board: OpenBoard, options: ServiceOptions) -> Result<Self, Error> {
        let shared = Arc::new(ComposerShared {
            starter: board.starter.clone(),
            commands: board.scheduler.commands.clone(),
            board: Mutex::default(),
            listeners: Mutex::default(),
            views: Mutex::default(),
            sessions: Mutex::default(),
        });
        let (commands, receiver) = mpsc::unbounded();
        let task = task::ComposerTask::new(board, options, shared.clone())?;
        tokio::spawn(task.run(receiver));
        Ok(Self { commands, shared })
    }

    /// Sends a command of the user. Never blocks. If the command fails, the next state of the board
    /// contains the error. Does nothing after the service has ended.
    pub fn send(&self, command: Command) {
        // A service that has ended does nothing any more, and its last state says so.
        self.commands.unbounded_send(command).ok();
    }

    /// Returns the present state of the board.
    pub fn board(&self) -> Arc<Board> {
        lock_of(&self.shared.board).clone()
    }

    /// Streams the states of the board, as `Event::Board`: the present one, then each new one; and
    /// messages that no agent got, as `Event::Undelivered`.
    pub fn events(&self) -> mpsc::UnboundedReceiver<Event> {
        let (sender, receiver) = mpsc::unbounded();
        let now = lock_of(&self.shared.board).clone();
        // The receiver is still here.
        sender.unbounded_send(Event::Board(now)).ok();
        lock_of(&self.shared.listeners).push(sender);
        receiver
    }

    /// Attaches a view to the session of a job: the past events and a stream of future events.
    /// Fails if the job has no session yet. Blocks on the disk. Must be called on a tokio runtime.
    pub fn watch(&self, job: &str) -> Result<SessionView, Error> {
        let (sender, events) = mpsc::unbounded();
        let state = self.shared.add_view(job, sender.clone());
        let (Some(session), Some(root)) = (state.session, state.root) else {
            return Err(Error::WrongState("this agent has not begun yet".to_owned()));
        };
        let records = self.shared.starter.records(&session)?.into_iter();
        let recorded = records.map(|it| AgentEvent::Recorded(Arc::new(it)));
        Ok(SessionView {
            session,
            root,
            past: recorded.chain(state.pending.events()).collect(),
            events,
            send: self.forward_commands(job.to_owned(), sender),
        })
    }

    /// Returns a function that forwards the commands of a view to the session of a job, in order.
    /// Waits beside the view while the scheduler does not keep up.
    fn forward_commands(
        &self,
        job: JobId,
        view: mpsc::UnboundedSender<AgentEvent>,
    ) -> Arc<dyn Fn(SessionCommand) + Send + Sync> {
        // Unbounded: the user sends few commands.
        let (sender, mut queue) = mpsc::unbounded();
        let shared = self.shared.clone();
        tokio::spawn(async move {
            while let Some(command) = queue.next().await {
                shared.forget_answered(&job, &command);
                let job = job.clone();
                let forwarded = JobCommand::Forward { job, command };
                let sent = shared.commands.send(forwarded).await;
                if let Err(async_channel::SendError(JobCommand::Forward { command, .. })) = sent
                    && let Some(prompt) = command.into_prompt()
                {
                    // The board has ended. A view that is closed does not need the prompt.
                    view.unbounded_send(AgentEvent::GivenBack(prompt)).ok();
                }
            }
        });
        // The task takes commands until the function is dropped.
        Arc::new(move |command| {
            sender.unbounded_send(command).ok();
        })
    }
}

impl ComposerShared {
    /// Publishes a new state of the board.
    fn publish(&self, board: Board) {
        let board = Arc::new(board);
        let mut now = lock_of(&self.board);
        if *now == board {
            return;
        }
        now.clone_from(&board);
        drop(now);
        lock_of(&self.listeners)
            .retain(|it| it.unbounded_send(Event::Board(board.clone())).is_ok());
    }

    /// Adds a view of a job's session, and returns the state that the events of the view follow.
    fn add_view(&self, job: &str, view: mpsc::UnboundedSender<AgentEvent>) -> JobSessionState {
        // Held until the view is there, so that no event is both in the state and sent.
        let sessions = lock_of(&self.sessions);
        let mut views = lock_of(&self.views);
        views.entry(job.to_owned()).or_default().push(view);
        sessions.get(job).cloned().unwrap_or_default()
    }

    /// Forwards an event of a job's session to its views. Returns whether there is one.
    fn forward_event(&self, job: &str, event: &AgentEvent) -> bool {
        let mut sessions = lock_of(&self.sessions);
        let state = sessions.entry(job.to_owned()).or_default();
        state.pending.apply(event);
        let mut views = lock_of(&self.views);
        let Some(views) = views.get_mut(job) else {
            return false;
        };
        views.retain(|view| view.unbounded_send(event.clone()).is_ok());
        !views.is_empty()
    }

    /// Drops the pending question that a command answers.
    fn forget_answered(&self, job: &str, command: &SessionCommand) {
        if let Some(state) = lock_of(&self.sessions).get_mut(job) {
            state.pending.forget_answered(command);
        }
    }

    /// Gives a message that no agent got back to the windows.
    fn give_back(&self, prompt: &UserPrompt) {
        let event = Event::Undelivered(prompt.clone());
        lock_of(&self.listeners).retain(|it| it.unbounded_send(event.clone()).is_ok());
    }

    /// Takes over the session of a job from the job's status.
    fn update_session(&self, status: &JobStatus) {
        let mut sessions = lock_of(&self.sessions);
        let state = sessions.entry(status.job.clone()).or_default();
        state.session.clone_from(&status.session);
        let worktree = status.worktree.as_ref();
        state.root = worktree.and_then(|it| AbsPath::new(&it.root));
        if !status.state.is_open() {
            state.pending.clear();
        }
    }
}

#[cfg(test)]
mod tests;
