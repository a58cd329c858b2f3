//! Hosts an external agent: a process with a working folder, commands in, events out.
//!
//! Invariant: a turn ends exactly once, whether the agent answers, dies, or is killed because it
//! does not stop.
//! Invariant: file requests of the agent are limited to its root; changes it makes itself are
//! detected by a watcher.
//! Start at `start`; `catalog` lists the known agents.

pub mod catalog;
mod connection;
mod files;
mod handshake;
mod options;
mod requests;
mod session;
mod terminals;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use host::process::SandboxSpawner;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

pub use terminals::{TerminalCommand, TerminalProcess, TerminalRunner};

use super::protocol::{
    AgentModes, CallUpdate, ConfigOption, Filled, MessageContent, OptionChoice, PermissionChoice,
    PromptStop, SessionInfo, SignInMethod, Update,
};
use crate::mcp::{ElicitationForm, ServerEntry};
use crate::variables::Variables;

/// Capacity of the event channel. When it is full, the agent's messages wait.
const EVENT_CAPACITY: usize = 256;

/// Capacity of the command channel: users do not type faster.
const COMMAND_CAPACITY: usize = 16;

/// The configuration of an agent to start.
pub struct AgentLaunch {
    /// The name for display.
    pub name: String,
    /// The program: a name looked up in `PATH`, or a path.
    pub program: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The complete environment of the process. The caller leaves out secrets other than the keys of
    /// the agent's own provider; nothing is removed here.
    pub environment: Variables,
    /// The folder it works in, with symlinks resolved.
    pub root: AbsPath,
    /// The session to work in.
    pub session: SessionStart,
    /// The MCP servers it should use.
    pub servers: Vec<ServerEntry>,
    /// The sign-in to perform before anything else.
    pub sign_in: Option<SignIn>,
    /// Additions to our authentication capabilities, for agents that require them.
    pub auth_meta: Map<String, Value>,
    /// Runs its commands in our terminals; without it, the agent is offered none. It can always run
    /// commands itself.
    pub terminals: Option<Arc<dyn TerminalRunner>>,
    /// Whether the user can run the agent in a terminal to sign in; otherwise it offers no such
    /// method.
    pub signs_in_by_terminal: bool,
    /// The sandbox of its process; without one it has the user's rights.
    pub sandbox: Option<Arc<dyn SandboxSpawner>>,
    /// The time it has to stop a turn.
    pub stop: StopTimeouts,
    /// The file system, for reads, writes and watching.
    pub files: Arc<dyn host::Files>,
    /// Paths below the root that are not watched.
    pub ignore: host::Ignore,
    /// A private folder for recovery records.
    pub recovery: AbsPath,
}

/// The time after which an agent that does not stop a turn is reported, and is killed. Both count
/// from the request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopTimeouts {
    /// The time of the notice.
    pub notice: Duration,
    /// The time of the kill, not before the notice.
    pub kill: Duration,
}

impl Default for StopTimeouts {
    fn default() -> Self {
        Self {
            notice: Duration::from_secs(3),
            kill: Duration::from_secs(10),
        }
    }
}

/// The session an agent works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionStart {
    /// A new session in the root folder.
    New,
    /// A stored session, with its conversation sent again.
    Load(String),
    /// A stored session, without its conversation.
    Resume(String),
    /// A stored session in the best way that the agent supports: without its conversation, or with
    /// it. Without either, or if the agent no longer has the session, a new one begins; `Began` then
    /// names another id.
    Continue(String),
}

/// A sign-in with one of the agent's methods.
#[derive(Clone, Debug, PartialEq)]
pub struct SignIn {
    /// The id of the method.
    pub method: String,
    /// The parameters of the method.
    pub meta: Map<String, Value>,
}

