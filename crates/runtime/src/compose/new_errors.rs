//! The check that merged work adds no errors: language servers report on the changed files of the merged tree and, if
//! they find errors, on those of the branch.
//!
//! Servers run as those of an agent's tree do: in a sandbox, and only if the user trusts the repository.
//! Invariant: an incomplete report of a server, or a file that cannot be read, fails the check.
//! Limits: files that no installed server serves in either tree, files that are not text, and files that the work does
//! not change are not checked. The settings of a server within the work count, so work can also turn its errors off.
//! Folders outside of Git, such as installed packages, are missing in both trees.
//! Start at `NewErrorsCheck::run`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, count_of};
use composer::land::{Check, CheckError, CheckKind, LandingCandidate};
use host::{Dirs, Files as _, FolderTree, RealClock, RealFiles, TreeEntry, TreeKind};
use language::{CheckReport, CheckRequest, CheckSeverity, FolderServers, ProgramCache};

use super::checks::check_error;
use crate::agent_language::{AgentTree, TreeSandbox};
use crate::sandbox_policy::{self, Confinement, SessionRoot};
use crate::trust;

/// Name of the check in commits.
const NAME: &str = "no new errors";
/// Maximum time until the first report about a tree, and between two reports.
const REPORT_TIME: Duration = Duration::from_secs(180);
/// Maximum number of errors in the sentence about a failure.
const MAX_LISTED: usize = 10;
/// Maximum length of an error in that sentence, in bytes.
const MAX_MESSAGE: usize = 200;

/// The check of one candidate.
pub(super) struct NewErrorsCheck<'a> {
    dirs: &'a Dirs,
    candidate: &'a LandingCandidate<'a>,
    /// A folder for copies of trees.
    scratch: &'a AbsPath,
    /// Time for the reports about one tree.
    time: Duration,
    /// Problems of the sandboxes of its servers.
    notices: RefCell<Vec<String>>,
}

/// An error in a file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeError {
    /// Relative to the root.
    path: String,
    /// Counted from 1.
    line: u32,
    message: String,
}

/// A tree with its servers.
struct ServedTree {
    folder: AbsPath,
    is_trusted: bool,
    servers: FolderServers,
    programs: ProgramCache,
}

/// The reason for which errors cannot be compared.
enum ReportError {
    /// A server gave no complete report, for this reason.
    Unreported(String),
    /// A tree could not be written.
    Failed(CheckError),
}

impl From<CheckError> for ReportError {
    fn from(error: CheckError) -> Self {
        Self::Failed(error)
    }
}

impl<'a> NewErrorsCheck<'a> {
    /// Creates the check. `scratch` is a real path without links, to a folder in which it may write.
    pub(super) fn new(
        dirs: &'a Dirs,
        candidate: &'a LandingCandidate<'a>,
        scratch: &'a AbsPath,
    ) -> Self {
        Self {
            dirs,
            candidate,
            scratch,
            time: REPORT_TIME,
            notices: RefCell::default(),
        }
    }

    /// Returns the problems of the sandboxes in which servers ran, as sentences for the user.
    pub(super) fn into_notices(self) -> Vec<String> {
        self.notices.into_inner()
    }

    /// Compares the errors of the merged tree in the folder `merged` with those of the branch; `None` if no server serves
    /// a changed file. Without complete reports, the check fails. Blocks on the servers.
    pub(super) fn run(&self, merged: &AbsPath) -> Result<Option<Check>, CheckError> {
        match self.compare(merged) {
            Ok(check) => Ok(check),
            Err(ReportError::Unreported(reason)) => Ok(Some(unchecked(&reason))),
            Err(ReportError::Failed(error)) => Err(error),
        }
    }

