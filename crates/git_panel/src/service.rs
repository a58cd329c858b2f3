//! The service that reads and changes the repositories of a folder. Wired by the app, replaced by tests.
//!
//! No method blocks. Every repository is named by the root of its working tree.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_channel::Receiver;
use base::AbsPath;
use futures::future::BoxFuture;
use git::BranchSummary;
use git::changes::{Change, Changes};
use git::diff::{ChangedPath, TreeComparison};
use git::merge::TreePath;
use git::staging::{FileDiff, LineSelection, RowEdit, Side};
use git_program::{
    BisectState, BisectVerdict, CommitIdentity, CommitRequest, FetchRequest, IdentityScope, LogRow,
    PromptKind, PullOptions, PullRequest, PushRejection, RebaseRequest, RebaseStep, StashRequest,
    SwitchRequest,
};
use zeroize::Zeroizing;

/// The answer of the service to one request.
pub type GitAnswer<T> = BoxFuture<'static, Result<T, GitFailure>>;

/// Reads and changes the repositories of one folder.
///
/// Readings of a repository may run at the same time; its changes run one after the other, in the order of the calls.
pub trait GitService: Send + Sync {
    /// Returns the repositories of the folder: first the one that contains it, then those inside it, by path. Empty if
    /// there is none.
    fn repositories(&self) -> GitAnswer<Vec<GitRepository>>;

    /// Creates an empty repository in the folder, without a commit. Needs no git program.
    fn initialize(&self) -> GitAnswer<()>;

    /// Returns all changes of a repository.
    fn changes(&self, repository: &AbsPath) -> GitAnswer<Changes>;

    /// Returns the changes of these paths. A path without a result has no change any more.
    fn changes_of(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<Vec<Change>>;

    /// Returns the diff of one file, which is also the object to stage from.
    fn file_diff(&self, repository: &AbsPath, request: DiffRequest) -> GitAnswer<Arc<FileDiff>>;

    /// Returns the versions to compare with: branches, stashes and the latest commits.
    fn versions(&self, repository: &AbsPath) -> GitAnswer<Vec<NamedVersion>>;

    /// Returns the files in which two sides differ, sorted by path, with renames.
    fn compared_files(
        &self,
        repository: &AbsPath,
        sides: TreeComparison,
    ) -> GitAnswer<Vec<ChangedPath>>;

    /// Returns the diff of one file between two sides. Nothing is staged from it.
    fn compared_diff(
        &self,
        repository: &AbsPath,
        request: CompareRequest,
    ) -> GitAnswer<Arc<FileDiff>>;

    /// Stages the selected lines of an unstaged diff.
    ///
    /// # Errors
    /// `Outdated` if the index changed since the diff was made; nothing is written then.
    fn stage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep>;

    /// Takes the selected lines of a staged diff out of the index.
    ///
    /// # Errors
    /// `Outdated` if the index changed since the diff was made; nothing is written then.
    fn unstage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep>;

    /// Stages files as they are on the disk: all or none. A file with conflicts counts as resolved.
    fn stage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep>;

    /// Makes the entries of the index those of HEAD: all or none.
    fn unstage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep>;

    /// Restores the entries of the index that a step replaced.
    ///
    /// # Errors
    /// `Outdated` if one of them changed since; nothing is written then.
    fn undo_staging(&self, repository: &AbsPath, step: StagingStep) -> GitAnswer<()>;

    /// Returns the edits that discard the selected lines of an unstaged diff in the buffer from which it was made.
    fn discard_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<Vec<RowEdit>>;

    /// Discards the unstaged change of a file.
    fn discard_file(&self, repository: &AbsPath, change: Change) -> GitAnswer<DiscardedFile>;

    /// Moves a file back from the trash.
    fn restore_discarded(&self, repository: &AbsPath, path: TreePath) -> GitAnswer<()>;

    /// Commits the index. The outcome's sentence names the commit.
    fn commit(&self, repository: &AbsPath, request: CommitRequest) -> GitRun;

    /// Runs a command.
    fn run(&self, repository: &AbsPath, command: GitCommand) -> GitRun;

    /// Returns the author of commits, as far as it is configured.
    fn identity(&self, repository: &AbsPath) -> GitAnswer<CommitIdentity>;

    /// Stores the author of commits.
    fn store_identity(
        &self,
        repository: &AbsPath,
        identity: CommitIdentity,
        scope: IdentityScope,
    ) -> GitAnswer<()>;

    /// Returns the commits of the current branch from `first` on, as a rebase replays them; without `first`, those after the
    /// upstream branch.
    ///
    /// # Errors
    /// `NoUpstream` if that branch is asked for and there is none.
    fn rebase_plan(&self, repository: &AbsPath, first: Option<String>) -> GitAnswer<RebasePlan>;

    /// Returns the whole message of a commit.
    fn commit_message(&self, repository: &AbsPath, id: String) -> GitAnswer<String>;

    /// Returns the latest commits of the current branch, the newest first.
    fn recent_commits(&self, repository: &AbsPath) -> GitAnswer<Vec<LogRow>>;

    /// Returns the state of the bisection in progress; `Waiting` if there is none.
    fn bisect_state(&self, repository: &AbsPath) -> GitAnswer<BisectState>;

    /// Returns the open pull requests of the repository's host.
    ///
    /// # Errors
    /// The program that knows them is not installed, or not signed in; the sentence names it.
    fn pull_requests(&self, repository: &AbsPath) -> GitAnswer<Vec<PullRequest>>;

    /// Returns the branches of a repository, those of remotes included.
    fn branches(&self, repository: &AbsPath) -> GitAnswer<Vec<BranchSummary>>;

    /// Returns the message of the last commit.
    fn last_message(&self, repository: &AbsPath) -> GitAnswer<String>;

    /// Returns the message that the user began to type for this working tree; else the one that Git prepared, such as
    /// that of a merge, or the template of the settings.
    fn draft(&self, repository: &AbsPath) -> GitAnswer<MessageDraft>;

    /// Stores the message that the user types, in order of the calls. An empty text removes it.
    fn store_draft(&self, repository: &AbsPath, text: String) -> GitAnswer<()>;

    /// Asks the small model, which also writes titles of sessions, for a message for the staged changes. Called only when the
    /// user asks for it: the staged diff leaves the program, without files that hold secrets.
    fn suggest_message(&self, repository: &AbsPath) -> GitAnswer<String>;

    /// Reports changes of the repositories, by any program, at most every 100 ms. The watch ends when the
    /// receiver is dropped.
    fn watch(&self) -> Receiver<GitTick>;

    /// Takes the events of the window's own watcher of the folder, so that no second watcher runs: these paths changed, or
    /// anything did if `None`. Leads to reports of `watch`.
    fn files_changed(&self, paths: Option<Vec<AbsPath>>);

    /// Returns the questions of Git, ssh and hooks to the user.
    fn prompts(&self) -> Receiver<GitPrompt>;
}

/// A repository of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRepository {
    /// The root of its working tree.
    pub root: AbsPath,
    /// Its name for display: that of the root, or the path in the folder.
    pub name: String,
    /// Its relation to the folder.
    pub role: RepositoryRole,
}

