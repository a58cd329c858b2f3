//! The view state of the board and the user's commands: plain values for windows.
//!
//! Invariant: the state is sent as a whole after every change; a view never decides anything.

mod conflicts;

use agent::record::SessionMode;
use base::AbsPath;

pub use crate::board::HandOverTarget;
pub use conflicts::{has_conflict_markers, landing_conflicts};

/// A command of the user to the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserCommand {
    /// Starts one or more agents.
    Start(StartAgents),
    /// Sends a message to a working agent.
    Steer {
        /// Id of the agent.
        agent: String,
        /// The text of the message.
        text: String,
    },
    /// Pauses an agent at its next tool call, or resumes it.
    Pause {
        /// Id of the agent.
        agent: String,
        /// Whether to pause or to resume.
        is_paused: bool,
    },
    /// Stops an agent; its work stays.
    Stop(String),
    /// Removes a finished agent from the board; refused while its worktree has unlanded work.
    Remove(String),
    /// Sets the verdict on a hunk.
    Decide {
        /// Id of the hunk.
        hunk: String,
        /// The verdict; `Open` withdraws the previous one.
        verdict: HunkVerdict,
    },
    /// Accepts all hunks of an agent, except the rejected ones.
    AcceptAll(String),
    /// Undoes the latest verdict.
    UndoVerdict,
    /// Lands the accepted hunks of these agents, or of all if the list is empty.
    Land(Vec<String>),
    /// Undoes the latest landing.
    UndoLanding,
    /// Forks an agent: starts another one in its own worktree with this one's work.
    Fork {
        /// The agent to fork.
        agent: String,
        /// The prompt of the new agent.
        prompt: String,
    },
    /// Copies an agent's work into the user's checkout, or the user's uncommitted work into its
    /// worktree.
    HandOver {
        /// The agent whose work is copied.
        agent: String,
        /// The target of the copy.
        to: HandOverTarget,
    },
    /// Restores an agent's worktree to the start of a turn; changes of other authors stay.
    Restore {
        /// Id of the agent.
        agent: String,
        /// Number of the turn, from 1.
        turn: u64,
    },
    /// Undoes the latest `Restore`.
    UndoRestore,
    /// Runs the project's checks for all best-of-N candidates and compares them again.
    Compare,
    /// Resolves one file of a conflicting landing. The landing continues after the last one.
    ResolveConflict {
        /// The agent whose landing conflicts.
        agent: String,
        /// Path of the file, relative to the root.
        path: String,
        /// The resolution that the user chose.
        choice: ConflictChoice,
    },
    /// Abandons a conflicting landing; the work stays in its worktree.
    AbandonLanding(String),
}

/// The resolution of a conflicting file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictChoice {
    /// The version of the branch.
    Branch,
    /// The version of the agent.
    Agent,
    /// This text, for the whole file.
    Text(String),
}

/// The parameters for starting agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartAgents {
    /// The prompt of the user. Unless `is_contest`, each line that begins with `- ` is a separate
    /// task.
    pub prompt: String,
    /// The model: `provider/model`, `auto` or `demo`.
    pub model: String,
    /// The mode in which they work.
    pub mode: SessionMode,
    /// Number of agents to start.
    pub agents: usize,
    /// Whether all do the same task, as best-of-N candidates.
    pub is_best_of: bool,
}

/// The user's verdict on a hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HunkVerdict {
    /// The user has not decided yet.
    #[default]
    Open,
    /// Accepted: the hunk will land.
    Accepted,
    /// Rejected: the hunk will not land.
    Rejected,
}

/// The complete view state of the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// Name of the project, if it is not the folder that is open.
    pub project: Option<String>,
    /// The branch on which work lands.
    pub branch: String,
    /// The agents; those that wait for the user come first.
    pub agents: Vec<Agent>,
    /// All reviewable hunks, in review order.
    pub hunks: Vec<BoardHunk>,
    /// Predicted conflicts between agents, or with the user's work.
    pub conflicts: Vec<ConflictWarning>,
    /// Conflicting files of landings, each to be resolved.
    pub landing_conflicts: Vec<LandingConflict>,
    /// The best-of-N candidates, best first; empty if there is no such group.
    pub best_of: Vec<BestOfEntry>,
    /// Status of the latest landing.
    pub landing: Option<LandingStatus>,
    /// Result of the latest `Restore` or `HandOver`, while it is recent.
    pub notice: Option<BoardNotice>,
    /// The latest error, as a sentence.
    pub error: Option<String>,
}

