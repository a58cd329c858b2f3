//! The scheduler of many agent sessions: one task that owns the state of every job; commands in,
//! events out.
//!
//! A job is a task that one agent does in its own worktree. It waits for its dependencies and for a
//! free slot, gets a lease, has its session started, and follows the session's events. Persistent
//! state is written to the store before it takes effect, so a killed board reopens in the same
//! state.
//! Knows: sessions of `agent` by their events. Must not know: how a worktree is made (`Ground`),
//! how a session is assembled (`Hands`), how anything is shown.
//! Invariant: at most `room` jobs run at the same time; a job that waits for the user frees its
//! slot.
//! Invariant: jobs that were running when a program died are `Interrupted` when the board is
//! reopened, and resume only on command.
//! Start at `Board::open`.

mod actor;
mod dependencies;
mod fake;
mod job;
mod record;
mod session_events;
mod store;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use agent::engine::SessionChannels;
use agent::user_prompts::UserQuestion;
use base::AbsPath;
use futures::future::BoxFuture;
use host::Clock;
use serde::{Deserialize, Serialize};

use crate::change_history::CallGate;

pub use actor::BoardHandle;
pub use fake::{FakeSession, FakeStarter, FakeWorktrees};
pub use job::{AwaitedInput, JobState, JobStatus};
pub use record::SavedBoard;
pub use store::{BoardStore, LedgerBoardStore, MemoryBoardStore};

/// The id of a job: `a1`.
pub type JobId = String;

/// The specification of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSpec {
    /// The name by which other tasks depend on it; may be empty.
    #[serde(default)]
    pub name: String,
    /// A short title for display.
    pub title: String,
    /// The instructions for the agent.
    pub prompt: String,
    /// The role of the agent.
    pub role: String,
    /// The model: `provider/model`, `auto` or `demo`.
    pub model: String,
    /// Dependencies: names of tasks in the same command, or ids of existing jobs.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// A command to the board.
#[derive(Clone, Debug, PartialEq)]
pub enum BoardCommand {
    /// Adds these jobs; all of them or, if one is invalid, none.
    Add(Vec<JobSpec>),
    /// Adds one task several times, as candidates for a comparison.
    AddBestOf(JobSpec, usize),
    /// Sends a message to the agent; a finished agent begins another turn.
    Steer {
        /// The job to steer.
        job: JobId,
        /// The text of the message.
        text: String,
    },
    /// Sends a message that only matters to a running agent; ignored otherwise.
    Note {
        /// The job to notify.
        job: JobId,
        /// The text of the note.
        text: String,
    },
    /// Forwards a command to the job's session.
    Forward {
        /// The job whose session gets it.
        job: JobId,
        /// The command to forward.
        command: agent::SessionCommand,
    },
    /// Pauses the job at its next tool call.
    Pause(JobId),
    /// Resumes a paused, interrupted, failed or stopped job.
    Resume(JobId),
    /// Stops the job's agent.
    Stop(JobId),
    /// Adds a job that continues from this one's conversation, in its own worktree that starts with
    /// this one's work.
    Fork {
        /// The job to fork.
        job: JobId,
        /// The prompt of the new job.
        prompt: String,
    },
    /// Copies a job's work into the user's checkout, or the user's uncommitted work into its
    /// worktree.
    HandOver {
        /// The job whose work is copied.
        job: JobId,
        /// The target of the copy.
        to: HandOverTarget,
    },
    /// Records whether the job's work landed.
    RecordOutcome {
        /// The job that landed or conflicted.
        job: JobId,
        /// The outcome of the landing.
        outcome: WorkOutcome,
    },
    /// Sets the number of jobs that may run at the same time.
    SetMaxParallel(usize),
    /// Releases a job's worktree. The job stays on the board.
    Release(JobId),
    /// Stops all sessions and ends the board.
    Close,
}

/// The target of a hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandOverTarget {
    /// The checkout of the user.
    Person,
    /// The worktree of the agent.
    Agent,
}

/// The outcome of a job's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkOutcome {
    /// It landed as this commit of the user's branch.
    Landed(String),
    /// It conflicts with other work; a sentence.
    Conflict(String),
    /// Its landing was undone.
    TakenBack,
}

