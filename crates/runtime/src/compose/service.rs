//! The composer service for a window: jobs, forecast, review and landings of one repository.
//!
//! The service runs until the program ends, with or without a view. Slow work (scans, merges,
//! landings) runs beside the task that owns the state.
//! Start at `Desk::open`, on a tokio runtime.

mod board_model;
mod notes;
mod review_decisions;
mod task;
mod worktree_scan;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base::AbsPath;
use composer::view::{Board, UserCommand};
use futures::channel::mpsc;
use host::Dirs;
use project::UnsavedTexts;

use super::job_worktrees::lock_of;
use super::{Composer, SessionStartOptions};
use crate::agent_services::AgentServices;
use crate::sample_project;
use crate::sandbox_policy::Confinement;

/// Agents that work at the same time.
const ROOM: usize = 8;

/// The handle of the composer task. Clones refer to the same task.
#[derive(Clone)]
pub struct ComposerHandle {
    commands: mpsc::UnboundedSender<UserCommand>,
    shared: Arc<ComposerShared>,
}

/// The state that the composer task shares with its handles.
pub(super) struct ComposerShared {
    pub(super) services: Arc<AgentServices>,
    pub(super) commands: async_channel::Sender<composer::board::BoardCommand>,
    /// The latest state of the board.
    board: Mutex<Arc<Board>>,
    /// The channels that receive every new state of the board.
    board_listeners: Mutex<Vec<mpsc::UnboundedSender<Arc<Board>>>>,
    /// The channels that receive the events of single agents, by job.
    event_listeners: Mutex<HashMap<String, Vec<mpsc::UnboundedSender<agent::AgentEvent>>>>,
    /// The jobs' sessions with their pending questions.
    sessions: Mutex<HashMap<String, JobSessionState>>,
}

/// The session of a job, and the question it waits for.
#[derive(Clone, Default)]
struct JobSessionState {
    session: Option<String>,
    root: Option<AbsPath>,
    pending: Option<agent::AgentEvent>,
}

/// An agent that is looked on at.
pub struct AgentWatch {
    /// The id of the session.
    pub session: String,
    /// The root of the agent's worktree.
    pub root: AbsPath,
    /// The session's events so far.
    pub past: Vec<agent::AgentEvent>,
    /// The session's events from now on.
    pub events: mpsc::UnboundedReceiver<agent::AgentEvent>,
    /// Sends a command to the session.
    pub tell: Arc<dyn Fn(agent::SessionCommand) + Send + Sync>,
}

impl ComposerHandle {
    /// Opens the board of the repository around a folder. Without configured models it opens the
    /// sample project's board, because the demo model works on nothing else. Blocks on the disk;
    /// must be called on a runtime.
    pub fn open(
        workshop: &Arc<AgentServices>,
        dirs: &Dirs,
        folder: &AbsPath,
        unsaved: Arc<UnsavedTexts>,
    ) -> Result<Self, String> {
        let hub = if workshop.models().is_empty() && !sample_project::is_sample(folder) {
            sample_repository(dirs)?
        } else {
            folder.clone()
        };
        if sample_project::is_sample(&hub) && git::Repository::discover(&hub).is_err() {
            sample_project::create_repository(&hub)?;
        }
        let manner = SessionStartOptions {
            allows_asked: false,
            has_user: true,
            budget: None,
            confinement: Confinement::default(),
        };
        let fleet = Composer::open(workshop, dirs, &hub, manner, ROOM)?;
        let shared = Arc::new(ComposerShared {
            services: workshop.clone(),
            commands: fleet.board.commands.clone(),
            board: Mutex::default(),
            board_listeners: Mutex::default(),
            event_listeners: Mutex::default(),
            sessions: Mutex::default(),
        });
        let (wishes, heard) = mpsc::unbounded();
        let project = (hub != *folder).then(|| "sample project".to_owned());
        let seat = task::ComposerTask::new((fleet, project), dirs, unsaved, shared.clone())?;
        tokio::spawn(seat.run(heard));
        Ok(Self {
            commands: wishes,
            shared,
        })
    }

