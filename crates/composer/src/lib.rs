//! Orchestration of many agent sessions: their changes, conflict forecasts, reviews and landings.
//!
//! Knows: `agent`, `git`, `worktree`, `ledger`. Must not know: windows, models, how anything is
//! drawn.
//! Invariant: sessions share the router and nothing else; each works below its own root.
//! Invariant: a change in a working tree has an author (`authored`), and can be undone without
//! affecting changes of others (`checkpoint`).
//! Start at `BoardCommand`, which goes into the board of `board`, and `BoardEvent`, which comes out of it.

pub mod board;
pub mod change_history;
pub mod checkpoint;
pub mod compare;
pub mod forecast;
pub mod graph;
pub mod land;
mod markers;
pub mod review;
pub mod roles;
pub mod view;
mod work;

pub use work::{CommitId, SessionWork};