/// The relation of a repository to the open folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryRole {
    /// It contains the folder.
    Main,
    /// It lies in the folder.
    Nested,
    /// It is a submodule of another repository.
    Submodule,
}

/// A diff to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRequest {
    /// The file.
    pub path: TreePath,
    /// The texts to compare.
    pub side: Side,
    /// The bytes that a save would write, if the file has unsaved edits.
    pub buffer: Option<Vec<u8>>,
}

/// A file to compare between two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareRequest {
    /// The sides.
    pub sides: TreeComparison,
    /// The path after the change.
    pub path: TreePath,
    /// The path before a rename.
    pub old_path: Option<TreePath>,
    /// The bytes that a save would write, if the file of the working tree has unsaved edits.
    pub buffer: Option<Vec<u8>>,
}

/// A version of the files, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedVersion {
    /// The revision in Git's notation.
    pub revision: String,
    /// Its name: that of the branch, or the subject of the commit or of the stash.
    pub name: String,
    /// Further words about it.
    pub detail: String,
}

/// The number of a change of the index, by which it can be undone. Numbers are never used twice by one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StagingStep(pub u64);

/// The result of discarding the changes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscardedFile {
    /// The file is to get this content, by an edit of its buffer that the user can undo. Nothing was written.
    Replace(Vec<u8>),
    /// The deleted file was written again.
    Restored,
    /// The untracked file was moved to the trash; `restore_discarded` moves it back.
    Trashed,
}

/// The beginning of a commit message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageDraft {
    /// The text.
    pub text: String,
    /// Whether Git or the settings made it, so that its comment lines are removed on committing.
    pub is_template: bool,
}

/// The commits that a rebase replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebasePlan {
    /// The revision whose commits are not replayed.
    pub upstream: String,
    /// Its name for people.
    pub base: String,
    /// The commits, the oldest first.
    pub steps: Vec<RebaseStep>,
    /// Number of merges among them, which are not replayed.
    pub merges: usize,
}

