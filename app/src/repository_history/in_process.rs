//! The parts of the history that libgit2 reads without a process, for folders that the user does not trust.

use std::path::Path;

use git::changes::ChangeKind;
use git::diff::{ChangedPath, SideContent, TreeSide};
use git_history::{CommitPage, HistoryError, LogBatch, VersionPair};
use git_program::{ChangeLetter, CommitDetails, CommitPerson, CommittedChange, LogQuery, LogRow};

use super::log::send;
use super::{Answers, RepositoryPlace, text_of};

/// Maximum number of commits that are read.
const MAX_COMMITS: usize = 1_000;
/// The sentence above such a history.
const LIMITS: &str = "This folder is not trusted, so git does not run: the latest 1,000 commits are shown, without the graph, branches and blame.";

fn failed(error: git::Error) -> HistoryError {
    HistoryError::Failed(error.to_string())
}

/// Returns the commit at HEAD.
pub(super) fn head(place: &RepositoryPlace) -> Result<String, HistoryError> {
    match place.repository() {
        Ok(repository) => repository.commit("HEAD").map(|it| it.id).map_err(failed),
        // libgit2 cannot open the repository, but git may.
        Err(HistoryError::Failed(_)) => {
            let head = place
                .program()?
                .resolve("HEAD", &git_program::Cancellation::default());
            head.map_err(super::failure)
        }
        Err(error) => Err(error),
    }
}

/// Reads the latest commits that match, as far as libgit2 can tell.
pub(super) fn log(
    place: &RepositoryPlace,
    query: &LogQuery,
    answers: &Answers<LogBatch>,
) -> Result<(), HistoryError> {
    if query.pickaxe.is_some() || query.lines.is_some() || query.since.is_some() {
        return Err(HistoryError::Untrusted);
    }
    let repository = place.repository()?;
    let revision = query.range.first().map_or("HEAD", String::as_str);
    let commits = repository
        .log(revision, query.path.as_deref(), MAX_COMMITS)
        .map_err(failed)?;
    let rows = commits.into_iter().map(row).filter(|row| {
        let has = |text: &str, part: &Option<String>| {
            let part = part.as_deref().unwrap_or_default().to_lowercase();
            text.to_lowercase().contains(&part)
        };
        has(&row.author, &query.author) && has(&row.subject, &query.text)
    });
    // Nothing follows, whether the window is there or not.
    let _flow = send(rows.collect(), Some(LIMITS.to_owned()), answers);
    Ok(())
}

fn row(commit: git::Commit) -> LogRow {
    let (author, address) = person(&commit.author);
    LogRow {
        id: commit.id,
        parents: Vec::new(),
        author,
        address,
        seconds: commit.seconds,
        refs: Vec::new(),
        subject: commit.message.lines().next().unwrap_or_default().to_owned(),
    }
}

/// Splits `name <address>`.
fn person(author: &str) -> (String, String) {
    let (name, address) = author.split_once(" <").unwrap_or((author, ""));
    (name.to_owned(), address.trim_end_matches('>').to_owned())
}

/// Returns the side before a commit: its first parent, or nothing.
fn parent(repository: &git::Repository, id: &str) -> TreeSide {
    let revision = format!("{id}^");
    match repository.commit(&revision) {
        Ok(_) => TreeSide::Revision(revision),
        Err(_) => TreeSide::Empty,
    }
}

/// Returns a commit with its files.
pub(super) fn commit_page(place: &RepositoryPlace, id: &str) -> Result<CommitPage, HistoryError> {
    let repository = place.repository()?;
    let commit = repository.commit(id).map_err(failed)?;
    let after = TreeSide::Revision(id.to_owned());
    let changed = repository
        .changed_paths(&parent(&repository, id), &after)
        .map_err(failed)?;
    let (name, address) = person(&commit.author);
    let author = CommitPerson {
        name,
        address,
        seconds: commit.seconds,
    };
    Ok(CommitPage {
        details: CommitDetails {
            id: commit.id,
            parents: Vec::new(),
            committer: author.clone(),
            author,
            refs: Vec::new(),
            message: commit.message.trim_end().to_owned(),
        },
        files: changed.iter().map(committed).collect(),
    })
}

fn committed(change: &ChangedPath) -> CommittedChange {
    let letter = match change.kind {
        ChangeKind::Added | ChangeKind::Untracked => ChangeLetter::Added,
        ChangeKind::Deleted => ChangeLetter::Deleted,
        ChangeKind::Renamed => ChangeLetter::Renamed,
        ChangeKind::TypeChanged => ChangeLetter::TypeChanged,
        ChangeKind::Modified
        | ChangeKind::ModeChanged
        | ChangeKind::Submodule
        | ChangeKind::Conflicted(_) => ChangeLetter::Modified,
    };
    let source = change.old_path.as_ref();
    CommittedChange {
        path: change.path.to_path(),
        letter,
        modes: [0; 2],
        ids: [String::new(), String::new()],
        source: source.map(|path| (path.to_path(), 0)),
    }
}

/// Returns the texts of a file on both sides of a commit.
pub(super) fn versions(
    place: &RepositoryPlace,
    id: &str,
    change: &CommittedChange,
) -> Result<VersionPair, HistoryError> {
    let repository = place.repository()?;
    let source = change
        .source
        .as_ref()
        .map_or(&change.path, |(path, _)| path);
    let before = parent(&repository, id);
    let after = TreeSide::Revision(id.to_owned());
    Ok(VersionPair {
        path: repository.workdir().join(&change.path),
        before: text_at(&repository, &before, source)?,
        after: text_at(&repository, &after, &change.path)?,
    })
}

/// Returns the text of a file on one side; `None` if it has no such file.
fn text_at(
    repository: &git::Repository,
    side: &TreeSide,
    path: &Path,
) -> Result<Option<String>, HistoryError> {
    let path = git::merge::TreePath::of_path(path);
    match repository.content_of(side, &path).map_err(failed)? {
        SideContent::Absent => Ok(None),
        SideContent::Bytes(bytes) => text_of(&bytes).map(Some),
        SideContent::Noted(_) => Err(HistoryError::Failed(
            "this file is not text, or too large to be shown".to_owned(),
        )),
        SideContent::NeedsProgram(_) => Err(HistoryError::Untrusted),
    }
}
