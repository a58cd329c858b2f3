//! What knows beforehand in which files a pattern cannot match.
//!
//! Invariant: a search with a sieve finds what the same search finds without it, whatever happened to the files
//! before it began. What is written meanwhile either may see or miss.

use base::AbsPath;

use super::SearchQuery;
use crate::walk::Hidden;

/// Knows the files of some folder, and something of what they hold.
pub trait Sieve: Send + Sync {
    /// The files below `wanted.root` as they are now. `None` where it can tell nothing.
    fn sift(&self, wanted: &Wanted<'_>) -> Option<Sift>;
}

/// What a search is about to look for.
pub struct Wanted<'a> {
    /// The folder.
    pub root: &'a AbsPath,
    /// What is looked for. Globs are the search's own business.
    pub query: &'a SearchQuery,
    /// The walk whose files would be asked for: `Some` where ignore rules hold, and names that start with a dot count
    /// or not. `None` where the search walks anyway.
    pub walk: Option<Hidden>,
}

/// What a sieve can tell.
pub enum Sift {
    /// These are exactly the files that the wanted walk would visit: no need for it.
    Whole(Box<dyn Sifted>),
    /// It knows of these files; there may be others, and some of these may be gone or not wanted.
    Part(Box<dyn Sifted>),
}

/// Files, by number, that a pattern may match in or not.
pub trait Sifted: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// Where one is.
    fn path(&self, ix: usize) -> AbsPath;
    /// The number of a file.
    fn position(&self, path: &AbsPath) -> Option<usize>;
    /// Whether the file may hold a match, as it is on the disk now or was at any time since the search began. False
    /// only when it is sure.
    fn may_match(&self, ix: usize) -> bool;
}
