//! Jobs: a task that one agent does in its own worktree, and the status of that work.
//!
//! Serialized values are in the ledger and in the output of programs, so the names in files stay.
//! Start at `JobStatus`.

use serde::{Deserialize, Serialize};

use agent::record::TurnEnd;
use base::AbsPath;
use model::Effort;

use crate::Error;

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
    /// The model: `provider/model`, `auto` or `demo`. An external agent chooses its own.
    pub model: String,
    /// The id of the external agent that does the job; `None` for an agent of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The reasoning effort; `None` leaves it to the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The limits of its session, besides those of the board.
    #[serde(default, skip_serializing_if = "JobLimits::is_empty")]
    pub limits: JobLimits,
    /// Dependencies: names of tasks in the same command, or ids of existing jobs.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// The limits of a job's session, which are checked before each request; `None` sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobLimits {
    /// The most that it may cost, in billionths of a US dollar.
    #[serde(default)]
    pub cost_nano: Option<u64>,
    /// The most tokens that it may read and write.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// The time from its opening to its last request, in seconds.
    #[serde(default)]
    pub seconds: Option<u64>,
}

impl JobLimits {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The state of a job. It changes by commands and by events of the job's session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum JobState {
    /// Waits for dependencies or for a free slot.
    Queued,
    /// Gets its worktree and its session.
    Starting,
    /// Its agent is working.
    Working,
    /// Waits for the user.
    Waiting {
        /// The request to the user.
        #[serde(rename = "what")]
        input: AwaitedInput,
    },
    /// Paused by the user.
    Paused,
    /// The agent reports that it is done.
    Done,
    /// The turn ended with an error.
    Failed {
        /// The reason, as a sentence.
        why: String,
    },
    /// The user stopped it.
    Stopped,
    /// The program died while it was running.
    Interrupted,
    /// Its work is in the user's branch.
    Landed {
        /// The commit that contains it.
        commit: String,
    },
    /// Its work conflicts with other work.
    Conflict {
        /// The conflict, as a sentence.
        why: String,
    },
}

/// A request that waits for the user's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum AwaitedInput {
    /// A permission request for a tool call.
    #[serde(rename = "leave")]
    Permission {
        /// The subagents that forwarded it, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        through: Vec<String>,
        /// Id of the tool call.
        call: String,
        /// One line that describes the call.
        title: String,
        /// The whole effect of the call, as untrusted text of several lines.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        details: String,
        /// The reason for the request.
        reason: String,
        /// The rules that a lasting approval would store.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
    },
    /// A question of the agent.
    Answer {
        /// The subagents that forwarded it, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        through: Vec<String>,
        /// Number of the question.
        question: u64,
        /// Text of the question.
        text: String,
    },
}

/// The status of a job, for display and for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobStatus {
    /// Id of the job.
    pub job: JobId,
    /// The specification of the job.
    pub task: JobSpec,
    /// The best-of-N group: all jobs that do the same task share this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The present state of the job.
    pub state: JobState,
    /// The current activity, or the reason for waiting, in a few words; may be empty.
    #[serde(rename = "doing")]
    pub activity: String,
    /// The worktree of the job.
    #[serde(rename = "place", default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<JobWorktree>,
    /// The session of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Subagents of the session, by session id.
    #[serde(rename = "helpers", default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<String>,
    /// Cost in billionths of a US dollar; `None` once a price was unknown.
    pub cost_nano: Option<u64>,
    /// Number of turns so far.
    pub turns: u64,
    /// Time of creation, in milliseconds since 1970.
    pub added_ms: u64,
    /// Total working time in milliseconds, up to the last stop.
    pub worked_ms: u64,
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

/// The target of a hand-over. The opposite side is the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandOverTarget {
    /// The checkout of the user.
    #[serde(rename = "person")]
    User,
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
    /// Its landing was undone or abandoned.
    #[serde(rename = "taken_back")]
    Undone,
}

