//! Many sessions at work at once: one task that owns how each stands; commands in, events out.
//!
//! A job is a task that one agent does in a tree of its own. It waits until what it needs is done and until there is
//! room, gets a lease, has its session begun, and is told everything that the session tells. What lasts of this is in
//! the book before it happens, so that a board that was killed is opened as it stood.
//! Knows: sessions of `agent` by what they tell. Must not know: how a lease is made (`Ground`), how a session is put
//! together (`Hands`), how anything is shown.
//! Invariant: no more jobs work at the same time than there is room for; one that waits for the person makes room.
//! Invariant: what is under way when a program dies is `Interrupted` when the board is opened again, and goes on when
//! somebody says so.
//! Start at `Board::open`.

mod actor;
mod book;
mod fake;
mod graph_of;
mod hear;
mod job;
mod record;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use agent::ask::Question;
use agent::engine::Opened;
use base::AbsPath;
use futures::future::BoxFuture;
use host::Clock;
use serde::{Deserialize, Serialize};

use crate::authored::Gate;

pub use actor::Board;
pub use book::{Book, LedgerBook, MemoryBook};
pub use fake::{FakeGround, FakeHands, FakeSession};
pub use job::{Line, State, WaitsFor};
pub use record::Past;

/// A job's name: `a1`.
pub type JobId = String;

/// A task for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// What others call it that need it; empty where nobody does.
    #[serde(default)]
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// What is to be done.
    pub prompt: String,
    /// What the agent is there for.
    pub role: String,
    /// As `provider/model`, `auto` or `demo`.
    pub model: String,
    /// What must be done before: names of tasks that come along, or jobs that are there.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// What the board is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Have these done: all of them, or none where one cannot be.
    Add(Vec<Task>),
    /// Have one task done so many times, to choose from.
    AddBestOf(Task, usize),
    /// Say something to the agent; one that is done begins another turn.
    Steer {
        /// Whose.
        job: JobId,
        /// What.
        text: String,
    },
    /// Say something to the agent that only matters while it works; one that does not is left alone.
    Note {
        /// Whose.
        job: JobId,
        /// What.
        text: String,
    },
    /// Tell its session anything.
    Tell {
        /// Whose.
        job: JobId,
        /// What.
        command: agent::Command,
    },
    /// Hold it at its next call.
    Pause(JobId),
    /// Go on with what was paused, or interrupted, or failed.
    GoOn(JobId),
    /// Stop it.
    Stop(JobId),
    /// Have another go on from where this one stands: in a tree of its own that begins with this one's work.
    Fork {
        /// From whom.
        job: JobId,
        /// What the new one is told.
        prompt: String,
    },
    /// Bring a job's work into the person's checkout, or what the person did there into its tree.
    HandOver {
        /// Whose.
        job: JobId,
        /// Which way.
        to: Side,
    },
    /// Its work has landed, or could not: for the job's line.
    Settled {
        /// Whose.
        job: JobId,
        /// How.
        how: Settled,
    },
    /// So many may work at the same time from now on.
    SetRoom(usize),
    /// Let go of a job's tree. It stays on the board.
    Release(JobId),
    /// Stop everything and end.
    Close,
}

/// Where work is handed over to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The person's checkout.
    Person,
    /// The agent's tree.
    Agent,
}

/// What became of a job's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// It is in this commit of the person's branch.
    Landed(String),
    /// It is in the way of others; a sentence.
    Conflict(String),
    /// The landing was undone.
    TakenBack,
}

/// What the board tells.
#[derive(Clone, Debug)]
pub enum Event {
    /// A job stands so now.
    Job(Box<Line>),
    /// Its session tells something. What is for eyes only is left out where nobody keeps up.
    Told {
        /// Whose.
        job: JobId,
        /// What.
        event: Box<agent::Event>,
    },
    /// These were added.
    Added(Vec<JobId>),
    /// A command was not obeyed; a sentence.
    Refused(String),
    /// What became of a hand-over; a sentence.
    Said {
        /// About whom.
        job: JobId,
        /// What.
        text: String,
    },
    /// Nothing works or waits for its turn any more.
    Settled,
    /// The board has ended. Nothing follows.
    Closed,
}

/// The tree of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The lease's name.
    pub lease: String,
    /// The top of the working tree; a real path.
    pub root: String,
    /// Its git folder.
    pub git_dir: String,
    /// The commit it grew out of.
    pub base: String,
    /// The branch that the agent commits to.
    pub branch: String,
}

/// What a tree is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The job.
    pub job: JobId,
    /// A few words for people.
    pub title: String,
    /// Work that it begins with: trees of the jobs that it needs and that have not landed.
    pub with: Vec<Place>,
}

/// Lends trees.
pub trait Ground: Send + Sync {
    /// A tree for a job.
    fn lease(&self, wanted: Wanted) -> BoxFuture<'static, Result<Place, String>>;

    /// Gives it back. What was not landed is kept by whoever lends.
    fn release(&self, place: Place) -> BoxFuture<'static, Result<(), String>>;

    /// Brings work from one side to the other. Answers what happened, in a sentence.
    fn hand_over(&self, place: Place, to: Side) -> BoxFuture<'static, Result<String, String>>;
}

/// What a session is begun with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The job.
    pub job: JobId,
    /// Its task.
    pub task: Task,
    /// Its tree.
    pub place: Place,
}

/// A session that runs.
pub struct Hand {
    /// It.
    pub opened: Opened,
    /// Holds its calls back.
    pub gate: Gate,
    /// Whether it was told its task: a program may be killed between the two.
    pub has_heard: bool,
    /// Problems that the person should know of, in sentences.
    pub notices: Vec<String>,
}

/// Puts sessions together.
pub trait Hands: Send + Sync {
    /// Begins a session; nothing is asked of it yet.
    fn begin(&self, begin: Begin) -> BoxFuture<'static, Result<Hand, String>>;

    /// Opens a session of before, in its tree; begins another one where nothing of it was ever written.
    fn again(&self, begin: Begin, session: String) -> BoxFuture<'static, Result<Hand, String>>;

    /// Copies a session's conversation. Answers the new session's name.
    fn fork(&self, begin: Begin, session: String) -> BoxFuture<'static, Result<String, String>>;

    /// A task as the agent is told it.
    fn tell(&self, task: &Task) -> String;
}

/// What a board is made of.
pub struct Parts {
    /// Where what lasts is written down.
    pub book: Arc<dyn Book>,
    /// Lends trees.
    pub ground: Arc<dyn Ground>,
    /// Puts sessions together.
    pub hands: Arc<dyn Hands>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How many may work at the same time.
    pub room: usize,
}

impl Place {
    /// The top of the working tree.
    pub fn root(&self) -> Result<AbsPath, String> {
        let root = AbsPath::new(&self.root);
        root.ok_or_else(|| format!("{} is no absolute path", self.root))
    }

    /// Its git folder.
    pub fn git_dir(&self) -> Result<AbsPath, String> {
        let folder = AbsPath::new(&self.git_dir);
        folder.ok_or_else(|| format!("{} is no absolute path", self.git_dir))
    }
}

/// A question as a line.
fn question_line(question: &Question) -> String {
    match question.options.is_empty() {
        true => question.text.clone(),
        false => format!("{} ({})", question.text, question.options.join(", ")),
    }
}
