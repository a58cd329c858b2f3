//! What a merged tree has to pass before the branch moves.

use base::AbsPath;
use git::Repository;
use git::merge::{ObjectId, TreePath};
use host::Files;

use super::Error;
use crate::work::CommitId;

/// A merged tree that may land.
pub struct Candidate<'a> {
    /// The checkout of the person's repository.
    pub hub: &'a AbsPath,
    /// A commit of the merged tree. It is on no branch and only there to be checked out.
    pub commit: CommitId,
    /// What the landing changes on the branch.
    pub changed: Vec<TreePath>,
    pub(crate) tree: ObjectId,
    pub(crate) repository: &'a Repository,
    pub(crate) files: &'a dyn Files,
}

/// How one check went.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Check {
    /// What was run: `cargo test`.
    pub name: String,
    /// Whether it is content.
    pub is_passed: bool,
    /// What there is to read when it is not.
    pub detail: String,
}

/// Runs checks. Whoever implements it brings the sandbox and a place to run in.
pub trait Checks {
    /// Checks a merged tree; an error is a sentence and means that nothing could be found out.
    fn check(&self, candidate: &Candidate<'_>) -> Result<Vec<Check>, String>;
}

/// No checks at all.
pub struct Unchecked;

impl Checks for Unchecked {
    fn check(&self, _candidate: &Candidate<'_>) -> Result<Vec<Check>, String> {
        Ok(Vec::new())
    }
}

impl Candidate<'_> {
    /// Writes the merged tree's files into an empty folder.
    pub fn write_to(&self, folder: &AbsPath) -> Result<(), Error> {
        Ok(self.repository.export(self.tree, folder, self.files)?)
    }
}
