//! What one person sees of many agents, and wants of them: plain values, for windows.
//!
//! Invariant: what is shown comes as a whole each time something changes; who shows it decides nothing.

mod disputes;

use agent::record::Mode;
use base::AbsPath;

pub use crate::board::Side;
pub use disputes::{disputes, has_marks};

/// What the person wants of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Agents are to start.
    Start(Task),
    /// An agent is told something while it works.
    Steer {
        /// Which.
        agent: String,
        /// What.
        text: String,
    },
    /// An agent waits at the next safe point, or goes on.
    Pause {
        /// Which.
        agent: String,
        /// Whether it waits from now on.
        is_paused: bool,
    },
    /// An agent stops. Its work stays.
    Stop(String),
    /// An agent that is over leaves the board; refused while it holds work that nobody landed.
    Remove(String),
    /// A hunk is accepted, rejected, or neither.
    Judge {
        /// Which.
        hunk: String,
        /// What about it.
        verdict: Verdict,
    },
    /// Every hunk of an agent is accepted that nobody rejected.
    AcceptAll(String),
    /// What was last decided about hunks is taken back.
    UndoVerdict,
    /// The accepted hunks of these agents join the person's branch; those of all where none is named.
    Land(Vec<String>),
    /// The latest landing is taken back.
    UndoLanding,
    /// Another agent goes on from where this one stands, in a worktree of its own that begins with its work.
    Fork {
        /// From whom.
        agent: String,
        /// What the new one is told.
        prompt: String,
    },
    /// An agent's work is laid over the person's checkout, or what the person did there over its worktree.
    HandOver {
        /// Whose.
        agent: String,
        /// Which way.
        to: Side,
    },
    /// An agent's worktree becomes what this turn found, counted from 1. What others did there stays.
    Restore {
        /// Whose.
        agent: String,
        /// Which turn.
        turn: u64,
    },
    /// The latest `Restore` is taken back.
    UndoRestore,
    /// The agents of a contest are checked with the project's own checks, and compared again.
    Compare,
    /// A file of a landing that does not fit the branch is settled. The landing goes on by itself with the last one.
    Settle {
        /// Whose landing.
        agent: String,
        /// The file, below the root.
        path: String,
        /// With what.
        with: Settlement,
    },
    /// A landing that does not fit the branch is given up; the work stays in its worktree.
    GiveUpLanding(String),
}

/// How a file is settled on which the branch and an agent differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// As the branch has it.
    Branch,
    /// As the agent has it.
    Agent,
    /// With this text, the whole file.
    Text(String),
}

/// What agents are to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// As the person wrote it. Without `is_contest`, each line that begins with `- ` is a task of its own.
    pub prompt: String,
    /// As `provider/model`, `auto` or `demo`.
    pub model: String,
    /// How they work.
    pub mode: Mode,
    /// How many.
    pub agents: usize,
    /// Whether all do the same, and the best is taken.
    pub is_contest: bool,
}

/// What the person thinks of a hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    #[default]
    Open,
    /// It lands.
    Accepted,
    /// It does not.
    Rejected,
}

/// How everything stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// The project, where it is another than the folder that is open: its name.
    pub project: Option<String>,
    /// The branch on which work lands.
    pub branch: String,
    /// The agents, those that wait for the person first.
    pub agents: Vec<Agent>,
    /// Every hunk of the agents whose work can be looked at, in the order of review.
    pub hunks: Vec<Hunk>,
    /// What would not fit together.
    pub conflicts: Vec<Conflict>,
    /// Files of landings that do not fit the branch, each to be settled.
    pub disputes: Vec<Dispute>,
    /// Those who did the same task, the best first; empty where nobody did.
    pub contest: Vec<Candidate>,
    /// How the latest landing stands, a sentence.
    pub landing: Option<Landing>,
    /// What the latest `Restore` or `HandOver` did, a sentence, while it is news.
    pub told: Option<Told>,
    /// A sentence about something that did not work.
    pub trouble: Option<String>,
}

/// An agent on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub id: String,
    /// Which of the agents' colours and letters it has, from 0.
    pub mark: usize,
    /// What it is about.
    pub title: String,
    /// Its worktree: `wt-2`.
    pub place: String,
    /// Where that lies.
    pub root: Option<AbsPath>,
    /// Its branch.
    pub branch: String,
    /// How it stands.
    pub state: AgentState,
    /// What it does now, or what it waits for.
    pub doing: String,
    /// How many files it changed.
    pub files: usize,
    /// Lines that came and went.
    pub lines: (u32, u32),
    /// Billionths of a US dollar.
    pub cost_nano: u64,
    /// How long it has worked, in seconds.
    pub seconds: u64,
    /// Checks that passed, of how many; `None` where none ran.
    pub checks: Option<(u32, u32)>,
    /// Turns it has had: `Restore` goes back to one of them.
    pub turns: u64,
}

