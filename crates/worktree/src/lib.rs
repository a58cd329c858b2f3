//! Worktrees leased to agents: ready in milliseconds, one owner each, never lost.
//!
//! Knows: `base`, `git`, `host`, mounts and clones of the system. Must not know: sessions, models,
//! how a lease is shown.
//!
//! The *main repository* is the user's checkout. A *base* is a read-only checkout of one of its
//! commits; a *lease* is a tree over a base, with its own git folder that borrows the main
//! repository's objects.
//! Invariant: leasing does not write the main repository's checkout, branches, config or hooks;
//! only `Lease::export_changes` writes files of the checkout.
//! Invariant: the contents of a lease are untrusted: its symlinks are not followed, its data is
//! verified, its programs are not run.
//! Invariant: killed at any moment, a lease either does not exist or is found by `WorktreePool::list`; its
//! work is not lost.
//! Start at `WorktreePool::open`, then `WorktreePool::lease`.

#![expect(
    clippy::disallowed_methods,
    reason = "worktrees are made of folders by the thousand, of mounts, clones, hard links and names taken \
              relative to open folders; `host::Files` has none of these"
)]

mod archive;
mod backend;
mod base_tree;
mod clone;
mod dir_tree;
mod error;
mod fill;
mod fsmonitor;
mod gc;
mod git_dir;
mod hidden_refs;
mod json_file;
mod lease;
mod list;
mod mount;
mod mounts;
mod open_beneath;
mod owner;
mod pool;
mod ports;
mod probe;
mod record;
mod release;
mod settings;
mod share;
mod sweep;
mod system;
mod transfer;
mod volume;
mod warm_index;

pub use backend::{BackendSupport, TreeBackend};
pub use base_tree::BaseCheckout;
pub use error::Error;
pub use fsmonitor::answer_fsmonitor_query;
pub use gc::GcReport;
pub use lease::{Lease, LeaseId};
pub use list::{LeaseMerge, LeaseStatus, LeaseWork, PoolListing};
pub use mount::{MountPrivilege, current_privilege, enter_namespace};
pub use owner::Owner;
pub use pool::{LeaseRequest, WorktreePool};
pub use release::Discard;
pub use settings::PoolSettings;
pub use share::{ShareMethod, SharedPath};

pub use git::lease::ArchivedCommit;
