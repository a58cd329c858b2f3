//! What git knows about the files on the screen: head texts, status, branch.
//!
//! Knows: `base`, libgit2. Must not know: buffers, how a status is coloured, when to ask again.
//! Invariant: nothing here runs a hook, a filter program, a file-system monitor or any other process;
//! everything is done in process by libgit2, which has no way to start one for these calls.
//! Invariant: nothing here writes to the user's checkout or to its git folder.
//! Start at `Repository::discover`.

mod repository;
mod status;

pub use repository::{Branch, Error, Repository};
pub use status::{FileStatus, Statuses};
