//! The engines as views see them, and the values that they exchange.

use std::sync::Arc;

use agent::SessionCommand;
use agent::command_feed::{AgentCommand, AgentCommandId, CommandFeedEvent, CommandInput};
use agent::record::SessionMode;
use base::AbsPath;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::model_traits::ModelTraits;
use crate::{
    AccessChange, AutomationChange, AutomationEntry, FolderAccess, FolderAction, FolderChanges,
    FolderTrust, KeptPrompts, NamedContext, OpenFiles, PendingHooks, PendingMcpServer,
    QualityReport, RunningSession, ServerContent, SessionChange, SessionMark, SpendNotice,
    Spending, UndoOutcome, board,
};

/// The reason why the engines did not do what the panel asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engines did not start or broke off.
    #[error("{0}")]
    Unavailable(String),
    /// A session, a folder or its settings do not allow the request.
    #[error("{0}")]
    Failed(String),
    /// The board of the folder does not allow the request.
    #[error(transparent)]
    Board(#[from] composer::Error),
}

/// A tool whose calls by a model changed: they fail more often than usual, or take another time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolAlarm {
    /// The tool's own name.
    pub tool: String,
    /// The model that made the calls.
    pub model: String,
    /// The change as a sentence.
    pub sentence: String,
}

/// The agent engines as the panel sees them. The futures may be awaited on any thread.
pub trait AgentService: Send + Sync {
    /// Whether agents go on when the windows are closed.
    fn outlives_windows(&self) -> bool {
        false
    }

    /// The name of the machine whose agents these are; `None` for this computer. The paths of another
    /// machine are no files of this one.
    fn machine(&self) -> Option<String> {
        None
    }

