//! State shared by the sessions of a process: access to models, tools, context and the ledger.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use base::AbsPath;
use futures::future::BoxFuture;
use model::policy::{AgentId, TokenEstimator};
use model::{ModelId, ModelRequest, Profile};

use super::gateway::ModelGateway;
use super::session_lock::SessionLock;
use crate::call_observer::CallObserver;
use crate::prompt_sources::PromptSources;
use crate::record::{SessionMode, SessionRecord, TodoItem};
use crate::services::SessionServices;
use crate::store::SessionStore;
use crate::tool::Tool;
use crate::tool_health::ToolHealth;
use crate::transcript::ConversationView;

/// The parts of a harness, supplied by the program that starts sessions.
pub struct HarnessParts {
    /// Store of the records.
    pub store: SessionStore,
    /// Files, clock and search.
    pub sources: Arc<SessionServices>,
    /// Access to the models.
    pub models: Arc<dyn ModelGateway>,
    /// Every tool, in the order offered to models.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Observes every call of every tool, a session's own tools included.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Creates the context of each session, which adds text to prompts.
    pub contexts: Arc<dyn ContextProvider>,
    /// Decides what is shortened when a conversation grows too long.
    pub compactor: Arc<dyn Compactor>,
    /// Limits of every session.
    pub limits: SessionLimits,
    /// Called with the id of each session that has ended, to clean up the state of its tools.
    pub on_session_end: Arc<dyn Fn(&str) + Send + Sync>,
}

/// State shared by the sessions of a process.
pub struct Harness {
    pub(crate) parts: HarnessParts,
    last: AtomicU64,
    /// Sessions that this process has locked.
    session_locks: Mutex<HashMap<String, Weak<SessionLock>>>,
    tool_health: ToolHealth,
}

/// Limits that apply to every session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLimits {
    /// Grace period for a stopped call to report its work.
    pub grace: Duration,
    /// Maximum tokens of a result.
    pub output_tokens: u64,
    /// Share of the model's context from which the conversation is compacted.
    pub compact_at: f64,
    /// Model for summaries as `provider/model`; `None` uses the session's own model.
    pub summary_model: Option<String>,
    /// Maximum nesting depth of subagents.
    pub depth: u32,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            // Longer than the grace period of a command, so that it has been killed when the turn
            // ends.
            grace: Duration::from_millis(190),
            output_tokens: 10_000,
            compact_at: 0.8,
            summary_model: None,
            depth: 2,
        }
    }
}

impl Harness {
    /// Creates a harness from its parts.
    pub fn new(parts: HarnessParts) -> Arc<Self> {
        Arc::new(Self {
            parts,
            last: AtomicU64::new(0),
            session_locks: Mutex::default(),
            tool_health: ToolHealth::default(),
        })
    }

    // A panic while the lock was held cannot have left the map inconsistent.
    /// Returns the table of sessions that this process has locked, itself behind a mutex.
    pub(super) fn session_locks(&self) -> MutexGuard<'_, HashMap<String, Weak<SessionLock>>> {
        self.session_locks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the store of the records.
    pub fn store(&self) -> &SessionStore {
        &self.parts.store
    }

    /// Returns the alarms about tools.
    pub fn tool_health(&self) -> &ToolHealth {
        &self.tool_health
    }

    /// Returns an id for a new session: ids sort by creation time.
    pub(crate) fn new_id(&self) -> Arc<str> {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let now = self.parts.sources.clock.wall_ms();
        format!("{now:011x}-{:x}-{number:x}", std::process::id()).into()
    }

    /// Returns a number for a new agent at the router; 0 is never used.
    pub(crate) fn new_agent(&self) -> AgentId {
        AgentId(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Additions to a prompt that a context provider returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextAdditions {
    /// `SessionRecord::Joined` entries, in order.
    pub records: Vec<SessionRecord>,
    /// Messages for the user about text that could not be added.
    pub problems: Vec<String>,
}

/// The parameters of a session's context, fixed when the session opens.
#[derive(Clone)]
pub struct ContextRequest {
    /// Root folder of the session.
    pub root: AbsPath,
    /// Profile of the session's first model.
    pub profile: Arc<Profile>,
    /// Offered tools: own name, and name offered to the model.
    pub tools: Vec<(String, String)>,
    /// Whether it works for another agent.
    pub is_subagent: bool,
    /// Initial mode of the session.
    pub mode: SessionMode,
    /// Reads what prompts name and only the running program has; `None` reads nothing.
    pub prompt_sources: Option<Arc<dyn PromptSources>>,
}

/// Creates the context of each session.
pub trait ContextProvider: Send + Sync {
    /// Creates the context of a session with these records, and returns the additions at its start:
    /// none if there are records.
    fn open(
        &self,
        about: ContextRequest,
        records: Vec<SessionRecord>,
    ) -> BoxFuture<'static, (Box<dyn SessionContext>, ContextAdditions)>;
}

/// Provides the additions to one session's prompts: instructions, environment, mentions.
///
/// Dropping a future midway may lose an addition, but never repeats one.
pub trait SessionContext: Send {
    /// Returns the additions before a user message.
    fn prompt<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, ContextAdditions>;

    /// Returns the additions after results that read or changed these files; paths are relative to
    /// the root.
    fn touched(&mut self, paths: Vec<String>) -> BoxFuture<'_, ContextAdditions>;

    /// Returns the message to the model on a change to `mode`; `None` if it needs none.
    fn mode(&self, mode: SessionMode) -> Option<String>;
}

/// Size and limits of a conversation, from which a compaction is planned. All sizes are in bytes;
/// the estimator converts them to tokens.
#[derive(Clone, Copy, Debug)]
pub struct ContextBudget<'a> {
    /// Profile of the model that receives it.
    pub profile: &'a Profile,
    /// Bytes sent besides the conversation: system prompt and tools.
    pub fixed_bytes: u64,
    /// Bytes of the conversation.
    pub bytes: u64,
    /// Converts bytes to tokens.
    pub estimator: &'a TokenEstimator,
    /// Whether to summarise as much as possible, for another model.
    pub is_for_another: bool,
    /// The current plan, which stays verbatim.
    pub todos: &'a [TodoItem],
}

/// A compaction to apply.
#[derive(Default)]
pub struct CompactionChanges {
    /// Results to send in a shorter form: call id and text.
    pub reduced: Vec<(String, String)>,
    /// Ids of calls to drop together with their results.
    pub dropped: Vec<String>,
    /// The summary to write, if any.
    pub summary: Option<SummaryRequest>,
}

/// A summary to write.
pub struct SummaryRequest {
    /// Sequence number of the last record it covers.
    pub through: u64,
    /// Builds the request for the summary.
    pub build_request: Box<BuildRequest>,
    /// Renders the replacement text from the model's response, or without one if no model could
    /// write it.
    pub render: Box<RenderSummary>,
}

/// Builds the summary request for a given model.
pub type BuildRequest = dyn Fn(ModelId) -> ModelRequest + Send + Sync;
/// Renders the replacement text from a model's response, or without one.
pub type RenderSummary = dyn Fn(Option<&str>) -> String + Send + Sync;

/// Decides what is shortened when a conversation grows too long. Pure.
pub trait Compactor: Send + Sync {
    /// Plans a compaction; `None` if nothing can be shortened.
    fn plan(
        &self,
        view: &ConversationView<'_>,
        budget: ContextBudget<'_>,
    ) -> Option<CompactionChanges>;
}
