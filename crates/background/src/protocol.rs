//! The messages between a program and the background process.
//!
//! A message is its length in four bytes, the least significant first, and that many bytes of JSON.
//! Both sides begin with a hello. The client then opens streams and asks for results, each under a
//! number of its own; the server answers under the same number. Both programs are of one version:
//! the JSON is that of the types, and `PROTOCOL` changes with them.

use std::sync::Arc;

use agent::command_feed::{AgentCommand, AgentCommandId, CommandFeedEvent, CommandInput};
use agent::context::OpenFiles;
use agent::session::UserPrompt;
use agent::{AgentEvent, SessionCommand};
use agent_service::board::{Board, Command};
use agent_service::{
    AccessChange, AutomationChange, Consent, FolderAction, FolderState, KeptPrompts, NewSession,
    RunningSession, SessionActivity, SessionChange, SessionMark, SpendNotice, StoredChange,
    ToolAlarm,
};
use base::AbsPath;
use serde::{Deserialize, Serialize};

use crate::shells::{KeptShell, ShellEvent, ShellInput, ShellLaunch};

/// The version of the messages. Programs of another version are refused.
pub(crate) const PROTOCOL: u32 = 6;

/// Number of bytes of a command's output that a view may not have read before the server waits for it. Meanwhile, the
/// oldest output is lost to this view.
pub(crate) const MAX_UNREAD_OUTPUT: u64 = 256 << 10;

/// Maximum size of a message in bytes. A prompt with images is the largest one.
pub(crate) const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// The first message of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The version of the messages.
    pub(crate) protocol: u32,
    /// Distinguishes the client, or the run of the server.
    pub(crate) id: String,
    /// The program file and its modification time, which tell whether it was replaced since.
    pub(crate) program: ProgramStamp,
}

/// A program file at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramStamp {
    /// Path of the file.
    pub(crate) path: String,
    /// Its modification time, in nanoseconds since 1970.
    pub(crate) modified_ns: u64,
}

/// A message of a client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ClientMessage {
    /// Asks for one result.
    Ask {
        /// Number of the request.
        id: u64,
        /// The request.
        request: ServiceRequest,
    },
    /// Opens a stream. Opening the number of a former connection again continues its session.
    Open {
        /// Number of the stream.
        id: u64,
        /// The stream.
        stream: StreamRequest,
    },
    /// Sends a command into a stream.
    Send {
        /// Number of the stream.
        id: u64,
        /// Number of the command within the stream, from 1. A number that came before is ignored.
        number: u64,
        /// The command.
        command: StreamCommand,
    },
    /// Closes a stream.
    Close {
        /// Number of the stream.
        id: u64,
    },
    /// Reports a state of the client.
    Report(ClientReport),
    /// A sign of life of a client on another machine, for the proxy on the way.
    Alive,
}

/// A request with one result. The type of the result is in the comment.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ServiceRequest {
    /// The sessions of a folder: `Vec<SessionEntry>`.
    Sessions(AbsPath),
    /// Marks a session: `()`.
    Mark(String, SessionMark),
    /// Forks a session of a folder after a record: the id of the new one.
    Fork(AbsPath, String, u64),
    /// A session as Markdown: `String`.
    Export(String),
    /// Keeps or takes out changes of a session in a folder: `UndoOutcome`.
    ChangeFolder(AbsPath, String, FolderAction),
    /// The trust status of a folder: `FolderTrust`.
    Trust(AbsPath),
    /// Grants or revokes a consent: `FolderTrust`.
    Consent(AbsPath, Consent),
    /// The rights of agents in a folder: `FolderAccess`.
    Access(AbsPath),
    /// Changes the rights of agents in a folder: `FolderAccess`.
    ChangeAccess(AbsPath, AccessChange),
    /// The available models: `ModelList`.
    Models,
    /// Whether a model accepts images: `Option<bool>`.
    TakesImages(String),
    /// The cost of models of the last days: `Spending`.
    Spending(u64),
    /// The report on the quality of the last days: `QualityReport`.
    Quality(u64),
    /// The names of a folder's rules and skills: `Vec<NamedContext>`.
    NamedContext(AbsPath),
    /// The drafts and sent prompts of a folder: `KeptPrompts`.
    KeptPrompts(AbsPath),
    /// Stores the drafts and sent prompts of a folder: `()`.
    KeepPrompts(AbsPath, KeptPrompts),
    /// The external agents: `Vec<ExternalAgentEntry>`.
    ExternalAgents,
    /// Installs an external agent: `ExternalAgentEntry`.
    InstallAgent(String),
    /// The resources and prompts of a folder's MCP servers: `Vec<ServerContent>`.
    ServerContents(AbsPath),
    /// The automations of a folder: `Vec<AutomationEntry>`.
    Automations(AbsPath),
    /// Changes an automation of a folder: `Vec<AutomationEntry>`.
    ChangeAutomation(AbsPath, AutomationChange),
    /// Starts a shell of the user: its id.
    StartShell(Box<ShellLaunch>),
    /// Ends a shell: `()`.
    EndShell(String),
    /// The work of the process: `ServiceStatus`.
    Status,
    /// Ends the process, with its running sessions and the commands of shells if `with_sessions` is true:
    /// `bool`, whether it ends.
    Stop {
        /// Whether running sessions and commands are stopped.
        with_sessions: bool,
    },
}

