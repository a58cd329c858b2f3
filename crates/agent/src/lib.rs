//! One agent's session: turns, tools, permissions, transcript, compaction.
//!
//! Knows: `base`, `model`, `patch`, `patch_apply`, `reduce`, `host`, `router`, `ledger`, `git`,
//! `project`, `quality`, `syntax`, and of `sandbox` the check of addresses. Must not know: windows,
//! other sessions, how anything is drawn.
//! Invariant: every effect is recorded in the ledger before it takes place (`record`).
//! Invariant: every tool call ends with a typed outcome and has exactly one result in the
//! transcript.
//! Invariant: a session works below one root folder.
//! Start at `SessionCommand`, which goes into a session, and `AgentEvent`, which comes out of it. A
//! tool implements `Tool` and returns a `ToolResult` with a `CallOutcome`; a `CallObserver` runs
//! around each call.

#![warn(missing_docs)]

pub mod access;
pub mod arguments;
pub mod base64_text;
pub mod budget;
mod call_observer;
pub mod change_origin;
pub mod command_feed;
pub mod comments;
pub mod compact;
pub mod context;
pub mod drafts;
pub mod engine;
mod error;
mod excerpt;
pub mod export;
pub mod fill;
mod globs;
pub mod handover;
pub mod hooks;
pub mod images;
pub mod language;
pub mod locks;
pub mod loops;
pub mod outcome;
pub mod outputs;
pub mod permission;
pub mod prompt_sources;
pub mod queue;
pub mod record;
pub mod rules;
pub mod sandbox;
pub mod services;
pub mod session;
pub mod spawn;
pub mod spending;
pub mod stats;
pub mod store;
pub mod stored_parts;
mod summary_memory;
pub mod tool;
pub mod tool_health;
pub mod tool_names;
pub mod tools;
pub mod transcript;
pub mod trust;
pub mod user_prompts;

pub use call_observer::{CallObserver, ObservedCall, PossibleChanges};
pub use error::{Error, RuleDefect, SkillDefect};
pub use outcome::{CallOutcome, Detail};
pub use record::{SessionRecord, Stored};
pub use session::{AgentEvent, SessionCommand};
pub use tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};