/// An agent on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Id of the agent.
    pub id: String,
    /// Index of its colour and letter, from 0.
    pub mark: usize,
    /// Title of its task.
    pub title: String,
    /// Name of its worktree: `wt-2`.
    pub worktree: String,
    /// The root of its worktree.
    pub root: Option<AbsPath>,
    /// The branch of its worktree.
    pub branch: String,
    /// The present state of the agent.
    pub state: AgentState,
    /// The current activity, or the reason for waiting.
    pub activity: String,
    /// Number of changed files.
    pub files: usize,
    /// Numbers of added and removed lines.
    pub lines: (u32, u32),
    /// Cost in billionths of a US dollar.
    pub cost_nano: u64,
    /// Working time in seconds.
    pub seconds: u64,
    /// Numbers of passed and of all checks; `None` if none ran.
    pub checks: Option<(u32, u32)>,
    /// Number of turns; `Restore` goes back to one of them.
    pub turns: u64,
}

/// The state of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// Waits for its dependencies or a free slot.
    Queued,
    /// Its worktree or session is being created.
    Starting,
    /// A turn of it is running.
    Working,
    /// Waits for the user.
    Waiting,
    /// Paused by the user.
    Paused,
    /// Its last turn ended normally.
    Done,
    /// It ended with an error.
    Failed,
    /// Stopped by the user or by the end of the program.
    Stopped,
    /// Its work is on the user's branch.
    Landed,
    /// Its work conflicts with the branch.
    Conflict,
}

/// A change to be reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardHunk {
    /// Id of the hunk.
    pub id: String,
    /// Id of the agent that made it.
    pub agent: String,
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

/// A conflict predicted by the forecast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictWarning {
    /// Ids of the agents. With a single one, the other side is the user or the branch.
    pub agents: Vec<String>,
    /// Path of the file, relative to the root.
    pub path: String,
    /// A sentence that names both sides and their changes.
    pub text: String,
}

/// A file in which a landing conflicts with the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandingConflict {
    /// The agent whose landing conflicts.
    pub agent: String,
    /// Path of the file, relative to the root.
    pub path: String,
    /// A sentence about the conflict: `both changed parse_header`, `the branch removed it`.
    pub text: String,
    /// The conflicting hunks; empty if the file conflicts as a whole.
    pub hunks: Vec<ConflictHunk>,
    /// The merged file with conflict markers, from which the user writes the resolution. `None` for
    /// a binary file.
    pub draft: Option<String>,
}

/// A hunk that both sides changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictHunk {
    /// Its first line in the branch's file, from 1.
    pub line: u32,
    /// The lines of the base.
    pub base: Vec<String>,
    /// The lines of the branch.
    pub branch: Vec<String>,
    /// The lines of the agent.
    pub agent: Vec<String>,
}

/// A candidate of a best-of-N comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestOfEntry {
    /// Id of the agent.
    pub agent: String,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardNotice {
    /// The result as a sentence.
    pub text: String,
    /// Whether `UndoRestore` can undo it.
    pub can_undo: bool,
}

/// The status of the latest landing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LandingStatus {
    /// The status as a sentence.
    pub text: String,
    /// Whether the landing failed.
    pub is_bad: bool,
    /// Whether the landing can be undone.
    pub can_undo: bool,
}

impl AgentState {
    /// A short label for display.
    pub fn label(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Waiting => "waits for you",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Landed => "landed",
            Self::Conflict => "in conflict",
        }
    }

    /// Whether it is queued, running or waiting for the user.
    pub fn is_live(self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Starting | Self::Working | Self::Waiting
        )
    }
}

impl Board {
    /// Finds an agent by its id.
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// The hunks of one agent, or of all.
    pub fn hunks_of<'a>(&'a self, agent: Option<&'a str>) -> impl Iterator<Item = &'a BoardHunk> {
        let of = move |hunk: &&BoardHunk| agent.is_none_or(|agent| hunk.agent == agent);
        self.hunks.iter().filter(of)
    }

    /// The number of accepted hunks.
    pub fn accepted(&self) -> usize {
        let accepted = self.hunks.iter();
        accepted
            .filter(|hunk| hunk.verdict == HunkVerdict::Accepted)
            .count()
    }
}

/// The letter of an agent, which tells agents apart without colours.
pub fn agent_letter(mark: usize) -> char {
    let letter = u8::try_from(mark % 26).unwrap_or_default();
    char::from(b'A' + letter)
}
