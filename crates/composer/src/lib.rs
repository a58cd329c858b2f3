//! Orchestration of many agent sessions: their worktrees and changes, conflict forecasts, reviews
//! and landings.
//!
//! Knows: `agent`, `git`, `worktree`, `ledger`. Must not know: windows, command lines, models, how
//! anything is drawn, how a session is assembled.
//! Invariant: sessions share the router and nothing else; each works below its own root.
//! Invariant: a change in a working tree has an author (`change_history`), and can be undone
//! without affecting changes of others (`checkpoint`).
//! Invariant: in the user's own folder, sessions' changes are reviewed and taken back the same way
//! (`folder_review`).
//! Start at `ComposerHandle`: a `Command` goes in, an `Event` comes out. `board` is the scheduler,
//! which the command line uses by itself.

pub mod board;
pub mod change_history;
pub mod checkpoint;
pub mod compare;
pub mod conflict;
pub mod decisions;
mod error;
pub mod folder_review;
pub mod forecast;
pub mod graph;
pub mod job;
pub mod job_review;
pub mod land;
pub mod landing;
mod markers;
mod protocol;
pub mod retention_recorder;
pub mod review;
pub mod roles;
pub mod service;
mod symbols;
pub mod tasks;
pub mod view;
mod work;
pub mod worktrees;

pub use error::{Error, UndoConflict};
pub use protocol::{Command, Event, JobCommand, StartAgents};
pub use work::{CommitId, SessionChanges, SessionWork, UnsavedBuffers};