impl JobState {
    /// A short label for display.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Waiting { .. } => "waits for you",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed { .. } => "failed",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Landed { .. } => "landed",
            Self::Conflict { .. } => "conflict",
        }
    }

    /// Returns whether the job occupies a slot: it is starting or working, and not waiting for the
    /// user.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Starting | Self::Working)
    }

    /// Returns whether the job is in progress: queued, starting, working, waiting for the user or
    /// paused. Only a command changes other states.
    pub fn is_open(&self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Starting | Self::Working | Self::Waiting { .. } | Self::Paused
        )
    }

    /// Returns whether the job is queued, running or waiting for the user. Returns `false` for a
    /// paused job.
    pub fn is_live(&self) -> bool {
        self.is_open() && *self != Self::Paused
    }

    /// Returns whether dependent jobs may start: the job is done or has landed.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done | Self::Landed { .. })
    }

    /// Returns the state after the end of a turn: done, stopped, or failed with the reason.
    pub(crate) fn from_turn_end(end: &TurnEnd) -> Self {
        let failed = |why: &str| Self::Failed {
            why: why.to_owned(),
        };
        match end {
            TurnEnd::Done => Self::Done,
            TurnEnd::Stopped => Self::Stopped,
            TurnEnd::Refused => failed("the model declined"),
            TurnEnd::Looped { what }
            | TurnEnd::OutOfBudget { what }
            | TurnEnd::Failed { what, .. } => failed(what),
            TurnEnd::Interrupted => Self::Interrupted,
        }
    }

    /// Returns the state of a job after an attempt to land its work. Undoing a landing returns the
    /// job to `Done`.
    pub(crate) fn from_outcome(how: &WorkOutcome) -> Self {
        match how {
            WorkOutcome::Landed(commit) => Self::Landed {
                commit: commit.clone(),
            },
            WorkOutcome::Conflict(why) => Self::Conflict { why: why.clone() },
            WorkOutcome::Undone => Self::Done,
        }
    }
}

impl JobStatus {
    /// Creates the status of a new job: queued, without worktree or session. `group` is the
    /// best-of-N group and `added_ms` the time in milliseconds since 1970.
    pub(crate) fn new(job: JobId, task: JobSpec, group: Option<String>, added_ms: u64) -> Self {
        Self {
            job,
            task,
            group,
            state: JobState::Queued,
            activity: String::new(),
            worktree: None,
            session: None,
            subagents: Vec::new(),
            cost_nano: Some(0),
            turns: 0,
            added_ms,
            worked_ms: 0,
        }
    }

    /// The worktree of the job; an error if it has none.
    pub fn worktree(&self) -> Result<&JobWorktree, Error> {
        let worktree = self.worktree.as_ref();
        worktree.ok_or_else(|| Error::WrongState(format!("{} has no worktree", self.job)))
    }

    /// Returns whether the job's work can be reviewed: the job has a worktree and has not landed.
    pub fn is_reviewable(&self) -> bool {
        self.worktree.is_some() && !matches!(self.state, JobState::Landed { .. })
    }

    /// Returns whether the job's agent may change the worktree at any moment.
    pub fn may_write(&self) -> bool {
        self.state.is_running() || matches!(self.state, JobState::Waiting { .. })
    }

    /// Returns the ids of the job's session and of its subagents, the session first. Returns an
    /// empty list before the session starts.
    pub fn sessions(&self) -> Vec<String> {
        self.session
            .iter()
            .chain(&self.subagents)
            .cloned()
            .collect()
    }
}

impl JobWorktree {
    /// Returns the root of the worktree. Fails if the recorded path is not absolute.
    pub fn root(&self) -> Result<AbsPath, Error> {
        absolute(&self.root)
    }

    /// Returns the Git folder of the worktree. Fails if the recorded path is not absolute.
    pub fn git_dir(&self) -> Result<AbsPath, Error> {
        absolute(&self.git_dir)
    }
}

/// Converts a stored path; fails with `Unreadable` if it is not absolute.
fn absolute(path: &str) -> Result<AbsPath, Error> {
    AbsPath::new(path).ok_or_else(|| Error::Unreadable(format!("{path} is not an absolute path")))
}
