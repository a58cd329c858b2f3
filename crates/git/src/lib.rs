//! What git knows about files: head texts, status, branch, history, differences.
//!
//! Knows: `base`, `text` for differences, `host` for files, libgit2. Must not know: buffers, how a status is coloured, when to ask again.
//! Invariant: nothing here runs a hook, a filter program, a file-system monitor or any other process;
//! everything is done in process by libgit2, which has no way to start one for these calls.
//! Invariant: nothing here writes to the user's checkout or to its git folder, but for `land` and `lease`, see there;
//! `merge` adds objects.
//! Start at `Repository::discover`.

mod base_tree;
mod begin;
mod checked_out;
mod history;
pub mod land;
pub mod lease;
pub mod merge;
mod repository;
mod status;
mod tracked;

pub use base_tree::{BaseTree, IndexStat, TreeFile, blob_id};
pub use begin::begin;
pub use checked_out::checked_out;
pub use history::{Blamed, Commit, Compared};
pub use repository::{Branch, Error, Repository};
pub use status::{FileStatus, Statuses};
pub use tracked::Tracked;
