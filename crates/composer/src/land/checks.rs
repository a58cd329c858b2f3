//! The checks that a merged tree must pass before the branch moves.

use base::AbsPath;
use git::Repository;
use git::merge::{ObjectId, TreePath};
use host::Files;

use super::LandingError;
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
    /// The tree of the branch, without the changes.
    pub(crate) onto_tree: ObjectId,
    pub(crate) repository: &'a Repository,
    pub(crate) files: &'a dyn Files,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Check {
    /// The command that was run, such as `cargo test`, or the task, such as `task:test`.
    pub name: String,
    /// Whether the check passed.
    pub is_passed: bool,
    /// The output of a command that failed; a clause about the new errors, or about why nothing is known of them; for a
    /// task, a line with a clause about its problems, then its output.
    pub detail: String,
    /// The kind of the check.
    #[serde(default)]
    pub kind: CheckKind,
}

/// The kind of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CheckKind {
    /// A command that the user configured.
    #[default]
    Command,
    /// A task of the project that the user configured.
    Task,
    /// The check for errors that language servers find; `NewErrors::Allowed` skips it.
    NewErrors,
}

/// The treatment of errors that language servers find in changed files, if the settings have landings checked for
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewErrors {
    /// New errors fail the check, and so do missing reports.
    Refused,
    /// The user confirmed that the work lands without this check.
    Allowed,
}

/// The reason why checks gave no result, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(pub String);

/// Runs checks on merged trees. The implementation provides the sandbox and a folder to run in.
pub trait CheckRunner {
    /// Returns whether there are no checks to run. In this case, the merged tree need not be
    /// written to a folder.
    fn is_empty(&self) -> bool {
        false
    }

    /// Runs all checks on a merged tree and waits for them. A failed check is a result. An error
    /// means that the checks did not yield a result.
    fn run_checks(&self, candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError>;

    /// Takes the problems of the environment in which the checks have run so far, as sentences for
    /// the user. They change no result.
    fn take_notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The checks that the user configured for a repository.
pub trait CheckSource: Send + Sync {
    /// Reads the present checks. Blocks on the disk.
    fn load(&self, new_errors: NewErrors) -> Result<Box<dyn CheckRunner + Send>, CheckError>;
}

/// Runs no checks at all.
pub struct NoChecks;

impl CheckRunner for NoChecks {
    fn is_empty(&self) -> bool {
        true
    }

    fn run_checks(&self, _candidate: &LandingCandidate<'_>) -> Result<Vec<Check>, CheckError> {
        Ok(Vec::new())
    }
}

impl LandingCandidate<'_> {
    /// Writes the files of the merged tree into a folder, which must be empty.
    pub fn write_to(&self, folder: &AbsPath) -> Result<(), LandingError> {
        Ok(self.repository.export(self.tree, folder, self.files)?)
    }

    /// Writes the files of the branch, without the changes, into a folder, which must be empty.
    pub fn write_branch_to(&self, folder: &AbsPath) -> Result<(), LandingError> {
        Ok(self.repository.export(self.onto_tree, folder, self.files)?)
    }
}
