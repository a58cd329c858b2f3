//! The service that reads the history and runs the commands of a commit. Wired by the app, replaced by tests.

use std::path::PathBuf;
use std::sync::Arc;

use async_channel::Receiver;
use base::AbsPath;
use futures::future::BoxFuture;
use git_program::{
    BlamedLines, Cancellation, CommitDetails, CommittedChange, LogQuery, LogRow, ReflogState,
    ResetMode, UndoPlan,
};

use crate::blame::BlameRequest;

/// Returns the service for the repository that contains a folder.
pub type OpenHistory = Arc<dyn Fn(&AbsPath) -> Arc<dyn HistoryService> + Send + Sync>;

/// The answer of the service, computed off the UI thread.
pub type HistoryAnswer<T> = BoxFuture<'static, Result<T, HistoryError>>;

/// The reason why the service has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The user does not trust the folder; no process was started.
    #[error("this needs git, which runs only in trusted folders")]
    Untrusted,
    /// The folder is in no repository.
    #[error("this folder is in no Git repository")]
    NoRepository,
    /// Another reason, as a sentence.
    #[error("{0}")]
    Failed(String),
}

/// A query that runs. Dropping it ends the query with its process.
pub struct RunningQuery<T> {
    /// The answers as they arrive, and at last the error, if there is one.
    pub items: Receiver<Result<T, HistoryError>>,
    cancellation: Cancellation,
}

impl<T> RunningQuery<T> {
    /// Creates the receiving end of a query; `cancellation` ends it.
    pub fn new(items: Receiver<Result<T, HistoryError>>, cancellation: Cancellation) -> Self {
        Self {
            items,
            cancellation,
        }
    }
}

impl<T> Drop for RunningQuery<T> {
    fn drop(&mut self) {
        self.cancellation.cancel();
    }
}

/// Rows of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogBatch {
    /// The rows, each commit before its parents.
    pub rows: Vec<LogRow>,
    /// A sentence about the parts that cannot be shown, such as those before a shallow clone.
    pub limits: Option<String>,
}

/// A commit with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPage {
    /// The commit.
    pub details: CommitDetails,
    /// The files that differ from the first parent.
    pub files: Vec<CommittedChange>,
}

/// The texts of a file on both sides of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionPair {
    /// The path of the file on this machine, whether it exists or not.
    pub path: AbsPath,
    /// The text before; `None` if the file was added.
    pub before: Option<String>,
    /// The text after; `None` if the file was deleted.
    pub after: Option<String>,
}

/// A command that changes the repository at a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitCommand {
    /// Checks the commit out without a branch.
    CheckOut,
    /// Creates a branch of this name and switches to it.
    Branch(String),
    /// Creates a tag of this name.
    Tag(String),
    /// Applies the commit onto the current branch.
    CherryPick,
    /// Commits the reverse of the commit.
    Revert,
    /// Moves the current branch to the commit.
    Reset(ResetMode),
}

/// Reads the history of one repository and changes it. No method blocks; paths are those of the repository, relative to
/// the root of its working tree.
pub trait HistoryService: Send + Sync {
    /// Returns the path of a file in the repository; `None` if the file lies outside of it.
    fn path_in_repository(&self, file: &AbsPath) -> Option<PathBuf>;

    /// Streams the rows that a query finds, 200 first and at most 1,000 at a time.
    fn log(&self, query: LogQuery) -> RunningQuery<LogBatch>;

    /// Returns a commit with its files.
    fn commit(&self, id: String) -> HistoryAnswer<CommitPage>;

    /// Returns the texts of a file before and after a commit.
    fn versions(&self, id: String, change: CommittedChange) -> HistoryAnswer<VersionPair>;

    /// Streams the blame of a file.
    fn blame(&self, request: BlameRequest) -> RunningQuery<Vec<BlamedLines>>;

    /// Returns the id of the commit at HEAD, without a process; `None` without a commit.
    fn head(&self) -> BoxFuture<'static, Option<String>>;

    /// Runs a command at a commit; returns a sentence with its result.
    fn run(&self, id: String, command: CommitCommand) -> HistoryAnswer<String>;

    /// Returns the plan that undoes the last action; `None` if there is none that can be undone.
    fn undo_plan(&self) -> HistoryAnswer<Option<UndoPlan>>;

    /// Returns former states of HEAD, the latest first.
    fn reflog_states(&self) -> HistoryAnswer<Vec<ReflogState>>;

    /// Carries out a plan, unless HEAD moved since it was made.
    fn undo(&self, plan: UndoPlan) -> HistoryAnswer<()>;

    /// Returns the web page of a commit; `None` if no remote has one.
    fn commit_page(&self, id: String) -> BoxFuture<'static, Option<String>>;
}
