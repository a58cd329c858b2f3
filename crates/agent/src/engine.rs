//! The turn engine: one task per session, commands in, events out.
//!
//! A turn sends a request to the model, runs the tool calls of the response, and repeats with their
//! results until the model stops, the user stops it, or a limit ends it. Every step is recorded
//! first.
//! Knows: records, the transcript, tools and the router as traits. Must not know: windows, which
//! tools exist, how rules are written.
//! Invariant: the start of a call is on the disk before the call starts, and a request before it is
//! sent.
//! Invariant: however a turn ends, each of its calls has ended and the transcript is valid for
//! every wire.
//! Start at `start`; sessions share a `Harness`; `turn` holds the turn itself.

mod adaptation;
mod ask;
mod calls;
mod compacting;
mod filling;
mod gateway;
mod hosted_journal;
pub(crate) mod inbox;
mod judging;
mod metrics;
mod omitting;
mod open;
mod pending_changes;
mod pinning;
mod prompt;
mod queue_journal;
mod scripted_gateway;
pub(crate) mod session;
mod session_hooks;
mod session_lock;
mod shared;
mod turn;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use base::AbsPath;
use model::Effort;
use tokio::sync::mpsc;

use crate::budget::{BudgetLimits, SessionBudget};
use crate::hooks::Hooks;
use crate::language::LanguageQueries;
use crate::locks::Locks;
use crate::permission::PermissionPolicy;
use crate::prompt_sources::PromptSources;
use crate::queue::PromptQueue;
use crate::record::{Parent, SessionMode};
use crate::sandbox::CommandSandbox;
use crate::session::{AgentEvent, SessionCommand};
use crate::tool::Tool;

pub use adaptation::SessionVariant;
pub use gateway::{ModelGateway, RouterGateway};
pub use hosted_journal::HostedJournal;
pub use open::{fork, prompt_parts, repair_records, resume, start, start_with_id};
pub use scripted_gateway::ScriptedGateway;
pub use session_lock::is_open_elsewhere;
pub use shared::{
    BuildRequest, CompactionChanges, Compactor, ContextAdditions, ContextBudget, ContextProvider,
    ContextRequest, Harness, HarnessParts, RenderSummary, SessionContext, SessionLimits,
    SummaryRequest,
};

/// The options with which a session starts.
#[derive(Clone)]
pub struct SessionOptions {
    /// State shared with the other sessions.
    pub harness: Arc<Harness>,
    /// The session's own tools, offered after those of the harness, in this order, while the
    /// session is open.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Root folder of the session; a real path without links.
    pub root: AbsPath,
    /// Model of the session: `provider/model`, `auto` or `demo`.
    pub model: String,
    /// Initial mode of the session.
    pub mode: SessionMode,
    /// Reasoning effort; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// The experiment that the session takes part in.
    pub variant: Option<SessionVariant>,
    /// Decides on the permission of each call.
    pub call_judge: Arc<dyn PermissionPolicy>,
    /// Whether a user can answer permission requests. Without one, they are refused.
    pub has_user: bool,
    /// Limits of the session and its subagents; once one is reached, no further request is sent.
    pub budget: BudgetLimits,
    /// Hooks of the project and the user.
    pub hooks: Option<Arc<Hooks>>,
    /// Sandbox for commands; without one, they run with the user's rights.
    pub sandbox: Option<Arc<dyn CommandSandbox>>,
    /// Language servers whose errors follow the result of each edit; `None` adds nothing.
    pub edit_diagnostics: Option<Arc<dyn LanguageQueries>>,
    /// Reads what prompts name and only the running program has; `None` reads nothing.
    pub prompt_sources: Option<Arc<dyn PromptSources>>,
    /// Parent session, for a subagent.
    pub parent: Option<Parentage>,
}

/// The relation of a subagent to its parent: the state that both share, and the limits of the
/// subagent.
#[derive(Clone)]
pub struct Parentage {
    /// Parent session and call.
    pub parent: Parent,
    /// Locks of the folder that both work in.
    pub locks: Locks,
    /// Budget of the parent, to which the subagent's costs count as well.
    pub budget: Arc<SessionBudget>,
    /// Nesting depth; 0 for the user's own session.
    pub depth: u32,
    /// Own names of the tools it is offered; `None` offers all.
    pub tools: Option<Vec<String>>,
}

/// A running session. Its task ends on `SessionCommand::Close`, or when the sender is dropped.
pub struct SessionChannels {
    /// Id of the session.
    pub id: Arc<str>,
    /// The messages that wait in it when it opens.
    pub queue: PromptQueue,
    /// Records of the session that cannot be read and are left out, each as a sentence.
    pub problems: Vec<String>,
    /// Commands to the session. Bounded: a sender waits while it is full.
    pub commands: mpsc::Sender<SessionCommand>,
    /// Events of the session. Bounded: the session waits until its records are received;
    /// display-only events are dropped while it is full.
    pub events: mpsc::Receiver<AgentEvent>,
}
