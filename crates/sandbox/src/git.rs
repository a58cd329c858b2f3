//! Repositories as they lie on the disk: where their git folders are, and which programs Git runs by itself.
//!
//! Knows: Git's files. Must not know: how anything is protected. Git itself is never asked.
//! Invariant: nothing is run, and no file is opened that is not a regular one.
//! Start at `Repository::of` for folders and at `Programs::of` for programs.

mod config;
mod programs;
mod repository;

pub use programs::Programs;
pub(crate) use programs::Role;
pub(crate) use repository::Repository;
