//! Readings: status, diffs, branches and messages.
//!
//! Invariant: a reading changes neither the index nor the working tree, so that it causes no further event.

use std::collections::BTreeSet;
use std::path::PathBuf;

use base::AbsPath;
use git::changes::{Change, ChangeGroup, ChangeKind, ChangeNote, Changes, Upstream};
use git::merge::TreePath;
use git::staging::{FileDiff, StagingError};
use git::{BranchSummary, Commit, GitFeature, GitTask, Repository};
use git_panel::{DiffRequest, GitFailure, MessageDraft};
use git_program::{Cancellation, EntryState, GitProgram, ListedBranch, StatusEntry};
use host::{Files as _, RealFiles};

use super::door::{RepositoryAccess, RepositoryDoor};
use super::drafts::DraftFiles;
use super::failures::{of_git, of_host, of_program, of_staging};
use super::folder_state::GitFolderState;
use super::program_reads;

/// Size of the largest file that is compared, in bytes.
pub(super) const MAX_TEXT_BYTES: u64 = 20 << 20;
/// Size of the largest message that Git prepared, in bytes.
const MAX_MESSAGE_BYTES: u64 = 4 << 20;

/// Files in which Git prepares the message of the next commit.
const PREPARED_MESSAGES: [&str; 2] = ["MERGE_MSG", "SQUASH_MSG"];

/// Returns all changes of a repository.
pub(super) fn changes(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Changes, GitFailure> {
    match access.open(GitTask::Status, folder)? {
        RepositoryDoor::InProcess(_) => {
            let mut changes = access.kept.read(Repository::changes).map_err(of_git)?;
            drop_unchanged(&mut changes.entries, access, folder);
            Ok(changes)
        }
        RepositoryDoor::Program(program) => program_reads::changes(&program),
    }
}

/// Removes the files of which git says that they are unchanged: libgit2 runs no filter, so that a file with one seems to be
/// changed once its metadata differ from those in the index. Without trust they stay, and so do those among more changes
/// than have notes.
fn drop_unchanged(entries: &mut Vec<Change>, access: &RepositoryAccess, folder: &GitFolderState) {
    let filtered = entries.iter().filter(|change| is_filtered(change));
    let names: Vec<PathBuf> = filtered.map(|change| change.path.to_path()).collect();
    if names.is_empty() {
        return;
    }
    let Ok(program) = access.program(folder) else {
        return;
    };
    // A filter that fails is reported when the file is compared or staged.
    let Ok(report) = program.status_of(&names, &Cancellation::default()) else {
        return;
    };
    let changed = report.entries.into_iter().filter(has_unstaged_change);
    let changed: BTreeSet<PathBuf> = changed.map(|entry| entry.path).collect();
    entries.retain(|change| !is_filtered(change) || changed.contains(&change.path.to_path()));
}

/// Returns whether only a filter program can tell if the file is changed.
fn is_filtered(change: &Change) -> bool {
    change.group == ChangeGroup::Unstaged
        && change.kind == ChangeKind::Modified
        && matches!(change.note, Some(ChangeNote::FilterProgram(_)))
}

fn has_unstaged_change(entry: &StatusEntry) -> bool {
    matches!(&entry.state, EntryState::Tracked(state) if state.unstaged.is_some())
}

/// Returns the changes of some paths: of the whole status where libgit2 cannot read the index.
pub(super) fn changes_of(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    paths: &[TreePath],
) -> Result<Vec<Change>, GitFailure> {
    match access.open(GitTask::Status, folder)? {
        RepositoryDoor::InProcess(_) => {
            let changes = access.kept.read(|it| it.changes_of(paths));
            let mut changes = changes.map_err(of_git)?;
            drop_unchanged(&mut changes, access, folder);
            Ok(changes)
        }
        RepositoryDoor::Program(program) => {
            let mut changes = program_reads::changes(&program)?.entries;
            changes.retain(|change| {
                let mut names = change.old_path.iter().chain([&change.path]);
                names.any(|name| paths.contains(name))
            });
            Ok(changes)
        }
    }
}

/// Returns the diff of one file.
pub(super) fn file_diff(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    request: &DiffRequest,
) -> Result<FileDiff, GitFailure> {
    let repository = match access.open(GitTask::Status, folder)? {
        RepositoryDoor::InProcess(repository) => repository,
        RepositoryDoor::Program(program) => return program_reads::file_diff(&program, request),
    };
    let DiffRequest { path, side, buffer } = request;
    let diff = repository.file_diff(path, *side, buffer.as_deref());
    match diff {
        Err(StagingError::NeedsProgram { feature, .. }) => {
            let program = access.program(folder).map_err(|error| GitFailure {
                sentence: format!("{}; it is needed because {feature}", error.sentence),
                ..error
            })?;
            program_diff(&repository, &program, request, &feature)
        }
        other => other.map_err(of_staging),
    }
}

/// Makes a diff for which the program must first convert or fetch contents.
fn program_diff(
    repository: &Repository,
    program: &GitProgram,
    request: &DiffRequest,
    feature: &GitFeature,
) -> Result<FileDiff, GitFailure> {
    let DiffRequest { path, side, buffer } = request;
    let name = path.to_path();
    let limit = usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX);
    let cancellation = Cancellation::default();
    if *feature == GitFeature::PartialClone {
        // Reading makes git fetch the contents; one of the two may not exist.
        for revision in ["HEAD", ""] {
            program.show(revision, &name, limit, &cancellation).ok();
        }
        let diff = repository.file_diff(path, *side, buffer.as_deref());
        return diff.map_err(of_staging);
    }
    let content = match buffer {
        Some(content) => content.clone(),
        None => {
            let file = repository.workdir().join(&name);
            RealFiles.read(&file, MAX_TEXT_BYTES).map_err(of_host)?
        }
    };
    let cleaned = program.clean_content(&name, content, limit, &cancellation);
    let cleaned = cleaned.map_err(of_program)?;
    let diff = repository.file_diff_of_cleaned(path, cleaned);
    diff.map_err(of_staging)
}

