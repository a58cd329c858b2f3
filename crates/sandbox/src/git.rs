//! Git repositories on disk: the location of their git folders, and the programs that Git runs on
//! its own.
//!
//! Knows: Git's files. Must not know: how anything is protected. Git itself is never run.
//! Invariant: nothing is executed, and only regular files are opened.
//! Start at `RepositoryPaths::of` for folders and at `GitPrograms::of` for programs.

mod config;
mod programs;
mod repository;

pub use programs::GitPrograms;
pub(crate) use programs::ProgramRole;
pub(crate) use repository::RepositoryPaths;