    /// Sends a command of the user. Never blocks.
    pub fn send(&self, wish: UserCommand) {
        // A board that has ended does nothing any more, and shows so.
        self.commands.unbounded_send(wish).ok();
    }

    /// Returns a stream of board states that starts with the current one.
    pub fn boards(&self) -> mpsc::UnboundedReceiver<Arc<Board>> {
        let (sender, receiver) = mpsc::unbounded();
        let now = lock_of(&self.shared.board).clone();
        // The receiver is still here.
        sender.unbounded_send(now).ok();
        lock_of(&self.shared.board_listeners).push(sender);
        receiver
    }

    /// Watches an agent's session. Blocks on the disk.
    pub fn watch(&self, job: &str) -> Result<AgentWatch, String> {
        let (sender, events) = mpsc::unbounded();
        let mut watching = lock_of(&self.shared.event_listeners);
        watching
            .entry(job.to_owned())
            .or_default()
            .push(sender.clone());
        drop(watching);
        let told = lock_of(&self.shared.sessions).get(job).cloned();
        let told = told.unwrap_or_default();
        let (Some(session), Some(root)) = (told.session, told.root) else {
            return Err("this agent has not begun yet".to_owned());
        };
        let records = self.shared.services.records(&session)?;
        let recorded = records
            .into_iter()
            .map(|it| agent::AgentEvent::Recorded(Arc::new(it)));
        let past = recorded.chain(told.pending).collect();
        let (commands, job) = (self.shared.commands.clone(), job.to_owned());
        let tell = move |command| {
            if let Some(command) = task::session_command(&job, command) {
                // If the channel is full or closed, the board shows that nothing is running.
                commands.try_send(command).ok();
            }
        };
        Ok(AgentWatch {
            session,
            root,
            past,
            events,
            tell: Arc::new(tell),
        })
    }
}

impl ComposerShared {
    /// Publishes a new state of the board.
    fn show(&self, board: Board) {
        let board = Arc::new(board);
        let mut now = lock_of(&self.board);
        if *now == board {
            return;
        }
        now.clone_from(&board);
        drop(now);
        lock_of(&self.board_listeners)
            .retain(|looker| looker.unbounded_send(board.clone()).is_ok());
    }

    /// Forwards an event of a job's session to its watchers.
    fn forward_event(&self, job: &str, event: &agent::AgentEvent) {
        if let agent::AgentEvent::Asking { .. } = event {
            let mut sessions = lock_of(&self.sessions);
            sessions.entry(job.to_owned()).or_default().pending = Some(event.clone());
        }
        if let Some(lookers) = lock_of(&self.event_listeners).get_mut(job) {
            lookers.retain(|looker| looker.unbounded_send(event.clone()).is_ok());
        }
    }

    /// Updates the session of a job from the job's status.
    fn update_session(&self, line: &composer::board::JobStatus) {
        let mut sessions = lock_of(&self.sessions);
        let told = sessions.entry(line.job.clone()).or_default();
        told.session.clone_from(&line.session);
        let place = line.place.as_ref();
        told.root = place.and_then(|place| AbsPath::new(&place.root));
        if !matches!(line.state, composer::board::JobState::Waiting { .. }) {
            told.pending = None;
        }
    }
}

/// Returns the sample project's repository, creating it if it is missing.
fn sample_repository(dirs: &Dirs) -> Result<AbsPath, String> {
    use host::Files as _;
    let folder = dirs.state.join("sample");
    if sample_project::is_sample(&folder) {
        return Ok(folder);
    }
    let fresh = sample_project::create(&host::RealFiles, dirs)?;
    host::RealFiles
        .rename(&fresh, &folder)
        .map_err(|error| error.to_string())?;
    Ok(folder)
}