    fn compare(&self, merged: &AbsPath) -> Result<Option<Check>, ReportError> {
        let mut after = self.open(merged);
        self.ensure_names(&mut after)?;
        let files = self.changed_files(merged)?;
        let (served, unserved): (Vec<String>, Vec<String>) =
            files.iter().cloned().partition(|path| after.serves(path));
        let mut branch = None;
        if !unserved.is_empty() {
            let tree = branch.insert(self.open_branch()?);
            // A removed root marker must not hide the errors of the files below it.
            if let Some(path) = unserved.iter().find(|path| tree.serves(path)) {
                let reason = format!("no server serves {path} any more");
                return Err(ReportError::Unreported(reason));
            }
        }
        if served.is_empty() {
            return Ok(None);
        }
        let errors = self.errors(&after, &served)?;
        if errors.is_empty() {
            return Ok(Some(result(&[])));
        }
        let mut branch = match branch {
            Some(branch) => branch,
            None => self.open_branch()?,
        };
        let earlier = self.changed_files(&branch.folder)?;
        let served = earlier.iter().filter(|path| branch.serves(path));
        let served: Vec<String> = served.cloned().collect();
        let before = self.errors(&branch, &served)?;
        let is_in_both = |path: &str| files.contains(path) && earlier.contains(path);
        let new = new_errors(&before, &errors, is_in_both);
        Ok(Some(result(&new)))
    }

    /// Fails if a server serves a changed file whose name cannot be passed to it.
    fn ensure_names(&self, tree: &mut ServedTree) -> Result<(), ReportError> {
        let mut changed = self.candidate.changed.iter();
        let unnamed = changed.find(|path| {
            let is_named = std::str::from_utf8(path.as_bytes()).is_ok();
            !is_named && tree.serves(&path.to_string())
        });
        unnamed.map_or(Ok(()), |path| {
            let reason = format!("the name of {path} is not UTF-8");
            Err(ReportError::Unreported(reason))
        })
    }

    /// Returns the changed files that exist in the tree in `folder`.
    fn changed_files(&self, folder: &AbsPath) -> Result<BTreeSet<String>, CheckError> {
        let tree = FolderTree::open(folder).map_err(check_error)?;
        let mut files = BTreeSet::new();
        for path in self.candidate.changed.iter().map(ToString::to_string) {
            // A link, or a path through one, is no file.
            let entry = tree.entry(&path).map_err(check_error)?;
            let is_file = |it: TreeEntry| matches!(it.kind, TreeKind::File | TreeKind::Executable);
            if entry.is_some_and(is_file) {
                files.insert(path);
            }
        }
        Ok(files)
    }

    /// Writes the tree of the branch and opens it.
    fn open_branch(&self) -> Result<ServedTree, CheckError> {
        let branch = self.scratch.join("branch");
        RealFiles.create_folder(&branch).map_err(check_error)?;
        let written = self.candidate.write_branch_to(&branch);
        written.map_err(check_error)?;
        Ok(self.open(&branch))
    }

    /// Opens the tree in `folder`; no server starts yet.
    fn open(&self, folder: &AbsPath) -> ServedTree {
        let main_repo = self.candidate.main_repo;
        let session_root = SessionRoot {
            project: main_repo.clone(),
            readable: vec![main_repo.clone()],
            ..SessionRoot::for_user_folder(folder)
        };
        let (sandbox, problems) =
            sandbox_policy::sandbox(self.dirs, session_root, &Confinement::default());
        self.notices.borrow_mut().extend(problems);
        let tree = AgentTree {
            root: folder.clone(),
            checkout: main_repo.clone(),
            is_trusted: trust::is_trusted(&RealFiles, self.dirs, main_repo),
            sandbox: TreeSandbox::of(sandbox.as_ref()),
            variables: Vec::new(),
        };
        ServedTree {
            folder: folder.clone(),
            is_trusted: tree.is_trusted,
            servers: tree.open(self.dirs),
            programs: ProgramCache::default(),
        }
    }