/// A command to a hosted agent.
#[derive(Clone, Debug, PartialEq)]
pub enum HostedAgentCommand {
    /// Begin a turn. While another one is running, the prompt is queued.
    Prompt(Vec<MessageContent>),
    /// Stop the running turn. An agent that does not stop in time is killed.
    Stop,
    /// Answer a permission request with a choice's id; `None` cancels it.
    Decide {
        /// The number of the request.
        number: u64,
        /// The id of the choice.
        choice: Option<String>,
    },
    /// Answer a form or a page.
    Fill {
        /// The number of the request.
        number: u64,
        /// The user's answer to it.
        filled: Filled,
    },
    /// Change the session's mode.
    SetMode(String),
    /// Set an option of the session.
    SetOption {
        /// The id of the option.
        id: String,
        /// The new value of the option.
        chosen: OptionChoice,
    },
    /// Sign in, and begin the session if it was waiting for that.
    SignIn(SignIn),
    /// List the sessions the agent has stored; `Sessions` answers.
    List,
    /// Close the session and end the agent.
    Close,
}

/// An event of a hosted agent.
#[derive(Clone, Debug, PartialEq)]
pub enum HostedAgentEvent {
    /// It responded to the initialize request.
    Hello(AgentDescription),
    /// Its session began and accepts prompts.
    Began {
        /// The id of the session, for loading or resuming it later.
        session: String,
        /// The available modes and the current one.
        modes: Option<AgentModes>,
        /// The options of the session.
        options: Vec<ConfigOption>,
    },
    /// It requires the user to sign in.
    NeedsSignIn {
        /// The available sign-in methods.
        methods: Vec<SignInMethod>,
        /// The agent's message, or the reason the last sign-in failed.
        why: String,
    },
    /// A turn began to run.
    TurnBegan,
    /// An update of the session.
    Update(Update),
    /// It requests permission. Unanswered requests are cancelled when the turn ends.
    Asking {
        /// The number of the request.
        number: u64,
        /// The call that needs permission.
        call: CallUpdate,
        /// The answers the user may give.
        choices: Vec<PermissionChoice>,
    },
    /// It requests a form.
    Form {
        /// The number of the request.
        number: u64,
        /// The form to fill in.
        form: ElicitationForm,
    },
    /// It asks the user to open a page. Answered like a form: accepted once the page is open.
    Page {
        /// The number of the request.
        number: u64,
        /// The URL of the page.
        url: String,
        /// The purpose, in the agent's words.
        why: String,
    },
    /// Files below its root changed: absolute paths. Empty if any file may have changed.
    Changed(Vec<PathBuf>),
    /// The sessions the agent has stored.
    Sessions(Vec<SessionInfo>),
    /// A command failed, or changes of files are not watched; a sentence.
    Problem(String),
    /// It has not stopped the turn as requested, and is killed after this time.
    Overdue(Duration),
    /// It printed a line that is not a message, or sent an update of an unknown kind.
    Noise(String),
    /// The running turn has ended.
    TurnEnded(PromptStop),
    /// The agent has ended, with the reason unless we closed it. No event follows.
    Closed(Option<String>),
}

/// The agent's name and capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDescription {
    /// The name for display.
    pub name: String,
    /// The version of the agent.
    pub version: String,
    /// Whether it can send a stored conversation again.
    pub loads: bool,
    /// Whether it can resume a session.
    pub resumes: bool,
    /// Whether it can list its sessions.
    pub lists: bool,
    /// Whether prompts may contain images.
    pub sees: bool,
    /// The available sign-in methods.
    pub methods: Vec<SignInMethod>,
}

/// Starts an agent as a child process. Returns the sender of commands and the receiver of events at
/// once. Reports a failure to start as an event. Must be called on a tokio runtime. Dropping the
/// sender ends the agent.
pub fn start(
    start: AgentLaunch,
) -> (
    mpsc::Sender<HostedAgentCommand>,
    mpsc::Receiver<HostedAgentEvent>,
) {
    let (sender, commands) = mpsc::channel(COMMAND_CAPACITY);
    let (events, receiver) = mpsc::channel(EVENT_CAPACITY);
    tokio::spawn(session::run(start, commands, events));
    (sender, receiver)
}
