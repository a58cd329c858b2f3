//! The view state of the board: plain values for windows.
//!
//! Invariant: the state is sent as a whole after every change; a view never decides anything.
//! Start at `Board`.

use base::AbsPath;
use serde::{Deserialize, Serialize};

use crate::conflict::Conflict;
use crate::job::{JobId, JobState, JobStatus};
use crate::review::HunkVerdict;

/// The complete view state of the board. The service creates a new `Board` after every change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// Name of the project, if it is not the folder that is open.
    pub project: Option<String>,
    /// The branch on which work lands.
    pub branch: String,
    /// The jobs; those that wait for the user come first.
    pub jobs: Vec<BoardJob>,
    /// All reviewable hunks, in review order.
    pub hunks: Vec<BoardHunk>,
    /// Predicted conflicts between agents, or with the user's work.
    pub conflicts: Vec<Conflict>,
    /// Conflicting files of landings, each to be resolved.
    pub landing_conflicts: Vec<Conflict>,
    /// The best-of-N candidates, best first; empty if there is no such group.
    pub best_of: Vec<BestOfEntry>,
    /// Status of the latest landing.
    pub landing: Option<LandingStatus>,
    /// Result of the latest `Restore` or `HandOver`, while it is recent.
    pub notice: Option<BoardNotice>,
    /// The latest error, as a sentence.
    pub error: Option<String>,
}

/// A job on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardJob {
    /// The status of the job.
    pub status: JobStatus,
    /// Index of its colour and letter, from 0.
    pub mark: usize,
    /// The current activity, or the reason for its state.
    pub activity: String,
    /// Number of changed files.
    pub files: usize,
    /// Numbers of added and removed lines.
    pub lines: (u32, u32),
    /// Numbers of passed and of all checks; `None` if none ran.
    pub checks: Option<(u32, u32)>,
}

/// A change to be reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardHunk {
    /// Id of the hunk.
    pub id: String,
    /// The job that made it.
    pub job: JobId,
    /// Path of the file, relative to the root.
    pub path: String,
    /// The enclosing function or type.
    pub symbol: Option<String>,
    /// Its first line after the change, from 1.
    pub line: u32,
    /// The lines before the change.
    pub before: Vec<String>,
    /// The lines after the change.
    pub after: Vec<String>,
    /// A description if no lines change: `deleted`, `binary file`, `made executable`.
    pub note: Option<String>,
    /// The author, if it was not the agent itself: `cargo fmt`, `you`.
    pub author: Option<String>,
    /// The main risk, such as `runs by itself`; usually `None`.
    pub risk: Option<String>,
    /// The user's verdict on it.
    pub verdict: HunkVerdict,
}

/// A candidate of a best-of-N comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BestOfEntry {
    /// The job of the candidate.
    pub job: JobId,
    /// Names of the checks, and whether they passed; empty if none ran yet.
    pub checks: Vec<(String, bool)>,
    /// Number of changed files.
    pub files: usize,
    /// Numbers of added and removed lines.
    pub lines: (u32, u32),
    /// Cost in billionths of a US dollar.
    pub cost_nano: u64,
    /// Working time in seconds.
    pub seconds: u64,
    /// Whether its checks are running.
    pub is_checking: bool,
}

/// The result of a user command, to be shown for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardNotice {
    /// The result as a sentence.
    pub text: String,
    /// Whether `UndoRestore` can undo it.
    pub can_undo: bool,
}

/// The status of the latest landing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandingStatus {
    /// The status as a sentence.
    pub text: String,
    /// Whether the landing failed.
    pub is_bad: bool,
    /// Whether the landing can be undone.
    pub can_undo: bool,
    /// Whether it failed only for new errors, so that `LandWithErrors` may land it.
    pub may_allow_errors: bool,
}

impl BoardJob {
    /// The id of the job.
    pub fn id(&self) -> &str {
        &self.status.job
    }

    /// The title of its task.
    pub fn title(&self) -> &str {
        &self.status.task.title
    }

    /// The state of the job.
    pub fn state(&self) -> &JobState {
        &self.status.state
    }

    /// The root of its worktree, if it has one.
    pub fn root(&self) -> Option<AbsPath> {
        let worktree = self.status.worktree.as_ref();
        worktree.and_then(|worktree| AbsPath::new(&worktree.root))
    }
}

impl Board {
    /// Returns a job by its id, or `None` if the job is not on the board.
    pub fn job(&self, id: &str) -> Option<&BoardJob> {
        self.jobs.iter().find(|job| job.id() == id)
    }

    /// Returns the hunks of one job, or of all if `job` is `None`, in review order.
    pub fn hunks_of<'a>(&'a self, job: Option<&'a str>) -> impl Iterator<Item = &'a BoardHunk> {
        let is_of = move |hunk: &&BoardHunk| job.is_none_or(|job| hunk.job == job);
        self.hunks.iter().filter(is_of)
    }

    /// The number of accepted hunks.
    pub fn accepted(&self) -> usize {
        let accepted = self.hunks.iter();
        accepted
            .filter(|hunk| hunk.verdict == HunkVerdict::Accepted)
            .count()
    }
}

/// Returns the letter that distinguishes an agent without colours. Letters repeat after 26 agents.
pub fn agent_letter(mark: usize) -> char {
    let letter = u8::try_from(mark % 26).unwrap_or_default();
    char::from(b'A' + letter)
}
