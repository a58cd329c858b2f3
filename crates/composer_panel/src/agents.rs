//! What the panel asks of the engines: sessions to be started, opened and listed. Wired by the app.

mod fake;

use std::sync::Arc;

use agent::Command;
use agent::record::Mode;
use base::AbsPath;
use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::board;

pub use agent::context::OpenFiles;
pub use agent::house::{HouseRules, WaitingHooks, WaitingServer};
pub use fake::FakeAgents;

/// The engines, as far as the panel needs them. Its futures may be waited for on any thread.
pub trait Agents: Send + Sync {
    /// The models that can be asked, the recommended first; the demo model last.
    fn models(&self) -> BoxFuture<'static, ModelList>;

    /// The sessions of a folder, the latest first.
    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionLine>, String>>;

    /// Starts a session. It writes nothing down before it is told its first prompt.
    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<Live, String>>;

    /// Opens a session for the folder of the panel: attaches to it where it runs, or resumes it. Its records come
    /// first, as events.
    fn open(&self, root: AbsPath, id: String) -> BoxFuture<'static, Result<Live, String>>;

    /// The sessions that run in this program, shown or not: now, and after each change.
    fn running(&self) -> BoxStream<'static, Vec<RunningSession>>;

    /// Takes in which files of a folder a window shows, for the prompts of sessions there.
    fn note_open_files(&self, root: AbsPath, files: OpenFiles);

    /// The engine of many agents for a folder, a git checkout. The same folder has one.
    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<board::Live, String>>;

    /// Looks on at an agent of the board; what it did so far comes first, as events.
    fn watch(&self, root: AbsPath, id: String) -> BoxFuture<'static, Result<Live, String>>;

    /// What a folder has to say about agents' work in it.
    fn house(&self, root: AbsPath) -> BoxFuture<'static, Result<HouseRules, String>>;

    /// The person lets something of a folder have its say, or takes that back. Answers how it stands now.
    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<HouseRules, String>>;
}

/// What the person lets a folder do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Its instructions, rules and skills join prompts.
    Trust,
    /// They do not any more.
    Distrust,
    /// These hooks run.
    Hooks(Vec<WaitingHooks>),
    /// This server runs.
    Server(WaitingServer),
    /// This server does not run.
    NoServer(WaitingServer),
}

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The folder it works in.
    pub root: AbsPath,
    /// As `provider/model`, `auto` or `demo`.
    pub model: String,
    /// How it works.
    pub mode: Mode,
}

/// A session that runs.
pub struct Live {
    /// Its name.
    pub id: String,
    /// The folder it works in; the demo model has a copy of its own of the sample project.
    pub root: AbsPath,
    /// What it is told. Telling never waits: the session reads at once, and people type slowly.
    pub tell: Arc<dyn Fn(Command) + Send + Sync>,
    /// Its events. A session goes on when they are dropped, and closes when its turn has ended and no panel shows it.
    pub events: BoxStream<'static, agent::Event>,
    /// Problems that the person should know of before they go on, in sentences.
    pub notices: Vec<String>,
}

/// A session that runs, shown by a panel or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningSession {
    /// Its id.
    pub id: String,
    /// The folder for which it was opened.
    pub folder: AbsPath,
    /// Its activity.
    pub activity: Activity,
}

/// The activity of a running session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// No turn runs.
    Idle,
    /// A turn runs.
    Working,
    /// A turn waits for the person: for an approval or an answer.
    WaitingForUser,
}

/// The models there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// Each model that can be asked.
    pub models: Vec<ModelLine>,
    /// Which is taken where nobody chose.
    pub default: String,
    /// What to do to get more of them, a sentence; empty where there are some.
    pub advice: String,
    /// Problems found at start-up, such as settings that cannot be read, in sentences.
    pub problems: Vec<String>,
}

/// A model that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelLine {
    /// As it is written: `provider/model`, `auto` or `demo`.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it costs, where it runs: a few words.
    pub about: String,
}

/// A session in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// When something last happened, in milliseconds since 1970.
    pub last_ms: u64,
    /// The model it last asked.
    pub model: String,
    /// Billionths of a US dollar.
    pub cost_nano: Option<u64>,
    /// How its last turn ended, in a word: `done`, `stopped`, `interrupted`, `failed`.
    pub end: String,
}
