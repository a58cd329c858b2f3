//! Git access for the editor and for agents: committed content, status, branches, history, diffs,
//! merges.
//!
//! Knows: `base`, `text` for diffs, `host` for files, libgit2. Must not know: buffers, how a status
//! is coloured, when to refresh.
//! Invariant: nothing here runs a hook, a filter program, a file-system monitor or any other
//! process; libgit2 does everything in process and cannot start one for these calls.
//! Invariant: nothing here writes to the user's checkout or git folder, except for `land` and
//! `lease`, which say what they write; `merge` adds objects.
//! Start at `Repository::discover`.

mod base_tree;
mod checked_out;
mod history;
mod init;
pub mod land;
pub mod lease;
pub mod merge;
mod repository;
mod status;
mod tips;
mod tracked;

pub use base_tree::{BaseTree, IndexStat, TreeFile, blob_id};
pub use checked_out::checked_out;
pub use history::{BlameHunk, Commit, CompareTarget};
pub use init::init_repository;
pub use repository::{Branch, Error, Repository};
pub use status::{FileStatus, Statuses};
pub use tips::BranchTip;
pub use tracked::TrackedFile;
