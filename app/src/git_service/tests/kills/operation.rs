//! The changes that are killed: their repositories, and the way the service makes them.

use futures::executor::block_on;
use git::Repository;
use git::conflict::ConflictChoice;
use git::merge::TreePath;
use git::staging::{LineSelection, Side};
use git_panel::{DiffRequest, GitCommand, GitFailure, GitOutcome, GitRun, GitService as _};
use git_program::{Cancellation, CommitRequest};
use host::{Files as _, RealFiles};

use super::super::Fixture;
use crate::git_service::runs::RunContext;
use crate::git_service::{commands, discard, reads, staging};

/// The message of the commit, which is also the draft of every story.
pub(super) const MESSAGE: &str = "words of the user";

/// A change of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    StageLines,
    StageFiles,
    UnstageFiles,
    TrashFile,
    RestoreFile,
    MarkResolved,
    ChooseSide,
    Commit,
    ContinueRebase,
}

impl Operation {
    pub(super) const ALL: [Self; 9] = [
        Self::StageLines,
        Self::StageFiles,
        Self::UnstageFiles,
        Self::TrashFile,
        Self::RestoreFile,
        Self::MarkResolved,
        Self::ChooseSide,
        Self::Commit,
        Self::ContinueRebase,
    ];

    /// Returns the change that is written as `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|operation| format!("{operation:?}") == name)
    }

    /// Returns whether git makes the change.
    pub(super) fn runs_git(self) -> bool {
        matches!(self, Self::Commit | Self::ContinueRebase)
    }

    /// Creates a repository for the change.
    pub(super) fn repository(self) -> Option<Fixture> {
        match self {
            Self::MarkResolved | Self::ChooseSide => conflicting(),
            Self::ContinueRebase => rebasing(),
            _ => changed(),
        }
    }

    /// Makes the change on this thread.
    pub(super) fn perform(self, fixture: &Fixture) {
        let folder = &fixture.service.folder;
        let access = folder.access(&fixture.root);
        let paths = |names: &[&str]| -> Vec<TreePath> {
            names.iter().map(|name| TreePath::from(*name)).collect()
        };
        match self {
            Self::StageLines => {
                let request = DiffRequest {
                    path: "file".into(),
                    side: Side::Unstaged,
                    buffer: None,
                };
                let diff = reads::file_diff(&access, folder, &request).expect("a diff");
                let first = LineSelection::of_hunks(&diff.hunks[..1]);
                staging::change_lines(&access, folder, &diff, &first).expect("staged");
            }
            Self::StageFiles => {
                let paths = paths(&["file", "gone", "new"]);
                staging::stage_files(&access, folder, &paths).expect("staged");
            }
            Self::UnstageFiles => {
                staging::unstage_files(&access, folder, &paths(&["staged"])).expect("unstaged");
            }
            Self::TrashFile => discard_file(fixture, "new"),
            Self::RestoreFile => discard_file(fixture, "gone"),
            Self::MarkResolved => {
                let (repository, conflict) = conflict(fixture, "both");
                let resolved = repository.mark_resolved(&conflict, &RealFiles);
                resolved.expect("resolved");
            }
            Self::ChooseSide => {
                let (repository, conflict) = conflict(fixture, "removed");
                let chosen = repository.choose(&conflict, ConflictChoice::Remove, &RealFiles);
                chosen.expect("resolved");
            }
            Self::Commit => run_git(fixture, |context| {
                commands::commit(context, folder, &commit_request())
            }),
            Self::ContinueRebase => {
                run_git(fixture, |context| {
                    commands::run(context, folder, GitCommand::Continue)
                });
            }
        }
    }

    /// Starts the change of git through the service.
    pub(super) fn start(self, fixture: &Fixture) -> GitRun {
        let (service, root) = (&fixture.service, &fixture.root);
        match self {
            Self::Commit => service.commit(root, commit_request()),
            Self::ContinueRebase => service.run(root, GitCommand::Continue),
            other => panic!("{other:?} runs no git"),
        }
    }

    /// Returns whether the change is in the repository. `after` are the entries of the index after it.
    pub(super) fn is_done(self, fixture: &Fixture, after: &str) -> bool {
        match self {
            Self::TrashFile => fixture.read("new").is_none(),
            Self::RestoreFile => fixture.read("gone").is_some(),
            Self::Commit => fixture.git(&["log", "-1", "--format=%s"]) == MESSAGE,
            Self::ContinueRebase => fixture.read(".git/rebase-merge/done").is_none(),
            _ => fixture.entries() == after,
        }
    }

    /// Asserts that no content is lost, also not in the middle of the change.
    pub(super) fn assert_contents(self, fixture: &Fixture, what: &str) {
        let text = |name: &str| {
            let content = fixture.read(name);
            content.map(|content| String::from_utf8_lossy(&content).into_owned())
        };
        match self {
            Self::TrashFile => {
                let trashed = fixture.folder.join("data/Trash/files/new");
                let trashed = RealFiles.read(&trashed, 1 << 10).ok();
                let mut places = [fixture.read("new"), trashed].into_iter().flatten();
                assert!(places.any(|content| content == b"text\n"), "{what}: lost");
            }
            Self::RestoreFile => {
                let restored = text("gone");
                let is_right = restored.as_deref().is_none_or(|text| text == "gone\n");
                assert!(is_right, "{what}: {restored:?}");
            }
            Self::MarkResolved => assert_eq!(text("both").as_deref(), Some("resolved\n"), "{what}"),
            Self::ChooseSide => {
                let left = text("removed");
                let is_right = left.as_deref().is_none_or(|text| text == "theirs\n");
                assert!(is_right, "{what}: {left:?}");
            }
            Self::StageLines | Self::StageFiles | Self::UnstageFiles | Self::Commit => {
                assert_eq!(text("file").as_deref(), Some("one\n2\n3\nfour\n"), "{what}");
                assert_eq!(text("new").as_deref(), Some("text\n"), "{what}");
            }
            Self::ContinueRebase => {
                let commits = fixture.git(&["log", "--format=%s", "topic"]);
                assert!(
                    commits.starts_with("second on topic\n"),
                    "{what}: {commits}"
                );
            }
        }
    }
}

