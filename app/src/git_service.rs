//! The repositories of a window's folder, for the panel of changes.
//!
//! Two doors lead to a repository: libgit2 in this process, wherever the repository's `Capabilities` allow the task, and the
//! user's git program, for everything else and for all that runs hooks, filters, helpers or signers (`door`).
//! Invariant: no process starts in a folder that the user does not trust.
//! Invariant: nothing blocks the caller: readings have threads of their own, of which one reads the status; changes of a
//! repository run one after the other.
//! Start at `services`.

mod bisect;
mod commands;
mod compare;
mod discard;
mod door;
mod drafts;
mod events;
mod failures;
mod folder_state;
mod git_folders;
mod identity;
mod program_reads;
mod prompts;
mod pull_requests;
mod queues;
mod reads;
mod rebase;
mod repositories;
mod runs;
mod staging;
mod suggest;
#[cfg(test)]
mod tests;
mod tick_state;
mod ticks;

use std::sync::Arc;

use async_channel::Receiver;
use background::EngineServices;
use base::AbsPath;
use futures::future::{self, FutureExt as _};
use git::BranchSummary;
use git::changes::{Change, Changes};
use git::diff::{ChangedPath, TreeComparison};
use git::merge::TreePath;
use git::staging::{FileDiff, LineSelection, RowEdit, Side};
use git_panel::{
    CompareRequest, DiffRequest, DiscardedFile, GitAnswer, GitCommand, GitFailure, GitPrompt,
    GitRepository, GitRun, GitService, GitTick, MessageDraft, NamedVersion, RebasePlan,
    StagingStep,
};
use git_program::{BisectState, CommitIdentity, CommitRequest, IdentityScope, LogRow, PullRequest};
use host::Dirs;
use host::environment::{self, Recipient};
use workbench::services::OpenGit;

use self::door::RepositoryAccess;
use self::failures::{of_git, of_staging, other};
use self::folder_state::{GitFolderState, ReadEnvironment};
use self::queues::on_thread;
use self::runs::RunOrder;
use self::ticks::TickMessage;

/// Returns the function that makes the service for the repositories of a folder. `engines` reach the model that drafts
/// messages.
pub(crate) fn services(dirs: Dirs, engines: Arc<EngineServices>) -> OpenGit {
    let environment: ReadEnvironment = Arc::new(|| environment::variables(Recipient::Personal));
    Arc::new(move |root| {
        let folder = GitFolderState::new(dirs.clone(), root.clone(), environment.clone());
        Arc::new(FolderGit {
            folder: Arc::new(folder),
            engines: Some(engines.clone()),
        })
    })
}

/// The repositories of one folder.
struct FolderGit {
    folder: Arc<GitFolderState>,
    engines: Option<Arc<EngineServices>>,
}

impl FolderGit {
    /// Runs a reading of a repository.
    fn read<T: Send + 'static>(
        &self,
        root: &AbsPath,
        read: impl FnOnce(&RepositoryAccess, &GitFolderState) -> Result<T, GitFailure> + Send + 'static,
    ) -> GitAnswer<T> {
        let (access, folder) = (self.folder.access(root), Arc::clone(&self.folder));
        on_thread(move || read(&access, &folder))
    }

    /// Runs a change of a repository after those that were asked for before.
    fn change<T: Send + 'static>(
        &self,
        root: &AbsPath,
        change: impl FnOnce(&RepositoryAccess, &GitFolderState) -> Result<T, GitFailure>
        + Send
        + 'static,
    ) -> GitAnswer<T> {
        let (access, folder) = (self.folder.access(root), Arc::clone(&self.folder));
        let queue = Arc::clone(&access);
        queue.changes.ask(move || {
            let _operation = folder.ticks.begin(&access.root);
            access.clear_stale_lock();
            change(&access, &folder)
        })
    }
}

impl GitService for FolderGit {
    fn repositories(&self) -> GitAnswer<Vec<GitRepository>> {
        let folder = Arc::clone(&self.folder);
        on_thread(move || Ok(folder.find_repositories()))
    }

    fn initialize(&self) -> GitAnswer<()> {
        let folder = Arc::clone(&self.folder);
        on_thread(move || {
            git::create_repository(&folder.root).map_err(of_git)?;
            folder.ticks.send(TickMessage::Changed(None));
            Ok(())
        })
    }

    fn changes(&self, repository: &AbsPath) -> GitAnswer<Changes> {
        let (access, folder) = (self.folder.access(repository), Arc::clone(&self.folder));
        let reading = Arc::clone(&access);
        access.status.ask(move || reads::changes(&reading, &folder))
    }

