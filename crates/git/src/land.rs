//! Git operations for landing an agent's work: reading its worktree as untrusted input, creating
//! commits, moving a branch under its lock, and updating the user's checkout.
//!
//! Invariant: a session's git folder is untrusted. Its files are read as bytes without following
//! symlinks, and its settings and attributes affect line endings only. Objects, refs, hooks,
//! filters and settings of that folder are never used, except for the paths in its index.
//! Invariant: a branch moves only under git's own lock on it, after checking that it still points
//! to the expected commit. No hook runs, neither the user's nor the session's.
//! Start at `Repository::scan` for reading a worktree and `Repository::move_branch` for publishing
//! the result.

mod branch;
mod checkout;
mod commit;
pub(crate) mod eol;
mod export;
mod scan;
mod spelling;
mod stale_locks;
mod unsaved;
mod unusable_file;

pub use branch::{BranchMove, Head, LOCK_MARK, MoveOutcome};
pub use checkout::{CheckoutChange, CheckoutPlan, Obstacle};
pub use commit::{CommitSpec, Signature};
pub use scan::{RefusedPath, ScanLimits, ScanTarget, WorktreeChanges};