    /// Returns the errors of these files of a tree, which servers serve.
    fn errors(&self, tree: &ServedTree, files: &[String]) -> Result<Vec<TreeError>, ReportError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        if !tree.is_trusted {
            let reason = format!("{} is not trusted", self.candidate.main_repo);
            return Err(ReportError::Unreported(reason));
        }
        let request = CheckRequest {
            documents: files.iter().map(|path| tree.folder.join(path)).collect(),
            timeout: self.time,
            logs: self.dirs.server_logs().join("landings"),
            clock: Arc::new(RealClock::default()),
        };
        let report = language::check(&tree.servers, &request);
        let report = report.map_err(|error| ReportError::Unreported(error.to_string()))?;
        errors_of(&tree.folder, report)
    }
}

impl ServedTree {
    /// Returns whether a server serves a file with this path, whether or not the tree has it.
    fn serves(&mut self, path: &str) -> bool {
        let path = self.folder.join(path);
        self.servers.serves_with(&path, &mut self.programs)
    }
}

/// Returns the errors of a report; fails if it is not complete.
fn errors_of(folder: &AbsPath, report: CheckReport) -> Result<Vec<TreeError>, ReportError> {
    if let Some(failure) = report.failures.first() {
        return Err(ReportError::Unreported(failure.to_string()));
    }
    let found = report.diagnostics.into_iter();
    let errors = found.filter(|it| it.severity == CheckSeverity::Error);
    let errors = errors.filter_map(|it| {
        let path = it.path.relative_to(folder)?;
        Some(TreeError {
            path: path.to_string_lossy().into_owned(),
            line: it.start.0,
            message: it.message,
        })
    });
    Ok(errors.collect())
}

/// Returns the failed check of changes that servers did not report on, for this reason.
pub(super) fn unchecked(reason: &str) -> Check {
    let reason = base::printable(reason.trim_end_matches('.'), base::LineFeeds::Escape);
    Check {
        name: NAME.to_owned(),
        is_passed: false,
        detail: format!("language servers did not check it for new errors ({reason})"),
        kind: CheckKind::NewErrors,
    }
}

/// Returns the errors of `after` that `before` lacks. Equal messages of a file count one by one, whatever their lines,
/// which other changes move. A file that only `after` has may be a renamed one, so its errors are compared with those of
/// the files that only `before` has.
fn new_errors(
    before: &[TreeError],
    after: &[TreeError],
    is_in_both: impl Fn(&str) -> bool,
) -> Vec<TreeError> {
    let key = |error: &TreeError| {
        let path = Some(error.path.clone()).filter(|path| is_in_both(path));
        (path, error.message.clone())
    };
    let mut known: BTreeMap<(Option<String>, String), usize> = BTreeMap::new();
    for error in before {
        *known.entry(key(error)).or_default() += 1;
    }
    let mut new = Vec::new();
    for error in after {
        match known.get_mut(&key(error)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => new.push(error.clone()),
        }
    }
    new
}

/// Returns the result for these new errors.
fn result(new: &[TreeError]) -> Check {
    let listed: Vec<String> = new.iter().take(MAX_LISTED).map(describe).collect();
    let (count, listed) = (count_of(new.len(), "new error"), listed.join("; "));
    let detail = match new.len().saturating_sub(MAX_LISTED) {
        _ if new.is_empty() => String::new(),
        0 => format!("{count}: {listed}"),
        more => format!("{count}: {listed}; and {more} more"),
    };
    Check {
        name: NAME.to_owned(),
        is_passed: new.is_empty(),
        detail,
        kind: CheckKind::NewErrors,
    }
}

/// Returns an error as one line of limited length.
fn describe(error: &TreeError) -> String {
    let message: Vec<&str> = error.message.split_whitespace().collect();
    let text = format!("{}:{}: {}", error.path, error.line, message.join(" "));
    let mut text = base::printable(&text, base::LineFeeds::Escape).into_owned();
    if text.len() > MAX_MESSAGE {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