    fn changes_of(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<Vec<Change>> {
        self.read(repository, move |access, folder| {
            reads::changes_of(access, folder, &paths)
        })
    }

    fn file_diff(&self, repository: &AbsPath, request: DiffRequest) -> GitAnswer<Arc<FileDiff>> {
        self.read(repository, move |access, folder| {
            reads::file_diff(access, folder, &request).map(Arc::new)
        })
    }

    fn versions(&self, repository: &AbsPath) -> GitAnswer<Vec<NamedVersion>> {
        self.read(repository, compare::versions)
    }

    fn compared_files(
        &self,
        repository: &AbsPath,
        sides: TreeComparison,
    ) -> GitAnswer<Vec<ChangedPath>> {
        self.read(repository, move |access, folder| {
            compare::files(access, folder, &sides)
        })
    }

    fn compared_diff(
        &self,
        repository: &AbsPath,
        request: CompareRequest,
    ) -> GitAnswer<Arc<FileDiff>> {
        self.read(repository, move |access, folder| {
            compare::diff(access, folder, &request).map(Arc::new)
        })
    }

    fn stage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep> {
        if diff.side != Side::Unstaged {
            return future::ready(Err(other("only unstaged lines can be staged"))).boxed();
        }
        self.change(repository, move |access, folder| {
            staging::change_lines(access, folder, &diff, &lines)
        })
    }

    fn unstage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep> {
        if diff.side != Side::Staged {
            return future::ready(Err(other("only staged lines can be unstaged"))).boxed();
        }
        self.change(repository, move |access, folder| {
            staging::change_lines(access, folder, &diff, &lines)
        })
    }

    fn stage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep> {
        self.change(repository, move |access, folder| {
            staging::stage_files(access, folder, &paths)
        })
    }

    fn unstage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep> {
        self.change(repository, move |access, folder| {
            staging::unstage_files(access, folder, &paths)
        })
    }

    fn undo_staging(&self, repository: &AbsPath, step: StagingStep) -> GitAnswer<()> {
        self.change(repository, move |access, folder| {
            staging::undo(access, folder, step)
        })
    }

    fn discard_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<Vec<RowEdit>> {
        self.read(repository, move |_, _| {
            diff.discard_edits(&lines).map_err(of_staging)
        })
    }

    fn discard_file(&self, repository: &AbsPath, change: Change) -> GitAnswer<DiscardedFile> {
        self.change(repository, move |access, folder| {
            discard::discard_file(access, folder, &change)
        })
    }

    fn restore_discarded(&self, repository: &AbsPath, path: TreePath) -> GitAnswer<()> {
        self.change(repository, move |access, folder| {
            folder.discarded.restore(&access.root.join(path.to_path()))
        })
    }

    fn commit(&self, repository: &AbsPath, request: CommitRequest) -> GitRun {
        let (access, folder) = (self.folder.access(repository), Arc::clone(&self.folder));
        let settings = Arc::clone(&self.folder);
        runs::start(access, folder, RunOrder::Queued, move |context| {
            commands::commit(context, &settings, &request)
        })
    }

    fn run(&self, repository: &AbsPath, command: GitCommand) -> GitRun {
        let (access, folder) = (self.folder.access(repository), Arc::clone(&self.folder));
        let order = commands::order_of(&command);
        let state = Arc::clone(&self.folder);
        runs::start(access, folder, order, move |context| {
            commands::run(context, &state, command)
        })
    }

    fn identity(&self, repository: &AbsPath) -> GitAnswer<CommitIdentity> {
        self.read(repository, identity::read)
    }

    fn store_identity(
        &self,
        repository: &AbsPath,
        identity: CommitIdentity,
        scope: IdentityScope,
    ) -> GitAnswer<()> {
        self.change(repository, move |access, folder| {
            identity::store(access, folder, &identity, scope)
        })
    }

    fn rebase_plan(&self, repository: &AbsPath, first: Option<String>) -> GitAnswer<RebasePlan> {
        self.read(repository, move |access, folder| {
            rebase::plan(access, folder, first)
        })
    }

    fn commit_message(&self, repository: &AbsPath, id: String) -> GitAnswer<String> {
        self.read(repository, move |access, folder| {
            rebase::message(access, folder, &id)
        })
    }

    fn recent_commits(&self, repository: &AbsPath) -> GitAnswer<Vec<LogRow>> {
        self.read(repository, rebase::recent_commits)
    }

    fn bisect_state(&self, repository: &AbsPath) -> GitAnswer<BisectState> {
        self.read(repository, bisect::state)
    }

    fn pull_requests(&self, repository: &AbsPath) -> GitAnswer<Vec<PullRequest>> {
        self.read(repository, pull_requests::list)
    }

    fn branches(&self, repository: &AbsPath) -> GitAnswer<Vec<BranchSummary>> {
        self.read(repository, reads::branches)
    }

    fn last_message(&self, repository: &AbsPath) -> GitAnswer<String> {
        self.read(repository, reads::last_message)
    }

    fn draft(&self, repository: &AbsPath) -> GitAnswer<MessageDraft> {
        let (access, folder) = (self.folder.access(repository), Arc::clone(&self.folder));
        let drafts = Arc::clone(&self.folder);
        drafts
            .drafts
            .ask(move |files| reads::draft(&access, &folder, files))
    }

    fn store_draft(&self, repository: &AbsPath, text: String) -> GitAnswer<()> {
        self.folder.drafts.store(repository.clone(), text)
    }

    fn suggest_message(&self, repository: &AbsPath) -> GitAnswer<String> {
        let Some(engines) = self.engines.clone() else {
            return future::ready(Err(other("no model can draft messages here"))).boxed();
        };
        let (access, folder) = (self.folder.access(repository), Arc::clone(&self.folder));
        suggest::message(access, folder, engines)
    }

    fn watch(&self) -> Receiver<GitTick> {
        self.folder.ticks.subscribe()
    }

    fn files_changed(&self, paths: Option<Vec<AbsPath>>) {
        self.folder.ticks.send(TickMessage::Changed(paths));
    }

    fn prompts(&self) -> Receiver<GitPrompt> {
        self.folder.prompts.prompts()
    }
}
