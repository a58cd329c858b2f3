//! The agent side of the protocol: serves editors over two pipes, in version 1.
//!
//! Knows the protocol; an `AgentBackend` implements the sessions.
//! Invariant: every update of a turn is sent before the turn's end.
//! Start at `serve`.

mod editor;
mod sessions;

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::protocol::{
    AgentModes, ConfigOption, MessageContent, OptionChoice, PromptStop, SessionInfo, Update,
};
use crate::error::Error;
use crate::mcp::ServerEntry;

pub use editor::{EditorAbilities, EditorClient, PermissionOutcome};

/// Implements the sessions of an editor. Methods of an open session are called in the order of the
/// editor's requests: the work a method does before it returns its future is done before the next
/// call. `cancel` is called while `prompt` is running.
pub trait AgentBackend: Send + Sync + 'static {
    /// Returns the agent's name and abilities.
    fn identity(&self) -> AgentIdentity;

    /// Creates a session in a folder. `editor` is the client that receives the session's updates.
    fn open(
        &self,
        wanted: SessionRequest,
        editor: EditorClient,
    ) -> BoxFuture<'static, Result<OpenedSession, RequestRefusal>>;

    /// Reopens a stored session. Refuses a session that does not exist. With `HistoryReplay::All`,
    /// sends the whole conversation to the editor before this method returns.
    fn reopen(
        &self,
        session: String,
        wanted: SessionRequest,
        replay: HistoryReplay,
        editor: EditorClient,
    ) -> BoxFuture<'static, Result<OpenedSession, RequestRefusal>>;

    /// Lists a page of the stored sessions, newest first: those of a folder, or all. `cursor` is that
    /// of the page before.
    fn list(
        &self,
        folder: Option<PathBuf>,
        cursor: Option<String>,
    ) -> BoxFuture<'static, Result<SessionList, RequestRefusal>>;

    /// Runs a prompt until the turn ends. The turn's updates go to the session's editor meanwhile.
    /// A turn that fails ends with `PromptStop::Failed`. A refusal means that no turn began.
    fn prompt(
        &self,
        session: String,
        prompt: Vec<MessageContent>,
    ) -> BoxFuture<'static, Result<PromptStop, RequestRefusal>>;

    /// Stops the running turn: its `prompt` ends with `PromptStop::Stopped`. Does nothing if no
    /// turn is running.
    fn cancel(&self, session: String) -> BoxFuture<'static, ()>;

    /// Changes the mode of a session to one of the modes that the session offers. Refuses an
    /// unknown mode.
    fn set_mode(
        &self,
        session: String,
        mode: String,
    ) -> BoxFuture<'static, Result<(), RequestRefusal>>;

    /// Sets an option and returns the new values of all options, because one option may change
    /// others.
    fn set_option(
        &self,
        session: String,
        option: String,
        chosen: OptionChoice,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, RequestRefusal>>;

    /// Closes a session; its stored conversation stays.
    fn close(&self, session: String) -> BoxFuture<'static, Result<(), RequestRefusal>>;
}

/// The agent's name and abilities, for the initialize response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentIdentity {
    /// The name for programs.
    pub name: String,
    /// The name for display.
    pub title: String,
    /// The version of the agent.
    pub version: String,
    /// Whether prompts may contain images.
    pub sees: bool,
    /// Whether sessions can use folders beside their working folder.
    pub roams: bool,
}

/// The parameters of a session that an editor opens.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRequest {
    /// The folder to work in; absolute.
    pub folder: PathBuf,
    /// Further folders that it may read.
    pub more: Vec<PathBuf>,
    /// The MCP servers to use. They count as configured by the user, because the user chose the
    /// editor.
    pub servers: Vec<ServerEntry>,
    /// The request's `_meta`, for agents that know the editor's extensions.
    pub meta: Value,
}

/// Whether the conversation of a reopened session is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryReplay {
    /// Send the conversation from the beginning.
    All,
    /// Send nothing, because the editor has the conversation.
    Nothing,
}

/// A session that was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenedSession {
    /// The id of the session.
    pub session: String,
    /// The available modes and the current one.
    pub modes: Option<AgentModes>,
    /// The options of the session, including the model.
    pub options: Vec<ConfigOption>,
    /// Updates to send as soon as the editor knows the session, before any other: after the
    /// response for a new or resumed session, and for a loaded one after its conversation but
    /// before the response.
    pub after: Vec<Update>,
}

/// A page of the stored sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionList {
    /// The sessions of this page.
    pub sessions: Vec<SessionInfo>,
    /// The cursor of the next page, if there is one.
    pub cursor: Option<String>,
}

/// The reason a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestRefusal {
    /// The session or object does not exist; a sentence.
    NotFound(String),
    /// The request is invalid; a sentence.
    Invalid(String),
    /// The user has to act first; a sentence.
    NeedsUser(String),
    /// The request failed; a sentence.
    Failed(String),
}

/// Serves an editor until it closes the input, and then stops all turns.
///
/// # Errors
///
/// `Error::Disconnected` if the pipes fail.
pub async fn serve(
    engine: Arc<dyn AgentBackend>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), Error> {
    sessions::serve(engine, input, output).await
}