/// A stream of items.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum StreamRequest {
    /// Starts a session: `Opened`, then `Event`.
    Start(NewSession),
    /// Opens a session of a folder: `Opened`, then `Event`.
    Session(AbsPath, String),
    /// Attaches to the session of a job: `Opened`, then `Event`.
    Job(AbsPath, String),
    /// The board of a folder: `Board` and `Undelivered`.
    Board(AbsPath),
    /// The running sessions: `Running`.
    Running,
    /// The running commands: `Commands`.
    Commands,
    /// The events of a command after the first bytes of its output, of which the client has this many:
    /// `Command`.
    Command(AgentCommandId, u64),
    /// The shells of a window's folder: one `Shells`.
    Shells(Option<AbsPath>),
    /// The events of a shell after the first bytes of its output, of which the client has this many: `Shell`.
    Shell(String, u64),
    /// The changes of running sessions: `Changed`.
    SessionChanges,
    /// The changes of stored sessions: `Stored`.
    StoredChanges,
    /// The notices of budgets: `Budget`.
    BudgetNotices,
    /// The alarms about tools: `Alarm`.
    ToolAlarms,
    /// The problems that belong to no open session: `Problem`.
    Problems,
    /// The changes of a session in a folder: `Folder`.
    FolderChanges(AbsPath, String),
}

/// A command into a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum StreamCommand {
    /// For a session.
    Session(SessionCommand),
    /// For a board.
    Board(Command),
    /// For a command of an agent.
    Command(CommandInput),
    /// For a shell of the user.
    Shell(ShellInput),
    /// The view has read this many bytes of the output of a command or shell. The server is at most
    /// `MAX_UNREAD_OUTPUT` ahead of it.
    Read(u64),
}

/// A state of the client. It is forgotten with the connection.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ClientReport {
    /// The unsaved text of a file; `None` if the file has none any more.
    Unsaved(AbsPath, Option<String>),
    /// The files of a folder that windows show.
    OpenFiles(AbsPath, OpenFiles),
    /// The user saved this file, with its text before the save ran a formatter.
    Saved(AbsPath, Option<String>),
}

/// A message of the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ServerMessage {
    /// The result of a request, as JSON.
    Result {
        /// Number of the request.
        id: u64,
        /// The result.
        result: Result<serde_json::Value, ServiceFailure>,
    },
    /// An item of a stream.
    Item {
        /// Number of the stream.
        id: u64,
        /// The item.
        item: StreamItem,
    },
    /// A stream has ended.
    End {
        /// Number of the stream.
        id: u64,
    },
    /// The command of this number, and those before it, were carried out.
    Handled {
        /// Number of the stream.
        id: u64,
        /// Number of the command.
        number: u64,
    },
}

/// An item of a stream.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum StreamItem {
    /// A session was opened; its past records follow as events.
    Opened {
        /// Id of the session.
        id: String,
        /// The folder in which it works.
        root: AbsPath,
        /// Problems to show to the user, as sentences.
        notices: Vec<String>,
        /// Number of the latest past record.
        past: Option<u64>,
    },
    /// A session or a board cannot be opened. The stream ends.
    Failed(ServiceFailure),
    /// An event of a session.
    Event(AgentEvent),
    /// A state of a board.
    Board(Arc<Board>),
    /// A message that no agent got.
    Undelivered(UserPrompt),
    /// The running sessions.
    Running(Vec<RunningSession>),
    /// The running commands of agents.
    Commands(Vec<AgentCommand>),
    /// News of a command.
    Command(CommandFeedEvent),
    /// The shells of a folder.
    Shells(Vec<KeptShell>),
    /// News of a shell.
    Shell(ShellEvent),
    /// A change of a running session.
    Changed(SessionChange),
    /// A change of stored sessions.
    Stored(StoredChange),
    /// A budget is nearly or fully used.
    Budget(SpendNotice),
    /// An alarm about a tool.
    Alarm(ToolAlarm),
    /// A problem, as a sentence.
    Problem(String),
    /// The changes of a session in a folder.
    Folder(FolderState),
}

/// The reason why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ServiceFailure {
    /// The engines did not start or broke off.
    Unavailable(String),
    /// The request is not possible.
    Failed(String),
}

/// The work of the background process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceStatus {
    /// Id of the process.
    pub pid: u32,
    /// Number of programs that are connected, this one included.
    pub clients: usize,
    /// The open sessions.
    pub sessions: Vec<ServiceSession>,
    /// The user's shells.
    pub shells: Vec<KeptShell>,
}

/// An open session of the background process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceSession {
    /// Id of the session, or of the job on the board.
    pub id: String,
    /// The folder for which it was opened.
    pub folder: AbsPath,
    /// Whether it works, waits for the user, or is idle.
    pub activity: SessionActivity,
    /// The call or question that waits for the user; empty if none waits.
    pub waiting_for: String,
}

impl From<agent_service::Error> for ServiceFailure {
    fn from(error: agent_service::Error) -> Self {
        match error {
            agent_service::Error::Unavailable(text) => Self::Unavailable(text),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<ServiceFailure> for agent_service::Error {
    fn from(failure: ServiceFailure) -> Self {
        match failure {
            ServiceFailure::Unavailable(text) => Self::Unavailable(text),
            ServiceFailure::Failed(text) => Self::Failed(text),
        }
    }
}

impl ServiceStatus {
    /// Returns whether a session works or waits for the user, or a command runs in a shell.
    pub fn is_busy(&self) -> bool {
        let (mut sessions, mut shells) = (self.sessions.iter(), self.shells.iter());
        sessions.any(|session| session.activity != SessionActivity::Idle)
            || shells.any(|shell| shell.is_busy)
    }
}