/// Returns the branches.
pub(super) fn branches(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Vec<BranchSummary>, GitFailure> {
    match access.open(GitTask::History, folder)? {
        RepositoryDoor::InProcess(repository) => repository.branches().map_err(of_git),
        RepositoryDoor::Program(program) => {
            let listed = program.branches(&Cancellation::default());
            let listed = listed.map_err(of_program)?.into_iter();
            let mut branches: Vec<_> = listed.map(summary).collect();
            branches.sort_by_key(|branch| (branch.is_remote, -branch.committed_seconds));
            Ok(branches)
        }
    }
}

fn summary(listed: ListedBranch) -> BranchSummary {
    let remote = listed.reference.strip_prefix("refs/remotes/");
    let name = remote.or_else(|| listed.reference.strip_prefix("refs/heads/"));
    BranchSummary {
        name: name.unwrap_or(&listed.reference).to_owned(),
        is_remote: remote.is_some(),
        is_head: listed.is_head,
        commit: Commit {
            id: listed.commit,
            author: listed.author,
            seconds: listed.authored_seconds,
            message: listed.subject,
        },
        committed_seconds: listed.committed_seconds,
        upstream: listed.upstream.map(|upstream| Upstream {
            name: upstream.name,
            ahead: upstream.ahead,
            behind: upstream.behind,
            is_gone: upstream.is_gone,
        }),
        reference: listed.reference,
    }
}

/// Returns the message of the last commit.
pub(super) fn last_message(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<String, GitFailure> {
    match access.open(GitTask::History, folder)? {
        RepositoryDoor::InProcess(repository) => {
            let commit = repository.commit("HEAD").map_err(of_git)?;
            Ok(commit.message)
        }
        RepositoryDoor::Program(program) => {
            let details = program.commit_details("HEAD", &Cancellation::default());
            Ok(details.map_err(of_program)?.message)
        }
    }
}

/// Returns the draft of the user, else the message that Git prepared, else the template of the settings. The program
/// knows the template, so that an untrusted folder has none.
pub(super) fn draft(
    access: &RepositoryAccess,
    folder: &GitFolderState,
    drafts: &DraftFiles,
) -> Result<MessageDraft, GitFailure> {
    if let Some(text) = drafts.read(&access.root).map_err(of_host)? {
        return Ok(MessageDraft {
            text,
            is_template: false,
        });
    }
    let prepared = prepared_message(&access.root).or_else(|| {
        let program = access.program(folder).ok()?;
        let settings = program.message_settings(&Cancellation::default());
        base::LogErr::log_err(settings)?.template
    });
    Ok(MessageDraft {
        is_template: prepared.is_some(),
        text: prepared.unwrap_or_default(),
    })
}

fn prepared_message(root: &AbsPath) -> Option<String> {
    let git_dir = git::git_dir_of(root)?;
    PREPARED_MESSAGES.iter().find_map(|name| {
        let text = RealFiles
            .read(&git_dir.join(name), MAX_MESSAGE_BYTES)
            .ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    })
}