/// A command on a repository that the git program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitCommand {
    /// Switches to a branch or commit, or creates a branch.
    Switch(SwitchRequest),
    /// Fetches from remotes.
    Fetch(FetchRequest),
    /// Fetches and joins the upstream branch.
    Pull(PullOptions),
    /// Pushes the current branch.
    Push(PushMode),
    /// Puts changes into the stash.
    Stash(StashRequest),
    /// Applies the latest entry of the stash and drops it.
    StashPop,
    /// Replays commits of the current branch.
    Rebase(RebaseRequest),
    /// Begins the search for the commit that brought an error.
    BisectStart {
        /// A revision with the error.
        bad: String,
        /// A revision without it.
        good: String,
    },
    /// Judges the commit that is checked out in a bisection.
    BisectMark(BisectVerdict),
    /// Ends a bisection, and returns to the branch before it.
    BisectReset,
    /// Checks out the branch of the pull request with this number.
    CheckOutPullRequest(u64),
    /// Continues the operation in progress.
    Continue,
    /// Leaves out the commit at which the operation stopped.
    Skip,
    /// Returns to the state before the operation.
    Abort,
}

/// The form of a push of the current branch to its upstream. A branch without one gets a branch of the same name on the
/// first remote as its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushMode {
    /// The remote refuses a push that would lose commits.
    Normal,
    /// Replaces the remote branch if it is as it was last fetched.
    WithLease,
}

/// A call of the git program. Dropping it does not end the call; dropping `outcome` does.
pub struct GitRun {
    /// The output of Git and of hooks as it arrives, with escape sequences. Closed at the end.
    pub output: Receiver<Vec<u8>>,
    /// The result.
    pub outcome: GitAnswer<GitOutcome>,
    /// Ends the call with all its processes; the outcome is `Cancelled` then.
    pub cancel: Box<dyn FnOnce() + Send>,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitOutcome {
    /// A sentence for the user, such as `Pushed main to origin/main`.
    pub sentence: String,
    /// The files with conflicts that wait for the user.
    pub conflicts: Vec<TreePath>,
}

/// A report of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitTick {
    /// A repository appeared or disappeared, or the trust in the folder changed.
    Repositories,
    /// Index, HEAD, a branch or many files of a repository changed.
    Repository(AbsPath),
    /// Files of the working tree changed.
    Files {
        /// The repository.
        repository: AbsPath,
        /// The files.
        paths: Vec<TreePath>,
    },
}

/// A question of Git, ssh or a hook to the user.
pub struct GitPrompt {
    /// The text, as the program wrote it. Foreign: to be made printable.
    pub text: String,
    /// The kind of the question.
    pub kind: PromptKind,
    /// Receives the answer. Dropping it refuses.
    pub reply: Box<dyn FnOnce(Zeroizing<String>) + Send>,
    /// Closes once the program no longer waits.
    pub ended: Receiver<()>,
}

impl fmt::Debug for GitPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitPrompt")
            .field("text", &self.text)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct GitFailure {
    /// A sentence for the user that says what failed and, where possible, what to do about it.
    pub sentence: String,
    /// The reason, as far as the panel treats it in its own way.
    pub kind: GitFailureKind,
}

/// The reason of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitFailureKind {
    /// The user does not trust the folder, so no program runs in it.
    Untrusted,
    /// The git program was not found.
    NoGit,
    /// The repository is gone, or belongs to another user.
    NoRepository,
    /// Another program holds the lock of the index.
    Locked,
    /// The index or the file is not the one of the diff; a new diff is needed.
    Outdated,
    /// The file has conflicts.
    Conflicted,
    /// A hook refused.
    HookFailed(HookReport),
    /// The commit could not be signed.
    SigningFailed,
    /// Name or address of the author are not set.
    IdentityMissing,
    /// The current branch has no upstream branch.
    NoUpstream,
    /// There is nothing to commit or to stash.
    NothingStaged,
    /// Local changes would be overwritten: these files.
    LocalChanges(Vec<PathBuf>),
    /// The remote refused the credentials.
    Authentication,
    /// The remote could not be reached.
    Unreachable,
    /// The remote refused the push.
    Rejected(PushRejection),
    /// The user cancelled the call.
    Cancelled,
    /// Another reason.
    Other,
}

/// The end of a hook that refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReport {
    /// The name of the hook, such as `pre-commit`.
    pub hook: String,
    /// The end of its output, where hooks print the reason.
    pub last_lines: String,
    /// The whole output, bounded.
    pub log: String,
}
