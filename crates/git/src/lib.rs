//! Git access for the editor and for agents: committed content, status, branches, history, diffs,
//! staging, merges.
//!
//! Knows: `base`, `text` for diffs, `host` for files, libgit2. Must not know: buffers, how a status
//! is coloured, when to refresh.
//! Invariant: nothing here runs a hook, a filter program, a file-system monitor or any other
//! process; libgit2 does everything in process and cannot start one for these calls. Work that
//! needs the git program is refused with the feature that needs it, see `capabilities`.
//! Invariant: nothing here writes to the user's checkout or git folder, except for `conflict`,
//! `land` and `lease`, which say what they write, and for `staging`, which adds blobs and replaces the index
//! under git's lock; `merge` adds objects.
//! Start at `Repository::discover`; a changes panel starts at `Repository::changes`.

mod attributes;
mod base_tree;
mod capabilities;
pub mod changes;
mod checked_out;
mod clean;
pub mod conflict;
mod contents;
pub mod diff;
mod history;
mod index_file;
mod init;
mod kept;
pub mod land;
pub mod lease;
mod lines;
pub mod merge;
mod references;
mod remotes;
mod repository;
pub mod staging;
mod status;
mod tips;
mod tracked;

pub use base_tree::{BaseTree, IndexStat, TreeFile, blob_id};
pub use capabilities::{Capabilities, GitFeature, GitTask, common_dir_of, git_dir_of};
pub use checked_out::checked_out;
pub use history::{BlameHunk, Commit, CompareTarget};
pub use init::{create_repository, init_repository};
pub use kept::KeptRepository;
pub use references::{BranchSummary, ReflogEntry, StashEntry, WorktreeSummary};
pub use repository::{Branch, Error, Repository};
pub use status::{FileStatus, Statuses};
pub use tips::BranchTip;
pub use tracked::TrackedFile;
