//! One agent's session: turns, tools, permissions, transcript, compaction.
//!
//! Knows: `base`, `model`, `patch`, `host`, `router`, `ledger`, `git`, `project`, `syntax`. Must
//! not know: windows, other sessions, how anything is drawn.
//! Invariant: every effect is recorded in the ledger before it takes place (`record`).
//! Invariant: every tool call ends with a typed outcome and has exactly one result in the
//! transcript.
//! Invariant: a session works below one root folder.
//! Start at `SessionCommand`, which goes into a session, and `AgentEvent`, which comes out of it. A tool
//! implements `Tool` and returns a `ToolResult` with a `CallOutcome`.

#![warn(missing_docs)]

pub mod arguments;
pub mod budget;
pub mod compact;
pub mod context;
pub mod edit_root;
pub mod engine;
mod globs;
pub mod handover;
pub mod hooks;
pub mod images;
pub mod locks;
pub mod loops;
pub mod outcome;
pub mod outputs;
pub mod permission;
pub mod record;
pub mod reduce;
pub mod rules;
pub mod sandbox;
pub mod services;
pub mod session;
pub mod spawn;
pub mod stats;
pub mod store;
pub mod stored_parts;
mod terminal_text;
pub mod tool;
pub mod tools;
pub mod transcript;
pub mod trust;
pub mod user_prompts;

pub use outcome::{CallOutcome, Detail};
pub use record::{SessionRecord, Stored};
pub use session::{AgentEvent, SessionCommand};
pub use tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};
