//! What one person sees of many agents, and wants of them: plain values, for windows.
//!
//! Invariant: what is shown comes as a whole each time something changes; who shows it decides nothing.

use agent::record::Mode;
use base::AbsPath;

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
    /// How the latest landing stands, a sentence.
    pub landing: Option<Landing>,
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
