//! What landing needs of git: an agent's tree read without trust, commits, a branch moved under its lock, and what
//! the person's checkout becomes.
//!
//! Invariant: nothing of a session's git folder is believed. Its files are read as bytes, no link is followed on the
//! way, and settings and attributes decide about line endings only; objects, references, hooks, filters and
//! settings of that folder are not used at all, but for the names in its index.
//! Invariant: a branch moves by taking git's own lock on it and looking that it still is where it was expected. No
//! hook is run, neither of the hub nor of a session.
//! Start at `Repository::scan` for the way in and `Repository::move_branch` for the way out.

mod branch;
mod checkout;
mod commit;
pub(crate) mod eol;
mod export;
mod leavings;
mod scan;
mod unsaved;

pub use branch::{Branching, Head, LOCK_MARK, Moved};
pub use checkout::{Change, Obstacle, Plan};
pub use commit::{Person, Sealed};
pub use scan::{Limits, Place, Refused, Scanned};
