//! The status of the window's repository, read in process; everything else is in memory.

use std::sync::Arc;

use async_channel::Receiver;
use base::AbsPath;
use futures::channel::oneshot;
use futures::future::FutureExt as _;
use git::changes::{Change, Changes};
use git::diff::{ChangedPath, TreeComparison};
use git::merge::TreePath;
use git::staging::{FileDiff, LineSelection, RowEdit};
use git::{BranchSummary, Repository};
use git_panel::{
    CompareRequest, DiffRequest, DiscardedFile, FakeGit, GitAnswer, GitCommand, GitFailure,
    GitFailureKind, GitPrompt, GitRepository, GitRun, GitService, GitTick, MessageDraft,
    NamedVersion, RebasePlan, StagingStep,
};
use git_program::{BisectState, CommitIdentity, CommitRequest, IdentityScope, LogRow, PullRequest};

use super::QueryCounts;

/// A service whose status is real.
pub(super) struct BenchGit {
    memory: FakeGit,
    queries: Arc<QueryCounts>,
}

impl BenchGit {
    /// Creates the service for a folder that is a repository.
    pub(super) fn new(memory: &FakeGit, root: &AbsPath, queries: &Arc<QueryCounts>) -> Self {
        memory.add_repository(&root.to_string());
        Self {
            memory: memory.clone(),
            queries: queries.clone(),
        }
    }

    /// Reads the repository on a thread of its own.
    fn read<T: Send + 'static>(
        &self,
        root: &AbsPath,
        read: impl FnOnce(&Repository) -> Result<T, git::Error> + Send + 'static,
    ) -> GitAnswer<T> {
        let (sender, answer) = oneshot::channel();
        let (root, queries) = (root.clone(), self.queries.clone());
        queries.statuses.begin();
        std::thread::spawn(move || {
            let result = Repository::discover(&root).and_then(|repository| read(&repository));
            queries.statuses.end();
            // The panel may be gone.
            sender
                .send(result.map_err(|error| failure(error.to_string())))
                .ok();
        });
        async move {
            answer
                .await
                .unwrap_or_else(|_| Err(failure("the reading ended early".to_owned())))
        }
        .boxed()
    }
}

fn failure(sentence: String) -> GitFailure {
    GitFailure {
        sentence,
        kind: GitFailureKind::Other,
    }
}

impl GitService for BenchGit {
    fn changes(&self, repository: &AbsPath) -> GitAnswer<Changes> {
        self.read(repository, Repository::changes)
    }

    fn changes_of(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<Vec<Change>> {
        self.read(repository, move |repository| repository.changes_of(&paths))
    }

    fn repositories(&self) -> GitAnswer<Vec<GitRepository>> {
        self.memory.repositories()
    }

    fn initialize(&self) -> GitAnswer<()> {
        self.memory.initialize()
    }

    fn file_diff(&self, repository: &AbsPath, request: DiffRequest) -> GitAnswer<Arc<FileDiff>> {
        self.memory.file_diff(repository, request)
    }

    fn versions(&self, repository: &AbsPath) -> GitAnswer<Vec<NamedVersion>> {
        self.memory.versions(repository)
    }

    fn compared_files(
        &self,
        repository: &AbsPath,
        sides: TreeComparison,
    ) -> GitAnswer<Vec<ChangedPath>> {
        self.memory.compared_files(repository, sides)
    }

    fn compared_diff(
        &self,
        repository: &AbsPath,
        request: CompareRequest,
    ) -> GitAnswer<Arc<FileDiff>> {
        self.memory.compared_diff(repository, request)
    }

    fn stage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep> {
        self.memory.stage_lines(repository, diff, lines)
    }

    fn unstage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep> {
        self.memory.unstage_lines(repository, diff, lines)
    }

    fn stage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep> {
        self.memory.stage_files(repository, paths)
    }

    fn unstage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep> {
        self.memory.unstage_files(repository, paths)
    }

    fn undo_staging(&self, repository: &AbsPath, step: StagingStep) -> GitAnswer<()> {
        self.memory.undo_staging(repository, step)
    }

    fn discard_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<Vec<RowEdit>> {
        self.memory.discard_lines(repository, diff, lines)
    }

    fn discard_file(&self, repository: &AbsPath, change: Change) -> GitAnswer<DiscardedFile> {
        self.memory.discard_file(repository, change)
    }

    fn restore_discarded(&self, repository: &AbsPath, path: TreePath) -> GitAnswer<()> {
        self.memory.restore_discarded(repository, path)
    }

    fn identity(&self, repository: &AbsPath) -> GitAnswer<CommitIdentity> {
        self.memory.identity(repository)
    }

    fn store_identity(
        &self,
        repository: &AbsPath,
        identity: CommitIdentity,
        scope: IdentityScope,
    ) -> GitAnswer<()> {
        self.memory.store_identity(repository, identity, scope)
    }

    fn rebase_plan(&self, repository: &AbsPath, first: Option<String>) -> GitAnswer<RebasePlan> {
        self.memory.rebase_plan(repository, first)
    }

    fn commit_message(&self, repository: &AbsPath, id: String) -> GitAnswer<String> {
        self.memory.commit_message(repository, id)
    }

    fn recent_commits(&self, repository: &AbsPath) -> GitAnswer<Vec<LogRow>> {
        self.memory.recent_commits(repository)
    }

    fn bisect_state(&self, repository: &AbsPath) -> GitAnswer<BisectState> {
        self.memory.bisect_state(repository)
    }

    fn pull_requests(&self, repository: &AbsPath) -> GitAnswer<Vec<PullRequest>> {
        self.memory.pull_requests(repository)
    }

    fn commit(&self, repository: &AbsPath, request: CommitRequest) -> GitRun {
        self.memory.commit(repository, request)
    }

    fn run(&self, repository: &AbsPath, command: GitCommand) -> GitRun {
        self.memory.run(repository, command)
    }

    fn branches(&self, repository: &AbsPath) -> GitAnswer<Vec<BranchSummary>> {
        self.memory.branches(repository)
    }

    fn last_message(&self, repository: &AbsPath) -> GitAnswer<String> {
        self.memory.last_message(repository)
    }

    fn draft(&self, repository: &AbsPath) -> GitAnswer<MessageDraft> {
        self.memory.draft(repository)
    }

    fn store_draft(&self, repository: &AbsPath, text: String) -> GitAnswer<()> {
        self.memory.store_draft(repository, text)
    }

    fn suggest_message(&self, repository: &AbsPath) -> GitAnswer<String> {
        self.memory.suggest_message(repository)
    }

    fn watch(&self) -> Receiver<GitTick> {
        self.memory.watch()
    }

    fn files_changed(&self, paths: Option<Vec<AbsPath>>) {
        self.memory.files_changed(paths);
    }

    fn prompts(&self) -> Receiver<GitPrompt> {
        self.memory.prompts()
    }
}
