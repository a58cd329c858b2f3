//! Hosting an agent of others: a process with a folder to work in, commands in, events out.
//!
//! Invariant: a turn ends exactly once, whatever the agent does: it answers, it dies, or it is ended because it
//! does not stop.
//! Invariant: files are read and written for it below its root alone; what it does by itself is seen by watching.
//! Start at `start`; which agents there are is in `catalog`.

mod asked;
pub mod catalog;
mod files;
mod line;
mod opening;
mod session;
mod terminals;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;

use base::AbsPath;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::words::{
    CallUpdate, Chosen, ConfigOption, Filled, LeaveChoice, Modes, Piece, SessionInfo, SignInMethod,
    TurnEnd, Update,
};
use crate::mcp::{Form, ServerEntry};
use crate::variables::Variables;

/// How many events may wait. While it is full, the agent's messages wait too.
const EVENTS: usize = 256;

/// How many commands may wait: people do not type faster.
const COMMANDS: usize = 16;

/// What an agent is started with.
pub struct Start {
    /// What people call it.
    pub name: String,
    /// The program: a name looked up in `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All that it finds in its environment. Agents need their own keys, so nothing is taken away here.
    pub environment: Variables,
    /// The folder it works in, a real path without links.
    pub root: AbsPath,
    /// Which session.
    pub begin: Begin,
    /// The MCP servers that it is told to use.
    pub servers: Vec<ServerEntry>,
    /// How to sign in before anything else.
    pub sign_in: Option<SignIn>,
    /// What is put beside our abilities to authenticate, for agents that ask for it.
    pub auth_meta: Map<String, Value>,
    /// Whether it may run commands in terminals of ours. It can always run them by itself.
    pub has_terminals: bool,
    /// Files, to read, write and watch.
    pub files: Arc<dyn host::Files>,
    /// What is not worth watching below the root.
    pub ignore: host::Ignore,
    /// A private folder for the records of saves.
    pub recovery: AbsPath,
}

/// Which session an agent works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// A new one.
    New,
    /// One that it remembers, told from the beginning.
    Load(String),
    /// One that it remembers, without telling it again.
    Resume(String),
}

/// How to sign in.
#[derive(Clone, Debug, PartialEq)]
pub struct SignIn {
    /// The method's id.
    pub method: String,
    /// What the method needs to know.
    pub meta: Map<String, Value>,
}

/// What a hosted agent is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begin a turn; one that runs is ended first by itself, this one waits.
    Prompt(Vec<Piece>),
    /// Stop the running turn. An agent that does not stop within two seconds is ended.
    Stop,
    /// Answer a question for leave with a choice's id; `None` takes the question back.
    Decide {
        /// The question's number.
        number: u64,
        /// The choice.
        choice: Option<String>,
    },
    /// Answer a form or a page.
    Fill {
        /// Its number.
        number: u64,
        /// What became of it.
        filled: Filled,
    },
    /// Work in another way.
    SetMode(String),
    /// Choose something of an option.
    SetOption {
        /// The option's id.
        id: String,
        /// What.
        chosen: Chosen,
    },
    /// Sign in, and begin the session if that was what it waited for.
    SignIn(SignIn),
    /// Ask which sessions it remembers.
    List,
    /// End.
    Close,
}

/// What a hosted agent tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It said hello.
    Hello(About),
    /// Its session began: prompts are taken.
    Began {
        /// The session's id, to load or resume it later.
        session: String,
        /// The ways of working that there are.
        modes: Option<Modes>,
        /// What can be chosen.
        options: Vec<ConfigOption>,
    },
    /// It wants the person to sign in.
    NeedsSignIn {
        /// The ways to do that.
        methods: Vec<SignInMethod>,
        /// What it said, or why signing in failed.
        why: String,
    },
    /// A turn runs now.
    TurnBegan,
    /// Something is new or different.
    Update(Update),
    /// It asks for leave. Unanswered questions are taken back when the turn ends.
    Asking {
        /// The question's number.
        number: u64,
        /// The call.
        call: CallUpdate,
        /// What can be answered.
        choices: Vec<LeaveChoice>,
    },
    /// It asks for a form.
    Form {
        /// The form's number.
        number: u64,
        /// It.
        form: Form,
    },
    /// It wants the person to see a page. Answered like a form: accepted when it is open.
    Page {
        /// The question's number.
        number: u64,
        /// The page's address.
        url: String,
        /// What for, in the agent's words.
        why: String,
    },
    /// Files below its root changed: absolute paths. None means that anything may have.
    Changed(Vec<PathBuf>),
    /// The sessions that it remembers.
    Sessions(Vec<SessionInfo>),
    /// Something that it was told to do it did not do; a sentence.
    Problem(String),
    /// It printed something that is no message.
    Noise(String),
    /// The turn ended.
    TurnEnded(TurnEnd),
    /// It is gone, and why, where that was not our wish. Nothing follows.
    Closed(Option<String>),
}

/// What an agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether it can tell a session from the beginning.
    pub loads: bool,
    /// Whether it can go on with a session.
    pub resumes: bool,
    /// Whether it knows which sessions it remembers.
    pub lists: bool,
    /// Whether prompts may hold pictures.
    pub sees: bool,
    /// The ways to sign in.
    pub methods: Vec<SignInMethod>,
}

/// Starts an agent. Must be called on a tokio runtime. Dropping the sender ends it.
pub fn start(start: Start) -> (mpsc::Sender<Command>, mpsc::Receiver<Event>) {
    let (commands, told) = mpsc::channel(COMMANDS);
    let (events, heard) = mpsc::channel(EVENTS);
    tokio::spawn(session::run(start, told, events));
    (commands, heard)
}