    /// Streams the state of the connection to another machine: now, and after each change. `None` while
    /// nothing is wrong, otherwise a sentence. Ends at once for agents of this computer.
    fn link_problems(&self) -> BoxStream<'static, Option<String>> {
        Box::pin(futures::stream::empty())
    }

    /// Finds the available models, recommended ones first, the demo model last. Never fails: errors
    /// are in the list's `advice` and `problems`.
    fn models(&self) -> BoxFuture<'static, ModelList>;

    /// Lists all sessions of a folder and of the agents on its board, latest first, without those of
    /// subagents.
    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionEntry>, Error>>;

    /// Starts a session and attaches to it. The session is stored only from its first prompt on.
    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<SessionConnection, Error>>;

    /// Opens a session for the folder of the panel: attaches to it if it runs, resumes it
    /// otherwise. Its records come first, as events.
    fn open(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>>;

    /// Streams the sessions that run in this program, shown or not: now, and after each change.
    fn running(&self) -> BoxStream<'static, Vec<RunningSession>>;

    /// Streams the commands that agents run, those of all sessions, oldest first: now, and after each
    /// change.
    fn running_commands(&self) -> BoxStream<'static, Vec<AgentCommand>>;

    /// Attaches to a command. Its events are those after the first `from` bytes of its output; there are
    /// none if it ended long ago.
    fn watch_command(&self, id: AgentCommandId, from: u64) -> CommandConnection;

    /// Streams the changes of running sessions of which their user may want to know.
    fn session_changes(&self) -> BoxStream<'static, SessionChange>;

    /// Streams the changes of stored sessions, those of all folders.
    fn stored_changes(&self) -> BoxStream<'static, StoredChange>;

    /// Streams problems of the engines that belong to no open session, as sentences for the user.
    fn problems(&self) -> BoxStream<'static, String>;

    /// Appends a mark to a session: its name, whether it is archived, read or deleted. Fails if
    /// there is no such session, and for the deletion of a session that is open.
    fn mark_session(&self, id: String, mark: SessionMark) -> BoxFuture<'static, Result<(), Error>>;

    /// Copies a session up to and including the record number `after` into a new one, and returns
    /// its id. Fails for the session of an agent on the board.
    fn fork_session(
        &self,
        root: AbsPath,
        id: String,
        after: u64,
    ) -> BoxFuture<'static, Result<String, Error>>;

    /// Returns a session as Markdown.
    fn export_session(&self, id: String) -> BoxFuture<'static, Result<String, Error>>;

    /// Sets the files of a folder that a window shows. The engines use these files for the prompts
    /// of sessions in that folder. Each call replaces the files of the call before.
    fn set_open_files(&self, root: AbsPath, files: OpenFiles);

    /// Connects to the board of a folder in a Git checkout. Each folder has one board.
    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<board::BoardConnection, Error>>;

    /// Attaches to the session of the board's agent `id`. The session's past records come first, as
    /// events. Fails if the session has not begun.
    fn watch(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>>;

    /// Streams the changes that a session made in its folder, if that is a folder of the user: now,
    /// and after each change. Nothing comes before the session's first change.
    fn folder_changes(&self, root: AbsPath, session: String) -> BoxStream<'static, FolderState>;

    /// Reports a file that the user saved in a window, so that its content counts as the user's.
    /// `unformatted` is its text before the save ran a formatter, if it changed the text.
    fn file_saved(&self, path: AbsPath, unformatted: Option<String>);

    /// Keeps or takes out changes of a session in its folder.
    fn change_folder(
        &self,
        root: AbsPath,
        session: String,
        action: FolderAction,
    ) -> BoxFuture<'static, Result<UndoOutcome, Error>>;

    /// Returns whether a model accepts images; `None` if that is unknown.
    fn takes_images(&self, model: String) -> BoxFuture<'static, Option<bool>>;

    /// Reads the cost of models of the last `days` days.
    fn spending(&self, days: u64) -> BoxFuture<'static, Result<Spending, Error>>;

    /// Streams the notices of budgets that are nearly or fully used, from now on.
    fn budget_notices(&self) -> BoxStream<'static, SpendNotice>;

    /// Computes the report on the quality of the last `days` days.
    fn quality(&self, days: u64) -> BoxFuture<'static, Result<QualityReport, Error>>;

    /// Streams the alarms about tools, from now on.
    fn tool_alarms(&self) -> BoxStream<'static, ToolAlarm>;

    /// Reads a file of at most `limit` bytes.
    fn read_file(&self, path: AbsPath, limit: u64) -> BoxFuture<'static, Result<Vec<u8>, Error>>;

    /// Reads the names of a folder's rules and skills, as far as the folder is trusted.
    fn named_context(&self, root: AbsPath) -> BoxFuture<'static, Vec<NamedContext>>;

    /// Lists the resources and prompts of the MCP servers that run for a folder. Takes up to half a
    /// minute if a server does not answer.
    fn server_contents(&self, root: AbsPath) -> BoxFuture<'static, Vec<ServerContent>>;

    /// Reads the drafts and sent prompts of a folder.
    fn kept_prompts(&self, root: AbsPath) -> BoxFuture<'static, KeptPrompts>;

    /// Stores the drafts and sent prompts of a folder, in place of those stored before. Begins at
    /// once, also if the future is dropped.
    fn keep_prompts(
        &self,
        root: AbsPath,
        kept: KeptPrompts,
    ) -> BoxFuture<'static, Result<(), Error>>;

    /// Reads the rights of agents in a folder: rules, sandbox, servers, trust, hooks, instructions.
    fn folder_access(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderAccess, Error>>;

    /// Changes the rights of agents in a folder, and returns the new ones. Starting a server takes
    /// half a minute at most.
    fn change_access(
        &self,
        root: AbsPath,
        change: AccessChange,
    ) -> BoxFuture<'static, Result<FolderAccess, Error>>;

    /// Signs in to an MCP server of a folder. Dropping the stream ends the attempt.
    fn sign_in(&self, root: AbsPath, server: String) -> BoxStream<'static, SignInStep>;

    /// Reads the trust status of a folder: its instructions, hooks and servers.
    fn folder_trust(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderTrust, Error>>;

    /// Grants or revokes consent for a folder, and returns the new trust status.
    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<FolderTrust, Error>>;

    /// Lists the automations of a folder, by name, with their latest occurrences.
    fn automations(&self, root: AbsPath)
    -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>>;

    /// Turns an automation on or off, or runs it, and returns the new list. Fails if its text has
    /// changed since it was shown.
    fn change_automation(
        &self,
        root: AbsPath,
        change: AutomationChange,
    ) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>>;

    /// Lists the external agents: the known ones and those of the settings, installed or not.
    fn external_agents(&self) -> BoxFuture<'static, Result<Vec<ExternalAgentEntry>, Error>>;

    /// Installs an external agent by its command, which the user confirmed, and returns it. Takes up
    /// to some minutes.
    fn install_agent(&self, id: String) -> BoxFuture<'static, Result<ExternalAgentEntry, Error>>;
}

/// An external agent that can be started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalAgentEntry {
    /// The id, as written in settings.
    pub id: String,
    /// Display name of the agent.
    pub name: String,
    /// Whether it can be started now.
    pub is_installed: bool,
    /// The command that installs it, as one line; `None` if it has no package.
    pub install_command: Option<String>,
    /// The condition or instruction for its installation, as a sentence; may be empty.
    pub advice: String,
    /// The usual way to sign in, as a sentence; may be empty.
    pub sign_in: String,
}

/// A step of signing in to an MCP server.
#[derive(Debug)]
pub enum SignInStep {
    /// The user has to open a page.
    Page {
        /// The address of the page; foreign text.
        url: String,
        /// The purpose, as a sentence; foreign text.
        reason: String,
    },
    /// The last step: a sentence about the success, or the failure.
    Done(Result<String, Error>),
}

/// The changes of a session in a folder of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FolderState {
    /// The changes that are neither kept nor rejected.
    Changes(FolderChanges),
    /// Changes are not recorded; the reason as a sentence.
    Unrecorded(String),
}

/// A consent of the user for a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Consent {
    /// Instructions, rules and skills join prompts.
    Trust,
    /// Instructions, rules and skills are kept out of prompts.
    Distrust,
    /// These hooks may run.
    Hooks(Vec<PendingHooks>),
    /// This MCP server may run.
    Server(PendingMcpServer),
    /// This MCP server must not run.
    DenyServer(PendingMcpServer),
}

