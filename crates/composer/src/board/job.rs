//! How one job stands.

use serde::{Deserialize, Serialize};

use agent::record::TurnEnd;

use super::{JobId, Place, Settled, Task};

/// How a job stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// It waits for what it needs, or for room.
    Queued,
    /// It gets its tree and its session.
    Starting,
    /// Its agent works.
    Working,
    /// It waits for the person.
    Waiting {
        /// For what.
        what: WaitsFor,
    },
    /// It is held.
    Paused,
    /// The agent says that it is done.
    Done,
    /// It ended otherwise.
    Failed {
        /// A sentence.
        why: String,
    },
    /// The person stopped it.
    Stopped,
    /// The program died meanwhile.
    Interrupted,
    /// Its work is in the person's branch.
    Landed {
        /// The commit.
        commit: String,
    },
    /// Its work is in the way of others'.
    Conflict {
        /// A sentence.
        why: String,
    },
}

/// What the person is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum WaitsFor {
    /// Leave for a call.
    Leave {
        /// The subagents it came through, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        through: Vec<String>,
        /// The call.
        call: String,
        /// One line of what is to happen.
        title: String,
        /// The whole of what is to happen, as foreign text over several lines.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        details: String,
        /// Why it is asked.
        reason: String,
        /// The rules that a decision for more than once would keep.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
    },
    /// An answer.
    Answer {
        /// The subagents it came through, the outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        through: Vec<String>,
        /// The question's number.
        question: u64,
        /// It.
        text: String,
    },
}

/// A job in a line, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The job.
    pub job: JobId,
    /// Its task.
    pub task: Task,
    /// The jobs that do the same task, to choose from: all bear this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// How it stands.
    pub state: State,
    /// What it waits for, or does now: a few words. Empty where there is nothing to say.
    pub doing: String,
    /// Its tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Subagents of its session, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
    /// Billionths of a US dollar; `None` once a price was not known.
    pub cost_nano: Option<u64>,
    /// Turns so far.
    pub turns: u64,
    /// When it was added, in milliseconds since 1970.
    pub added_ms: u64,
    /// How long its agent has worked, in milliseconds, up to the last time it ended.
    pub worked_ms: u64,
}

impl State {
    /// A word for it.
    pub fn word(&self) -> &'static str {
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

    /// Whether it takes room.
    pub fn takes_room(&self) -> bool {
        matches!(self, Self::Starting | Self::Working)
    }

    /// Whether it is under way: something may come of it without anybody's doing.
    pub fn is_open(&self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Starting | Self::Working | Self::Waiting { .. } | Self::Paused
        )
    }

    /// Whether others that need it may begin.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done | Self::Landed { .. })
    }

    /// The state that a turn's end leaves.
    pub(super) fn of_end(end: &TurnEnd) -> Self {
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

    pub(super) fn of_settled(how: &Settled) -> Self {
        match how {
            Settled::Landed(commit) => Self::Landed {
                commit: commit.clone(),
            },
            Settled::Conflict(why) => Self::Conflict { why: why.clone() },
            Settled::TakenBack => Self::Done,
        }
    }
}

impl Line {
    pub(super) fn new(job: JobId, task: Task, group: Option<String>, added_ms: u64) -> Self {
        Self {
            job,
            task,
            group,
            state: State::Queued,
            doing: String::new(),
            place: None,
            session: None,
            helpers: Vec::new(),
            cost_nano: Some(0),
            turns: 0,
            added_ms,
            worked_ms: 0,
        }
    }

    /// Its session and the subagents of it, the session first.
    pub fn sessions(&self) -> Vec<String> {
        self.session.iter().chain(&self.helpers).cloned().collect()
    }
}
