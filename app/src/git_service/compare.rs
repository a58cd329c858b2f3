//! Comparison of any two versions, and the list of versions to choose from.
//!
//! Limits: through the git program, untracked files are no part of the working tree.

use git::changes::ChangeKind;
use git::diff::{ChangedPath, TreeComparison, TreeSide};
use git::merge::TreePath;
use git::staging::{FileDiff, StagingError};
use git::{BranchSummary, Commit, GitTask};
use git_panel::{CompareRequest, GitFailure, NamedVersion};
use git_program::{
    Cancellation, ChangeLetter, CommittedChange, GitProgram, LogRow, UncommittedSide,
};

use super::door::{RepositoryAccess, RepositoryDoor};
use super::failures::{of_git, of_program, of_staging, other};
use super::folder_state::GitFolderState;
use super::{program_reads, reads, rebase};

/// Digits of a commit id that people read.
const SHORT_ID: usize = 8;
/// Number of commits to choose from where no program may run.
const RECENT: usize = 200;

/// Returns the branches, the stashes and the latest commits. Parts that cannot be read are left out.
pub(super) fn versions(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Vec<NamedVersion>, GitFailure> {
    let branches = reads::branches(access, folder)?;
    let mut versions: Vec<NamedVersion> = branches.iter().map(branch_version).collect();
    versions.extend(stashes(access, folder).unwrap_or_default());
    versions.extend(match rebase::recent_commits(access, folder) {
        Ok(rows) => rows.into_iter().map(row_version).collect(),
        Err(_) => commits_in_process(access).unwrap_or_default(),
    });
    Ok(versions)
}

fn branch_version(branch: &BranchSummary) -> NamedVersion {
    let subject = branch.commit.message.lines().next().unwrap_or_default();
    NamedVersion {
        revision: branch.reference.clone(),
        name: branch.name.clone(),
        detail: format!("branch \u{b7} {subject}"),
    }
}

fn row_version(row: LogRow) -> NamedVersion {
    commit_version(row.id, row.subject, &row.author)
}

fn commit_version(id: String, subject: String, author: &str) -> NamedVersion {
    let short = id.get(..SHORT_ID).unwrap_or(&id);
    NamedVersion {
        detail: format!("{short} \u{b7} {author}"),
        name: subject,
        revision: id,
    }
}

fn commits_in_process(access: &RepositoryAccess) -> Result<Vec<NamedVersion>, GitFailure> {
    let commits = access.in_process()?.log("HEAD", None, RECENT);
    let version = |commit: Commit| {
        let subject = commit.message.lines().next().unwrap_or_default().to_owned();
        commit_version(commit.id, subject, &commit.author)
    };
    Ok(commits.map_err(of_git)?.into_iter().map(version).collect())
}

fn stashes(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Vec<NamedVersion>, GitFailure> {
    let version = |id: String, message: String| NamedVersion {
        revision: id,
        name: message,
        detail: "stash".to_owned(),
    };
    Ok(match access.open(GitTask::History, folder)? {
        RepositoryDoor::InProcess(repository) => {
            let entries = repository.stashes().map_err(of_git)?.into_iter();
            let versions = entries.map(|it| version(it.commit.to_string(), it.message));
            versions.collect()
        }
        RepositoryDoor::Program(program) => {
            let entries = program.stashes(&Cancellation::default());
            let entries = entries.map_err(of_program)?.into_iter();
            entries.map(|it| version(it.id, it.message)).collect()
        }
    })
}

/// Returns the task that a comparison is; `committed` if both sides are commits.
fn task_of(sides: &TreeComparison, committed: GitTask) -> GitTask {
    if sides.is_live() {
        GitTask::Status
    } else {
        committed
    }
}

/// Returns the files in which two sides differ.
pub(super) fn files(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    sides: &TreeComparison,
) -> Result<Vec<ChangedPath>, GitFailure> {
    match access.open(task_of(sides, GitTask::History), folder)? {
        RepositoryDoor::InProcess(repository) => {
            let paths = repository.changed_paths(&sides.before, &sides.after);
            paths.map_err(of_git)
        }
        RepositoryDoor::Program(program) => program_files(&program, sides),
    }
}

fn program_files(
    program: &GitProgram,
    sides: &TreeComparison,
) -> Result<Vec<ChangedPath>, GitFailure> {
    use TreeSide::{Index, Revision, WorkingTree};
    let cancellation = Cancellation::default();
    let since = |revision: Option<&str>, side| program.files_since(revision, side, &cancellation);
    let files = match (&sides.before, &sides.after) {
        (Revision(before), Revision(after)) => {
            program.changed_files(Some(before), after, &cancellation)
        }
        (Revision(before), Index) => since(Some(before), UncommittedSide::Index),
        (Revision(before), WorkingTree) => since(Some(before), UncommittedSide::WorkingTree),
        (Index, WorkingTree) => since(None, UncommittedSide::WorkingTree),
        _ => return Err(other("git compares these versions only in the other order")),
    };
    Ok(files
        .map_err(of_program)?
        .iter()
        .map(changed_path)
        .collect())
}

fn changed_path(change: &CommittedChange) -> ChangedPath {
    let renamed = change.source.as_ref();
    let renamed = renamed.filter(|_| change.letter == ChangeLetter::Renamed);
    ChangedPath {
        path: TreePath::of_path(&change.path),
        old_path: renamed.map(|(source, _)| TreePath::of_path(source)),
        kind: match change.letter {
            ChangeLetter::Added | ChangeLetter::Copied => ChangeKind::Added,
            ChangeLetter::Modified => ChangeKind::Modified,
            ChangeLetter::Deleted => ChangeKind::Deleted,
            ChangeLetter::Renamed => ChangeKind::Renamed,
            ChangeLetter::TypeChanged => ChangeKind::TypeChanged,
        },
        note: None,
    }
}

/// Returns the diff of a file between two sides.
pub(super) fn diff(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    request: &CompareRequest,
) -> Result<FileDiff, GitFailure> {
    let task = task_of(&request.sides, GitTask::Contents);
    let repository = match access.open(task, folder)? {
        RepositoryDoor::InProcess(repository) => repository,
        RepositoryDoor::Program(program) => {
            return program_reads::compared_diff(&program, request);
        }
    };
    let names = (&request.path, request.old_path.as_ref());
    match repository.compared_diff(&request.sides, names, request.buffer.as_deref()) {
        Err(StagingError::NeedsProgram { feature, .. }) => {
            let program = access.program(folder).map_err(|error| GitFailure {
                sentence: format!("{}; it is needed because {feature}", error.sentence),
                ..error
            })?;
            program_reads::compared_diff(&program, request)
        }
        diff => diff.map_err(of_staging),
    }
}
