//! One agent's session: turns, tools, approvals, transcript, compaction.
//!
//! Knows: `base`, `model`, `patch`, `host`, `router`, `ledger`, `git`, `project`, `syntax`. Must not know: windows,
//! other sessions, how anything is drawn.
//! Invariant: every effect is a record in the ledger before it is an effect (`record`).
//! Invariant: every call of a tool ends in a typed outcome and has exactly one result in the transcript.
//! Invariant: a session works below one root folder.
//! Start at `session`: a `Command` goes in, an `Event` comes out. A tool is a `Tool`; what it answers is an
//! `Answer` with an `Outcome`.

#![warn(missing_docs)]

pub mod arguments;
pub mod ask;
pub mod compact;
pub mod confine;
pub mod context;
pub mod engine;
mod globs;
pub mod ground;
pub mod handover;
pub mod hooks;
pub mod house;
pub mod leave;
pub mod locks;
pub mod loops;
pub mod outcome;
pub mod parts;
pub mod picture;
pub mod purse;
pub mod record;
pub mod reduce;
pub mod rules;
mod screen;
pub mod session;
pub mod sources;
pub mod spawn;
pub mod stats;
pub mod store;
pub mod tool;
pub mod tools;
pub mod transcript;
pub mod whole;

pub use outcome::{Detail, Outcome};
pub use record::{Record, Stored};
pub use session::{Command, Event};
pub use tool::{Access, Answer, Call, Scope, Tool, ToolClass, ToolContext};
