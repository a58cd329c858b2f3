//! Rules out files in which a pattern cannot match, without reading them.
//!
//! Invariant: a search with a prefilter has the same results as one without it, regardless of changes
//! to files before its start. Changes during the search may be missed by either.

use base::AbsPath;

use super::SearchQuery;
use crate::walk::HiddenFiles;

/// An index of the files in a folder that can rule out some of them without reading. The crate
/// `trigram` implements it.
pub trait Prefilter: Send + Sync {
    /// Returns the current files below `wanted.root` and which of them may match; `None` if the
    /// index does not know, so that the search walks and reads everything. May block on the disk.
    fn candidates(&self, wanted: &PrefilterQuery<'_>) -> Option<PrefilterResult>;
}

/// The search for which files are requested.
pub struct PrefilterQuery<'a> {
    /// Root folder of the search.
    pub root: &'a AbsPath,
    /// Query of the search. Its globs are applied by the search itself.
    pub query: &'a SearchQuery,
    /// The walk that the result would replace: `Some` if ignore rules apply, with the treatment of
    /// dot files. `None` if the search walks anyway.
    pub walk: Option<HiddenFiles>,
}

/// The files known to a prefilter.
pub enum PrefilterResult {
    /// Exactly the files that the walk would visit, so that it can be skipped.
    Complete(Box<dyn CandidateFiles>),
    /// Some files; others may exist, and some of these may be gone or excluded.
    Partial(Box<dyn CandidateFiles>),
}

/// An indexed list of files that may match a pattern.
pub trait CandidateFiles: Send + Sync {
    /// Returns the number of files.
    fn count(&self) -> usize;
    /// Returns the path of the file with index `ix`, which is below `count`.
    fn path(&self, ix: usize) -> AbsPath;
    /// Returns the index of a file; `None` if it is not in the list.
    fn position(&self, path: &AbsPath) -> Option<usize>;
    /// Returns whether the file may contain a match, now or at any time since the start of the
    /// search. False only if it certainly does not.
    fn may_match(&self, ix: usize) -> bool;
}
