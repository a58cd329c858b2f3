//! Applies a planned patch set to the files below a root folder: all of it, or none.
//!
//! Knows: `base`, `text`, `patch`, `host`. Must not know: formats of edits, models, sessions,
//! permissions.
//! Invariant: no path leads outside the root, neither through `..` nor through symlinks. Symlinks
//! that other programs create between the check and the write are out of scope, unless `Files`
//! follows none below the root (`Files::open_beneath`).
//! Invariant: only `commit` writes.
//! Start at `EditRoot::new`: an `EditRoot` supplies the texts that `patch::set::plan_set` reads,
//! `changes` turns the plan into bytes, and `commit` writes them.

#![warn(missing_docs)]

mod commit;
mod edit_root;
mod error;

pub use commit::commit;
pub use edit_root::{CommitAction, EditRoot, OriginalFile, PlannedChange, follow_links};
pub use error::Error;