/// How an agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// It waits for its turn.
    Queued,
    /// Its worktree is made.
    Starting,
    /// It works.
    Working,
    /// It waits for the person.
    Waiting,
    /// The person let it wait.
    Paused,
    /// It is done.
    Done,
    /// It could not go on.
    Failed,
    /// The person stopped it, or the program ended.
    Stopped,
    /// Its work is on the person's branch.
    Landed,
    /// Its work does not fit the branch.
    Conflict,
}

/// A change of some lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its name.
    pub id: String,
    /// Whose it is: the agent's name.
    pub agent: String,
    /// The file, below the root.
    pub path: String,
    /// The function or type around it.
    pub symbol: Option<String>,
    /// Its first line after the change, from 1.
    pub line: u32,
    /// The lines before.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
    /// What it is where it is no change of lines: `deleted`, `binary file`, `made executable`.
    pub note: Option<String>,
    /// Who made it where it was not the agent itself: `cargo fmt`, `you`.
    pub author: Option<String>,
    /// Why it deserves a look: `runs by itself`; empty for most.
    pub risk: Option<String>,
    /// What the person thinks of it.
    pub verdict: Verdict,
}

/// Two changes that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The agents, by name. With one, the other is the person or the branch.
    pub agents: Vec<String>,
    /// The file, below the root.
    pub path: String,
    /// A sentence: who changed what.
    pub text: String,
}

/// A file on which a landing and the branch differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispute {
    /// Whose landing.
    pub agent: String,
    /// The file, below the root.
    pub path: String,
    /// What it is about, a sentence: `both changed parse_header`, `the branch removed it`.
    pub text: String,
    /// The places where both want other lines; empty where it is about the file as a whole.
    pub places: Vec<Fight>,
    /// The file merged, with conflict marks around what differs: where the person begins who writes it anew. `None`
    /// where it is no text.
    pub draft: Option<String>,
}

/// Lines that both sides want otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fight {
    /// The first line, from 1, in the branch's file.
    pub line: u32,
    /// What both began from.
    pub base: Vec<String>,
    /// What the branch has.
    pub branch: Vec<String>,
    /// What the agent has.
    pub agent: Vec<String>,
}

/// One of those who did the same task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub agent: String,
    /// The checks that ran, and whether they went well; empty where none ran yet.
    pub checks: Vec<(String, bool)>,
    /// How many files it changed.
    pub files: usize,
    /// Lines that came and went.
    pub lines: (u32, u32),
    /// Billionths of a US dollar.
    pub cost_nano: u64,
    /// How long it worked, in seconds.
    pub seconds: u64,
    /// Whether its checks run right now.
    pub is_checking: bool,
}

/// What became of something the person wished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// A sentence.
    pub text: String,
    /// Whether `UndoRestore` takes it back.
    pub can_undo: bool,
}

/// How a landing stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    /// A sentence.
    pub text: String,
    /// Whether it did not work.
    pub is_bad: bool,
    /// Whether it can be taken back.
    pub can_undo: bool,
}

impl AgentState {
    /// In a word or two.
    pub fn word(self) -> &'static str {
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

    /// Whether it goes on by itself.
    pub fn is_live(self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Starting | Self::Working | Self::Waiting
        )
    }
}

impl Board {
    /// An agent by its name.
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    /// The hunks of one agent, or of all.
    pub fn hunks_of<'a>(&'a self, agent: Option<&'a str>) -> impl Iterator<Item = &'a Hunk> {
        let of = move |hunk: &&Hunk| agent.is_none_or(|agent| hunk.agent == agent);
        self.hunks.iter().filter(of)
    }

    /// How many hunks are accepted.
    pub fn accepted(&self) -> usize {
        let accepted = self.hunks.iter();
        accepted
            .filter(|hunk| hunk.verdict == Verdict::Accepted)
            .count()
    }
}

/// The letter of an agent: colours alone do not tell them apart.
pub fn letter(mark: usize) -> char {
    let letter = u8::try_from(mark % 26).unwrap_or_default();
    char::from(b'A' + letter)
}
