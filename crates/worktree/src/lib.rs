//! Worktrees that are leased to agents: ready in milliseconds, owned by one, never lost.
//!
//! Knows: `base`, `git`, `host`, the kernel's mounts. Must not know: sessions, models, how a lease is shown.
//!
//! A *hub* is the person's checkout. A *base* is a checkout of one of its commits that is never written again; a
//! *lease* is a tree over a base, with a git folder of its own that borrows the hub's objects.
//! Invariant: the hub's checkout, branches, config and hooks are not written by leasing; `Lease::carry_out` writes
//! files of the checkout when asked to.
//! Invariant: what lies in a lease is an agent's: it is never followed by links, never believed, never run.
//! Invariant: killed at any moment, there is no lease, or one that `Pool::list` finds; work in it is not lost.
//! Start at `Pool::open`, then `Pool::lease`.

#![expect(
    clippy::disallowed_methods,
    reason = "worktrees are made of folders by the thousand, of mounts, clones, hard links and names taken \
              relative to open folders; `host::Files` has none of these"
)]

mod archive;
mod base_tree;
mod beneath;
mod carry;
mod error;
mod fill;
mod gc;
mod git_dir;
mod hidden;
mod inside;
mod lease;
mod list;
mod monitor;
mod mount;
mod mounts;
mod owner;
mod pool;
mod ports;
mod record;
mod release;
mod rung;
mod settings;
mod setup;
mod share;
mod sweep;
mod warm_index;

pub use base_tree::Base;
pub use error::Error;
pub use gc::Cleared;
pub use inside::{Standing, enter, standing};
pub use lease::{Lease, LeaseId};
pub use list::{Listing, Merged, Shown, Work};
pub use monitor::answer_git;
pub use owner::Owner;
pub use pool::{Pool, Wanted};
pub use release::Discard;
pub use rung::{Ladder, Rung};
pub use settings::Settings;
pub use setup::{Ran, Runner, SetUp};
pub use share::{Shared, Way};

pub use git::lease::Archived;
