//! The commands that the composer takes and the events that it emits.
//!
//! The scheduler (`board`) handles `JobCommand` and emits every event but `Event::Board`; the
//! service (`service`) handles `Command` and emits `Event::Board`.

use std::sync::Arc;

use agent::record::SessionMode;
use serde::{Deserialize, Serialize};

use crate::conflict::Resolution;
use crate::job::{HandOverTarget, JobId, JobSpec, JobStatus, WorkOutcome};
use crate::review::HunkVerdict;
use crate::view::Board;

/// A command of the user to the composer service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Starts one or more agents.
    Start(StartAgents),
    /// A command about one job, for the scheduler.
    Job(JobCommand),
    /// Sets the verdict on a hunk.
    Decide {
        /// Id of the hunk.
        hunk: String,
        /// The verdict; `Open` withdraws the previous one.
        verdict: HunkVerdict,
    },
    /// Accepts all hunks of a job, except the rejected ones.
    AcceptAll(JobId),
    /// Undoes the latest verdict.
    UndoVerdict,
    /// Lands the accepted hunks of these jobs, or of all if the list is empty.
    Land(Vec<JobId>),
    /// Lands these jobs like `Land`, but without the check for new errors: the user confirmed that the work lands with
    /// them or unchecked.
    LandWithErrors(Vec<JobId>),
    /// Undoes the latest landing.
    UndoLanding,
    /// Resolves one file of a conflicting landing. The landing continues after the last one.
    ResolveConflict {
        /// The job whose landing conflicts.
        job: JobId,
        /// Path of the file, relative to the root.
        path: String,
        /// The resolution that the user chose.
        resolution: Resolution,
    },
    /// Abandons a conflicting landing; the work stays in its worktree.
    AbandonLanding(JobId),
    /// Restores a job's worktree to the start of a turn; changes of other authors stay.
    Restore {
        /// Id of the job.
        job: JobId,
        /// Number of the turn, from 1.
        turn: u64,
    },
    /// Undoes the latest `Restore`.
    UndoRestore,
    /// Runs the project's checks for all best-of-N candidates and compares them again.
    Compare,
}

/// The parameters for starting agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartAgents {
    /// The prompt of the user. Unless `is_best_of`, each line that begins with `- ` is a separate
    /// task.
    pub prompt: String,
    /// The model: `provider/model`, `auto` or `demo`.
    pub model: String,
    /// The id of an external agent in place of our own.
    pub agent: Option<String>,
    /// The mode in which the agents work. It determines their role: `builder`, `planner` or
    /// `advisor`.
    pub mode: SessionMode,
    /// Number of agents to start.
    pub agents: usize,
    /// Whether all do the same task, as best-of-N candidates.
    pub is_best_of: bool,
}

/// A command to the scheduler of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JobCommand {
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
    /// Forwards a command to the job's session. A prompt steers the job, a stop stops it; closing a
    /// view does not close the session. A mode or a model for a job that is not running is set when
    /// its session continues.
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

/// An event of the composer.
#[derive(Clone, Debug)]
pub enum Event {
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
    /// A message of the user did not reach an agent. If a command failed, `Refused` precedes it.
    /// Messages from a view of the job's session go back to the view instead.
    Undelivered(agent::session::UserPrompt),
    /// A message about a job, such as the result of a hand-over.
    Notice {
        /// The job of the message.
        job: JobId,
        /// The text of the message.
        text: String,
    },
    /// The view state of the board changed.
    Board(Arc<Board>),
    /// No job is running or ready to run any more.
    AllSettled,
    /// The scheduler has ended. This is the last event.
    Closed,
}
