//! An open folder: its tree and files, search, documents, save and the recovery journal.
//!
//! Knows: `text`, `syntax`, `settings`, `caret`, `host`, `git`. Must not know: windows, how anything is drawn.
//! Invariant: nothing here touches the disk but through `host` and ripgrep's libraries.
//! Start at `Tree`, `search` and `fuzzy::rank` for the folder.

pub mod fuzzy;
pub mod search;
mod tree;
mod walk;

pub use tree::{ListJob, Listed, Tree, TreeEntry, TreeRow};
pub use walk::{BadGlob, Ground, Hidden, Ignored, WalkOptions, WalkProblem, file_list, walk};