/// An event of the board.
#[derive(Clone, Debug)]
pub enum BoardEvent {
    /// The status of a job changed.
    Job(Box<JobStatus>),
    /// An event of the job's session. Display-only events are dropped if the receiver does not keep
    /// up.
    Session {
        /// The job of the session.
        job: JobId,
        /// The event of the session.
        event: Box<agent::AgentEvent>,
    },
    /// These jobs were added.
    Added(Vec<JobId>),
    /// A command failed; the reason as a sentence.
    Refused(String),
    /// A message about a job, such as the result of a hand-over.
    Notice {
        /// The job of the message.
        job: JobId,
        /// The text of the message.
        text: String,
    },
    /// No job is running or ready to run any more.
    AllSettled,
    /// The board has ended. This is the last event.
    Closed,
}

/// The worktree of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobWorktree {
    /// Name of the lease.
    pub lease: String,
    /// The root of the worktree, as a canonical path.
    pub root: String,
    /// The git folder of the worktree.
    pub git_dir: String,
    /// The commit from which the worktree started.
    pub base: String,
    /// The branch to which the agent commits.
    pub branch: String,
}

/// A request for a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeRequest {
    /// The job that needs it.
    pub job: JobId,
    /// A short title for display.
    pub title: String,
    /// Worktrees whose work it starts with: those of its dependencies that have not landed.
    pub start_from: Vec<JobWorktree>,
}

/// Provides worktrees for jobs.
pub trait WorktreeProvider: Send + Sync {
    /// Leases a worktree for a job.
    fn lease(&self, wanted: WorktreeRequest) -> BoxFuture<'static, Result<JobWorktree, String>>;

    /// Releases a worktree. The provider keeps work that has not landed.
    fn release(&self, place: JobWorktree) -> BoxFuture<'static, Result<(), String>>;

    /// Copies work between the checkout and the worktree; returns a sentence about the result.
    fn hand_over(
        &self,
        place: JobWorktree,
        to: HandOverTarget,
    ) -> BoxFuture<'static, Result<String, String>>;
}

/// The arguments for starting a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStartRequest {
    /// The job that the session serves.
    pub job: JobId,
    /// The specification of the job.
    pub task: JobSpec,
    /// The worktree of the job.
    pub place: JobWorktree,
}

/// A session that was started.
pub struct StartedSession {
    /// The handle of the session.
    pub opened: SessionChannels,
    /// Holds back the session's tool calls.
    pub gate: CallGate,
    /// Whether the session has its task; a program may be killed before it is sent.
    pub is_prompted: bool,
    /// Problems to show to the user, as sentences.
    pub notices: Vec<String>,
}

/// Starts agent sessions for jobs.
pub trait SessionStarter: Send + Sync {
    /// Starts a session; it gets no prompt yet.
    fn start(
        &self,
        begin: SessionStartRequest,
    ) -> BoxFuture<'static, Result<StartedSession, String>>;

    /// Resumes a session in its worktree; starts a new one if nothing of it was ever written.
    fn resume(
        &self,
        begin: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<StartedSession, String>>;

    /// Copies a session's conversation and returns the id of the new session.
    fn fork(
        &self,
        begin: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<String, String>>;

    /// Formats a task as the agent's first prompt.
    fn prompt_for(&self, task: &JobSpec) -> String;
}

/// The configuration of a board.
pub struct BoardConfig {
    /// The store of persistent records.
    pub store: Arc<dyn BoardStore>,
    /// The provider of worktrees.
    pub worktrees: Arc<dyn WorktreeProvider>,
    /// The starter of sessions.
    pub starter: Arc<dyn SessionStarter>,
    /// The clock that stamps records.
    pub clock: Arc<dyn Clock>,
    /// Maximum number of jobs that run at the same time.
    pub max_parallel: usize,
}

impl JobWorktree {
    /// The root of the worktree.
    pub fn root(&self) -> Result<AbsPath, String> {
        let root = AbsPath::new(&self.root);
        root.ok_or_else(|| format!("{} is not an absolute path", self.root))
    }

    /// The git folder of the worktree.
    pub fn git_dir(&self) -> Result<AbsPath, String> {
        let folder = AbsPath::new(&self.git_dir);
        folder.ok_or_else(|| format!("{} is not an absolute path", self.git_dir))
    }
}

/// Formats a question as one line.
fn question_line(question: &UserQuestion) -> String {
    if question.options.is_empty() {
        question.text.clone()
    } else {
        format!("{} ({})", question.text, question.options.join(", "))
    }
}
