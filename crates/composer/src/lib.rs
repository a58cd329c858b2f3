//! Many sessions at once: their changes, forecasts, reviews and landings.
//!
//! Knows: `agent`, `git`, `worktree`, `ledger`. Must not know: windows, models, how anything is drawn.
//! Invariant: sessions share the router and nothing else; each works below a root of its own.
//! Invariant: a change in a working tree has an author (`authored`), and can be taken back without touching what
//! others changed (`checkpoint`).
//! Start at `board`: a `Command` goes in, an `Event` comes out.

pub mod authored;
pub mod best;
pub mod board;
pub mod checkpoint;
pub mod desk;
pub mod forecast;
pub mod graph;
pub mod land;
mod markers;
pub mod review;
pub mod roles;
mod work;

pub use work::{CommitId, Work};
