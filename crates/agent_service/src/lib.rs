//! The border between views and the agent engines: starts, opens and lists sessions.
//!
//! Its values can be serialized, so that the engines may run in another process.
//! Knows: the records and events of `agent`, the board of `composer`. Must not know: how a session
//! runs, how anything is shown.
//! Start at `AgentService`.

#![warn(missing_docs)]

pub mod board;

mod model_traits;
mod service;
mod token_text;

pub use agent::access::{
    AccessChange, CommandGrant, FolderAccess, GuideAccess, HookAccess, HookFileAccess, HookResult,
    KeptRule, RuleList, RuleOrigin, SandboxAccess, ServerAccess, ServerDecision, ServerTool,
};
pub use agent::command_feed::{
    AgentCommand, AgentCommandId, CommandControl, CommandFeedEvent, CommandInput,
};
pub use agent::context::{NamedContext, OpenFiles, ShownProblems};
pub use agent::drafts::{Draft, KeptPrompts};
pub use agent::prompt_sources::{ServerContent, ServerContentKind};
pub use agent::record::{AgentOption, TurnEnd};
pub use agent::session::{RunningSession, SessionActivity, SessionChange, SessionChangeKind};
pub use agent::spending::{SpendLine, SpendNotice, Spending};
pub use agent::store::SessionMark;
pub use agent::trust::{FolderTrust, PendingHooks, PendingMcpServer};
pub use automation::{
    AutomationChange, AutomationEntry, AutomationState, OccurrenceEntry, OccurrenceState, RunLink,
    local_time,
};
pub use composer::folder_review::{FolderAction, FolderChanges, UndoOutcome};
pub use model_traits::{ModelTraits, effort_name};
pub use quality::report::{
    AlertLine, ExperimentLine, KeptLine, OutcomeLine, QualityReport, SatisfactionLine,
};
pub use quality::{AlarmExample, AlarmRecord};
pub use service::{
    AgentService, CommandConnection, Consent, Error, ExternalAgentEntry, FolderState, ModelEntry,
    ModelList, NewSession, SessionAgent, SessionConnection, SessionEntry, SessionStatus,
    SignInStep, StoredChange, ToolAlarm,
};
pub use token_text::token_text;
