//! The scheduler of many agent sessions: one task that owns the state of every job; commands in,
//! events out.
//!
//! A job waits for its dependencies and for a free slot, gets a lease, has its session started, and
//! follows the session's events. Persistent state is written to the store before it takes effect,
//! so a killed board reopens in the same state.
//! Knows: sessions of `agent` by their events. Must not know: how a worktree is made
//! (`WorktreeProvider`), how a session is assembled (`SessionStarter`), how anything is shown.
//! Invariant: at most `max_parallel` jobs run at the same time; a job that waits for the user frees
//! its slot.
//! Invariant: jobs that were running when a program died are `Interrupted` when the board is
//! reopened, and resume only on command.
//! Start at `BoardHandle::open`.

mod actor;
mod dependencies;
mod fake;
mod record;
mod session_events;
mod store;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use agent::Stored;
use agent::engine::SessionChannels;
use agent::user_prompts::UserQuestion;
use futures::future::BoxFuture;
use host::Clock;

use crate::Error;
use crate::change_history::CallGate;
use crate::job::{HandOverTarget, JobId, JobSpec, JobWorktree};

pub use actor::BoardHandle;
pub use fake::{FakeSession, FakeStarter, FakeWorktrees};
pub use record::{JobSession, SavedBoard};
pub use store::{BoardStore, LedgerBoardStore, MemoryBoardStore};

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

/// Provides worktrees for jobs. The board runs each call in a separate task, so that a slow lease
/// does not delay other jobs.
pub trait WorktreeProvider: Send + Sync {
    /// Leases a worktree for a job. The worktree contains the work of the other jobs that `request`
    /// names.
    fn lease(&self, request: WorktreeRequest) -> BoxFuture<'static, Result<JobWorktree, Error>>;

    /// Releases a worktree. The provider keeps work that has not landed.
    fn release(&self, worktree: JobWorktree) -> BoxFuture<'static, Result<(), Error>>;

    /// Copies work between the checkout and the worktree; `to` is the target. Returns a sentence
    /// about the result.
    fn hand_over(
        &self,
        worktree: JobWorktree,
        to: HandOverTarget,
    ) -> BoxFuture<'static, Result<String, Error>>;
}

/// The arguments for starting a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStartRequest {
    /// The job that the session serves.
    pub job: JobId,
    /// The specification of the job.
    pub task: JobSpec,
    /// The worktree of the job.
    pub worktree: JobWorktree,
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
        request: SessionStartRequest,
    ) -> BoxFuture<'static, Result<StartedSession, Error>>;

    /// Resumes a session in its worktree; starts a new one if nothing of it was ever written.
    fn resume(
        &self,
        request: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<StartedSession, Error>>;

    /// Copies a session's conversation and returns the id of the new session. Does not start the
    /// new session.
    fn fork(
        &self,
        request: SessionStartRequest,
        session: String,
    ) -> BoxFuture<'static, Result<String, Error>>;

    /// Returns the records of a session, oldest first. Blocks on the disk.
    fn records(&self, session: &str) -> Result<Vec<Stored>, Error>;

    /// Formats a task as the agent's first prompt, with the instructions of its role.
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

/// Formats a question as one line.
fn question_line(question: &UserQuestion) -> String {
    if question.options.is_empty() {
        question.text.clone()
    } else {
        format!("{} ({})", question.text, question.options.join(", "))
    }
}