fn commit_request() -> CommitRequest {
    CommitRequest {
        message: Some(MESSAGE.to_owned()),
        ..CommitRequest::default()
    }
}

fn discard_file(fixture: &Fixture, name: &str) {
    let folder = &fixture.service.folder;
    let access = folder.access(&fixture.root);
    let mut changes = fixture.changes().into_iter();
    let change = changes.find(|change| change.path == TreePath::from(name));
    let change = change.expect("a change");
    discard::discard_file(&access, folder, &change).expect("discarded");
}

fn conflict(fixture: &Fixture, name: &str) -> (Repository, git::conflict::StagedConflict) {
    let repository = Repository::discover(&fixture.root).expect("a repository");
    let conflict = repository.conflict_at(&fixture.root.join(name));
    let conflict = conflict.expect("readable").expect("a conflict");
    (repository, conflict)
}

/// Runs a call of git on this thread.
fn run_git(
    fixture: &Fixture,
    work: impl FnOnce(&RunContext<'_>) -> Result<GitOutcome, GitFailure>,
) {
    let folder = &fixture.service.folder;
    let access = folder.access(&fixture.root);
    let program = access.program(folder).expect("a trusted folder");
    let (sender, _output) = async_channel::unbounded();
    let context = RunContext {
        program: &program,
        cancellation: &Cancellation::default(),
        output: &sender,
    };
    work(&context).expect("git works");
}

/// A repository with staged, unstaged and untracked changes.
fn changed() -> Option<Fixture> {
    let fixture = Fixture::new(&[])?;
    let files = [
        ("file", "1\n2\n3\n4\n"),
        ("gone", "gone\n"),
        ("staged", "1\n"),
    ];
    fixture.commit_files(&files);
    fixture.write("staged", "2\n");
    fixture.git(&["add", "staged"]);
    fixture.write("file", "one\n2\n3\nfour\n");
    fixture.write("new", "text\n");
    RealFiles
        .remove(&fixture.root.join("gone"))
        .expect("removed");
    fixture.write("spare", "text\n");
    Some(fixture)
}

/// A merge with two conflicts, one of which has a resolved text.
fn conflicting() -> Option<Fixture> {
    let fixture = Fixture::new(&[])?;
    fixture.commit_files(&[("both", "base\n"), ("removed", "base\n")]);
    fixture.git(&["switch", "--quiet", "--create", "topic"]);
    fixture.commit_files(&[("both", "theirs\n"), ("removed", "theirs\n")]);
    fixture.git(&["switch", "--quiet", "main"]);
    RealFiles
        .remove(&fixture.root.join("removed"))
        .expect("removed");
    fixture.commit_files(&[("both", "ours\n")]);
    let merged = fixture.try_git(&["merge", "--quiet", "topic"]);
    assert_eq!(merged, None, "the merge conflicts");
    fixture.write("both", "resolved\n");
    fixture.write("spare", "text\n");
    Some(fixture)
}

/// A rebase of two commits that stopped at the first one, whose conflict is resolved.
fn rebasing() -> Option<Fixture> {
    let fixture = Fixture::new(&[])?;
    fixture.commit_files(&[("both", "base\n")]);
    fixture.git(&["switch", "--quiet", "--create", "topic"]);
    let commit = |name: &str, text: &str, subject: &str| {
        fixture.write(name, text);
        fixture.git(&["add", name]);
        fixture.git(&["commit", "--quiet", "-m", subject]);
    };
    commit("both", "theirs\n", "first on topic");
    commit("more", "more\n", "second on topic");
    fixture.git(&["switch", "--quiet", "main"]);
    commit("both", "ours\n", "on main");
    fixture.git(&["switch", "--quiet", "topic"]);
    let rebased = fixture.try_git(&["rebase", "--quiet", "main"]);
    assert_eq!(rebased, None, "the rebase stops");
    fixture.write("both", "resolved\n");
    fixture.git(&["add", "both"]);
    fixture.write("spare", "text\n");
    Some(fixture)
}

/// Returns the draft of the message, as a new run of the program finds it.
pub(super) fn draft(fixture: &Fixture) -> String {
    let draft = block_on(fixture.service.draft(&fixture.root));
    draft.expect("a draft").text
}