/// The parameters of a new session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSession {
    /// The folder in which it works.
    pub root: AbsPath,
    /// The model: `provider/model`, `auto` or `demo`.
    pub model: String,
    /// The mode in which it works.
    pub mode: SessionMode,
}

/// A connection to a running session.
pub struct SessionConnection {
    /// Id of the session.
    pub id: String,
    /// The folder in which it works; the demo model has its own copy of the sample project.
    pub root: AbsPath,
    /// Sends a command to the session without blocking.
    pub send: Arc<dyn Fn(SessionCommand) + Send + Sync>,
    /// Number of the latest record that comes from the past; `None` for a session without records.
    pub past: Option<u64>,
    /// Events of the session. When this is dropped the session goes on; it closes once its turn has
    /// ended and no panel shows it.
    pub events: BoxStream<'static, agent::AgentEvent>,
    /// Problems to show to the user, as sentences.
    pub notices: Vec<String>,
}

/// A connection to a running command. Dropping both parts detaches it; the command goes on.
pub struct CommandConnection {
    /// Sends an input without blocking.
    pub send: Arc<dyn Fn(CommandInput) + Send + Sync>,
    /// The events of the command until its end. Output that is not read in time is left out.
    pub events: BoxStream<'static, CommandFeedEvent>,
}

/// The list of available models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelList {
    /// All models that can be used.
    pub models: Vec<ModelEntry>,
    /// Id of the default model.
    pub default: String,
    /// A sentence that explains how to get more models; empty if there are some.
    pub advice: String,
    /// Problems found at start-up, such as unreadable settings, as sentences.
    pub problems: Vec<String>,
}

/// A model that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// The id as written in settings: `provider/model`, `auto` or `demo`.
    pub id: String,
    /// Display name of the model.
    pub name: String,
    /// Location of the model, in a few words.
    pub about: String,
    /// Facts about the model; `None` for `auto` and for the demo model.
    pub traits: Option<ModelTraits>,
}

/// An entry of the session list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// Id of the session.
    pub id: String,
    /// Title of the session.
    pub title: String,
    /// Time since its last event, in milliseconds.
    pub age_ms: u64,
    /// The model of its last request.
    pub model: String,
    /// Cost in billionths of a US dollar; `None` if a price was unknown.
    pub cost_nano: Option<u64>,
    /// Its state as stored.
    pub status: SessionStatus,
    /// The agent on the board whose session it is; `None` if it works in the folder itself.
    pub agent: Option<SessionAgent>,
    /// Whether it is listed among the archived ones.
    pub is_archived: bool,
    /// Whether something happened that the user has not seen.
    pub is_unread: bool,
}

/// A change of stored sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoredChange {
    /// A session got records.
    Records,
    /// A session got a mark, such as a title.
    Marks,
}

/// The agent on the board to which a session belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAgent {
    /// The branch to which it commits, or committed.
    pub branch: String,
    /// Id of its job; `None` after it was removed from the board.
    pub job: Option<String>,
}

/// The state of a session as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionStatus {
    /// It has no prompt yet.
    New,
    /// A turn is running, in this program or another.
    Working,
    /// Its last turn ended.
    Done,
    /// The user stopped its last turn.
    Stopped,
    /// Its last turn failed, for this reason.
    Failed(String),
    /// The program died during its last turn.
    Interrupted,
}
