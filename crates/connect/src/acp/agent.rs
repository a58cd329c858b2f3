//! Being an agent in the editors of others: version 1 of the protocol over two pipes.
//!
//! Knows how the protocol speaks; what a session does is an `Engine`'s business.
//! Invariant: everything that is said of a session during a turn comes before the turn's end.
//! Start at `serve`.

mod editor;
mod sessions;

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::words::{Chosen, ConfigOption, Modes, Piece, SessionInfo, TurnEnd, Update};
use crate::mcp::ServerEntry;

pub use editor::{Editor, EditorAbilities, PermissionOutcome};

/// What serves the sessions of an editor. Methods of a session that is open are called in the order in which the
/// editor asked: what one does before it returns its future is done before the next is called. `cancel` comes
/// while `prompt` is under way.
pub trait Engine: Send + Sync + 'static {
    /// What it says of itself.
    fn about(&self) -> About;

    /// Begins a session.
    fn open(&self, wanted: Wanted, editor: Editor) -> BoxFuture<'static, Result<Opened, Refusal>>;

    /// Opens a session that is remembered. With `Replay::All`, everything that was said is told to the editor before
    /// this returns.
    fn reopen(
        &self,
        session: String,
        wanted: Wanted,
        replay: Replay,
        editor: Editor,
    ) -> BoxFuture<'static, Result<Opened, Refusal>>;

    /// The sessions that are remembered, the last one first: those of a folder, or all.
    fn list(
        &self,
        folder: Option<PathBuf>,
        cursor: Option<String>,
    ) -> BoxFuture<'static, Result<Listed, Refusal>>;

    /// Serves a prompt until the turn ends.
    fn prompt(
        &self,
        session: String,
        prompt: Vec<Piece>,
    ) -> BoxFuture<'static, Result<TurnEnd, Refusal>>;

    /// Stops the running turn: its `prompt` ends with `TurnEnd::Stopped`.
    fn cancel(&self, session: String) -> BoxFuture<'static, ()>;

    /// Works in another way.
    fn set_mode(&self, session: String, mode: String) -> BoxFuture<'static, Result<(), Refusal>>;

    /// Chooses something of an option; all options as they are afterwards.
    fn set_option(
        &self,
        session: String,
        option: String,
        chosen: Chosen,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, Refusal>>;

    /// Ends a session; what it remembers stays.
    fn close(&self, session: String) -> BoxFuture<'static, Result<(), Refusal>>;
}

/// What an agent says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name, in letters for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its version.
    pub version: String,
    /// Whether prompts may hold pictures.
    pub sees: bool,
    /// Whether sessions look at more folders than the one they work in.
    pub roams: bool,
}

/// What an editor wants of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The folder to work in; absolute.
    pub folder: PathBuf,
    /// More folders that it may look at.
    pub more: Vec<PathBuf>,
    /// The MCP servers to use: the person's, since the editor is.
    pub servers: Vec<ServerEntry>,
    /// What the editor put beside it, for agents that know it.
    pub meta: Value,
}

/// Whether a session is told again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// From the beginning.
    All,
    /// Not at all: the editor knows it.
    Nothing,
}

/// A session that is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opened {
    /// Its id.
    pub session: String,
    /// The ways of working that there are.
    pub modes: Option<Modes>,
    /// What can be chosen; the model is one of them.
    pub options: Vec<ConfigOption>,
    /// What is told as soon as the editor knows the session, and before anything else: behind the answer to a new or
    /// resumed session, and behind what was said, but before the answer, where that is told again.
    pub after: Vec<Update>,
}

/// Some of the sessions that are remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// They.
    pub sessions: Vec<SessionInfo>,
    /// What to ask for to get more, where there are more.
    pub cursor: Option<String>,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such session or thing: a sentence.
    NotThere(String),
    /// What is asked for makes no sense: a sentence.
    Invalid(String),
    /// The person has to do something before: a sentence.
    NeedsPerson(String),
    /// It failed: a sentence.
    Failed(String),
}

/// Serves an editor until it closes the input. All turns are stopped then.
///
/// # Errors
///
/// A sentence, when the pipes fail.
pub async fn serve(
    engine: Arc<dyn Engine>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), String> {
    sessions::serve(engine, input, output).await
}
