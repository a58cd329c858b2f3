//! The checks that a merged tree must pass before the branch moves.

use base::AbsPath;
use git::Repository;
use git::merge::{ObjectId, TreePath};
use host::Files;

use super::Error;
use crate::work::CommitId;

/// A merged tree to be checked.
pub struct LandingCandidate<'a> {
    /// The checkout of the main repository.
    pub main_repo: &'a AbsPath,
    /// A commit of the merged tree. It is on no branch and exists only for checking it out.
    pub commit: CommitId,
    /// The paths that the landing changes on the branch.
    pub changed: Vec<TreePath>,
    pub(crate) tree: ObjectId,
    pub(crate) repository: &'a Repository,
    pub(crate) files: &'a dyn Files,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Check {
    /// The command that was run: `cargo test`.
    pub name: String,
    /// Whether the check passed.
    pub is_passed: bool,
    /// The output of a failed check.
    pub detail: String,
}

/// Runs checks. The implementation provides the sandbox and a folder to run in.
pub trait CheckRunner {
    /// Checks a merged tree; an error is a sentence and means that the checks gave no result.
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, String>;
}

/// Runs no checks at all.
pub struct NoChecks;

impl CheckRunner for NoChecks {
    fn run_checks(&self, _candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, String> {
        Ok(Vec::new())
    }
}

impl LandingCandidate<'_> {
    /// Writes the files of the merged tree into an empty folder.
    pub fn write_to(&self, folder: &AbsPath) -> Result<(), Error> {
        Ok(self.repository.export(self.tree, folder, self.files)?)
    }
}
