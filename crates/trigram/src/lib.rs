//! The trigram prefilter: rules out files before a text search reads them.
//!
//! For each file of a folder it stores the trigrams that the file contains. `plan` derives a
//! condition on trigrams from a pattern, and a search skips the files that do not satisfy it.
//! Trigrams are stored in segments (`segment`), the list of files in one `FileTable`; both are also
//! kept on disk (`catalog`).
//!
//! Knows: `project`, `text`, `host`. Must not know: the semantic index, agents, windows.
//! Invariant: correctness does not depend on change reports. Each search checks that the folders,
//! and every file that the plan would skip, are unchanged since they were read, or asks the kernel
//! (`freshness`); changed ones are listed or read again. `touch` and `refresh` only make searches
//! faster.
//! Invariant: anything in its store may be lost or damaged; it is then rebuilt.
//! Start at `Trigrams`.

mod catalog;
mod file_set;
mod file_table;
mod freshness;
mod gram;
mod listing;
mod maintenance;
mod plan;
mod prefilter;
mod read_files;
mod segment;
mod state;
mod trigrams;
mod updater;
mod version_check;

pub use maintenance::Refreshed;
pub use state::TrigramError;
pub use trigrams::{TrigramStats, Trigrams};
pub use updater::TrigramUpdater;

#[cfg(test)]
mod tests;
