//! A double for tests: repositories in memory, whose answers a test can hold back, reorder and replace by failures.

mod answers;
mod comparing;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_channel::{Receiver, Sender};
use base::AbsPath;
use futures::channel::oneshot;
use futures::future::FutureExt as _;
use git::BranchSummary;
use git::changes::{
    Change, ChangeGroup, ChangeKind, Changes, ConflictKind, HeadState, LineCounts, Operation,
};
use git::diff::{ChangedPath, TreeComparison};
use git::merge::{EntryMode, ObjectId, TreePath};
use git::staging::{FileDiff, LineSelection, RowEdit, Side};
use git_program::{BisectState, CommitIdentity, CommitRequest, IdentityScope, LogRow, PullRequest};

use self::answers::FakeAnswers;
use crate::service::{
    CompareRequest, DiffRequest, DiscardedFile, GitAnswer, GitCommand, GitFailure, GitFailureKind,
    GitOutcome, GitPrompt, GitRepository, GitRun, GitService, GitTick, MessageDraft, NamedVersion,
    RebasePlan, RepositoryRole, StagingStep,
};

/// Repositories in memory.
#[derive(Clone, Default)]
pub struct FakeGit(Arc<Mutex<FakeGitState>>);

#[derive(Default)]
struct FakeGitState {
    repositories: BTreeMap<AbsPath, FakeRepository>,
    /// The reason why the repositories cannot be listed.
    listing_failure: Option<GitFailure>,
    /// The failures of the next requests that change a repository.
    failures: Vec<GitFailure>,
    is_holding: bool,
    held: Vec<Box<dyn FnOnce() + Send>>,
    ticks: Vec<Sender<GitTick>>,
    prompts: Vec<Sender<GitPrompt>>,
    commits: Vec<CommitRequest>,
    commands: Vec<GitCommand>,
    drafts: BTreeMap<AbsPath, String>,
    steps: HashMap<u64, ReplacedIndex>,
    next_step: u64,
    trash: BTreeMap<(AbsPath, TreePath), String>,
    last_message: String,
    answers: FakeAnswers,
}

/// Contents of an index before a change.
type ReplacedIndex = Vec<(TreePath, Option<String>)>;

#[derive(Default)]
struct FakeRepository {
    files: BTreeMap<TreePath, FakeContents>,
    conflicts: BTreeSet<TreePath>,
    operation: Option<Operation>,
    /// The files of other commits than HEAD, by revision.
    commits: BTreeMap<String, BTreeMap<TreePath, String>>,
}

/// The contents of a file: in HEAD, in the index, in the working tree.
#[derive(Clone, Default)]
struct FakeContents {
    head: Option<String>,
    index: Option<String>,
    work: Option<String>,
}

fn failure(kind: GitFailureKind, sentence: &str) -> GitFailure {
    GitFailure {
        sentence: sentence.to_owned(),
        kind,
    }
}

fn bytes(text: Option<&String>) -> Option<Vec<u8>> {
    text.map(|text| text.as_bytes().to_vec())
}

impl FakeGit {
    fn lock(&self) -> MutexGuard<'_, FakeGitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a repository without files.
    pub fn add_repository(&self, root: &str) -> AbsPath {
        let root = AbsPath::new(root).expect("the caller gives an absolute path");
        let repository = FakeRepository::default();
        self.lock().repositories.insert(root.clone(), repository);
        root
    }

    /// Sets a file as it is in HEAD, in the index and in the working tree.
    pub fn set_contents(&self, root: &AbsPath, path: &str, contents: [Option<&str>; 3]) {
        let [head, index, work] = contents.map(|text| text.map(str::to_owned));
        let contents = FakeContents { head, index, work };
        let mut state = self.lock();
        let repository = state.repositories.entry(root.clone()).or_default();
        repository.files.insert(TreePath::new(path), contents);
    }

    /// Adds a conflict in a file, and an operation in progress.
    pub fn set_conflict(&self, root: &AbsPath, path: &str, operation: Operation) {
        let mut state = self.lock();
        let repository = state.repositories.entry(root.clone()).or_default();
        repository.conflicts.insert(TreePath::new(path));
        repository.operation = Some(operation);
    }

    /// Makes the list of repositories fail.
    pub fn fail_listing(&self, kind: GitFailureKind, sentence: &str) {
        self.lock().listing_failure = Some(failure(kind, sentence));
    }

    /// Makes the next request that changes a repository fail.
    pub fn fail_next(&self, kind: GitFailureKind, sentence: &str) {
        self.lock().failures.push(failure(kind, sentence));
    }

    /// Holds back the answers to requests that stage or unstage.
    pub fn hold_writes(&self) {
        self.lock().is_holding = true;
    }

    /// Carries out the requests that were held back, the latest first, and holds none back any more. Returns their number.
    pub fn release_writes(&self) -> usize {
        let held = {
            let mut state = self.lock();
            state.is_holding = false;
            std::mem::take(&mut state.held)
        };
        let count = held.len();
        held.into_iter().rev().for_each(|job| job());
        count
    }

    /// Reports a change.
    pub fn send_tick(&self, tick: &GitTick) {
        for sender in &self.lock().ticks {
            // A closed panel listens no longer.
            sender.try_send(tick.clone()).ok();
        }
    }

    /// Asks the user.
    pub fn send_prompt(&self, prompt: GitPrompt) {
        if let Some(sender) = self.lock().prompts.last() {
            sender.try_send(prompt).expect("the panel listens");
        }
    }

    /// Returns the content of a file in the index.
    pub fn indexed(&self, root: &AbsPath, path: &str) -> Option<String> {
        let state = self.lock();
        let files = &state.repositories.get(root)?.files;
        files.get(&TreePath::new(path))?.index.clone()
    }

    /// Returns the commits that were asked for.
    pub fn commits(&self) -> Vec<CommitRequest> {
        self.lock().commits.clone()
    }

    /// Returns the commands that were asked for.
    pub fn take_git_commands(&self) -> Vec<GitCommand> {
        std::mem::take(&mut self.lock().commands)
    }

    /// Returns the stored message of a repository.
    pub fn stored_draft(&self, root: &AbsPath) -> Option<String> {
        self.lock().drafts.get(root).cloned()
    }

    fn ready<T: Send + 'static>(answer: Result<T, GitFailure>) -> GitAnswer<T> {
        futures::future::ready(answer).boxed()
    }

    fn read<T: Send + 'static>(
        &self,
        root: &AbsPath,
        read: impl FnOnce(&FakeRepository) -> Result<T, GitFailure>,
    ) -> GitAnswer<T> {
        let state = self.lock();
        Self::ready(match state.repositories.get(root) {
            Some(repository) => read(repository),
            None => Err(failure(GitFailureKind::NoRepository, "no repository")),
        })
    }

    /// Changes a repository now, or when held answers are released.
    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut FakeGitState) -> Result<T, GitFailure> + Send + 'static,
    ) -> GitAnswer<T> {
        let (sender, answer) = oneshot::channel();
        let shared = self.clone();
        let job = move || {
            let written = {
                let mut state = shared.lock();
                match state.failures.pop() {
                    Some(failure) => Err(failure),
                    None => work(&mut state),
                }
            };
            // A closed panel waits no longer.
            sender.send(written).ok();
        };
        let is_holding = self.lock().is_holding;
        if is_holding {
            self.lock().held.push(Box::new(job));
        } else {
            job();
        }
        let answer = answer.map(|answer| {
            answer.unwrap_or_else(|_| Err(failure(GitFailureKind::Cancelled, "cancelled")))
        });
        answer.boxed()
    }

    fn call(&self, outcome: Result<String, GitFailure>) -> GitRun {
        let (sender, output) = async_channel::unbounded();
        if let Err(GitFailure {
            kind: GitFailureKind::HookFailed(hook),
            ..
        }) = &outcome
        {
            let log = hook.log.as_bytes().to_vec();
            sender.try_send(log).expect("the channel is open");
        }
        let outcome = outcome.map(|sentence| GitOutcome {
            sentence,
            conflicts: Vec::new(),
        });
        GitRun {
            output,
            outcome: Self::ready(outcome),
            cancel: Box::new(|| {}),
        }
    }
}

impl FakeGitState {
    /// Replaces contents of an index; returns the step by which that is undone.
    fn set_index(&mut self, root: &AbsPath, contents: ReplacedIndex) -> StagingStep {
        let repository = self.repositories.entry(root.clone()).or_default();
        let mut before = Vec::new();
        for (path, content) in contents {
            repository.conflicts.remove(&path);
            let file = repository.files.entry(path.clone()).or_default();
            before.push((path, std::mem::replace(&mut file.index, content)));
        }
        self.next_step += 1;
        self.steps.insert(self.next_step, before);
        StagingStep(self.next_step)
    }

    fn contents(&self, root: &AbsPath, path: &TreePath) -> FakeContents {
        let repository = self.repositories.get(root);
        let contents = repository.and_then(|it| it.files.get(path));
        contents.cloned().unwrap_or_default()
    }

    fn commit_index(&mut self, root: &AbsPath) {
        let repository = self.repositories.entry(root.clone()).or_default();
        for file in repository.files.values_mut() {
            file.head.clone_from(&file.index);
        }
        repository.operation = None;
    }
}

impl FakeRepository {
    fn changes(&self) -> Changes {
        let mut entries = Vec::new();
        for (path, file) in &self.files {
            if self.conflicts.contains(path) {
                let kind = ChangeKind::Conflicted(ConflictKind::BothModified);
                entries.push(change(path, ChangeGroup::Conflicts, kind, None));
                continue;
            }
            let staged = kind_of(file.head.as_ref(), file.index.as_ref());
            if let Some(kind) = staged {
                let lines = counts(path, file.head.as_ref(), file.index.as_ref());
                entries.push(change(path, ChangeGroup::Staged, kind, Some(lines)));
            }
            let unstaged = kind_of(file.index.as_ref(), file.work.as_ref());
            if let Some(kind) = unstaged {
                let (group, kind) = match kind {
                    ChangeKind::Added => (ChangeGroup::Untracked, ChangeKind::Untracked),
                    kind => (ChangeGroup::Unstaged, kind),
                };
                let lines = counts(path, file.index.as_ref(), file.work.as_ref());
                entries.push(change(path, group, kind, Some(lines)));
            }
        }
        entries.sort_by(|one, two| (one.group, &one.path).cmp(&(two.group, &two.path)));
        Changes {
            entries,
            head: HeadState::Branch {
                name: "main".to_owned(),
                commit: ObjectId::of_blob(b"head"),
            },
            operation: self.operation.clone(),
            upstream: None,
        }
    }
}

fn kind_of(before: Option<&String>, after: Option<&String>) -> Option<ChangeKind> {
    match (before, after) {
        (None, Some(_)) => Some(ChangeKind::Added),
        (Some(_), None) => Some(ChangeKind::Deleted),
        (before, after) => (before != after).then_some(ChangeKind::Modified),
    }
}

fn content(bytes: Option<Vec<u8>>) -> Option<(EntryMode, Vec<u8>)> {
    bytes.map(|bytes| (EntryMode::Plain, bytes))
}

fn counts(path: &TreePath, before: Option<&String>, after: Option<&String>) -> LineCounts {
    let diff = FileDiff::of_contents(
        path,
        Side::Unstaged,
        content(bytes(before)),
        content(bytes(after)),
    );
    let mut counts = LineCounts::default();
    for hunk in &diff.hunks {
        counts.added += hunk.work.len();
        counts.removed += hunk.base.len();
    }
    counts
}

fn change(
    path: &TreePath,
    group: ChangeGroup,
    kind: ChangeKind,
    lines: Option<LineCounts>,
) -> Change {
    Change {
        group,
        path: path.clone(),
        old_path: None,
        kind,
        note: None,
        lines,
    }
}

impl GitService for FakeGit {
    fn repositories(&self) -> GitAnswer<Vec<GitRepository>> {
        let state = self.lock();
        let roots = state.repositories.keys().cloned().enumerate();
        let listed = roots.map(|(ix, root)| GitRepository {
            name: root.name(),
            root,
            role: if ix == 0 {
                RepositoryRole::Main
            } else {
                RepositoryRole::Nested
            },
        });
        Self::ready(match &state.listing_failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(listed.collect()),
        })
    }

    fn initialize(&self) -> GitAnswer<()> {
        self.add_repository("/p");
        Self::ready(Ok(()))
    }

    fn changes(&self, repository: &AbsPath) -> GitAnswer<Changes> {
        self.read(repository, |repository| Ok(repository.changes()))
    }

    fn changes_of(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<Vec<Change>> {
        self.read(repository, |repository| {
            let entries = repository.changes().entries.into_iter();
            Ok(entries.filter(|it| paths.contains(&it.path)).collect())
        })
    }

    fn file_diff(&self, repository: &AbsPath, request: DiffRequest) -> GitAnswer<Arc<FileDiff>> {
        let DiffRequest { path, side, buffer } = request;
        self.read(repository, |repository| {
            let file = repository.files.get(&path).cloned().unwrap_or_default();
            let (base, work) = match side {
                Side::Staged => (bytes(file.head.as_ref()), bytes(file.index.as_ref())),
                Side::Unstaged => {
                    let work = buffer.or_else(|| bytes(file.work.as_ref()));
                    (bytes(file.index.as_ref()), work)
                }
            };
            Ok(Arc::new(FileDiff::of_contents(
                &path,
                side,
                content(base),
                content(work),
            )))
        })
    }

    fn versions(&self, repository: &AbsPath) -> GitAnswer<Vec<NamedVersion>> {
        self.read(repository, |repository| Ok(repository.versions()))
    }

    fn compared_files(
        &self,
        repository: &AbsPath,
        sides: TreeComparison,
    ) -> GitAnswer<Vec<ChangedPath>> {
        self.read(repository, |repository| {
            Ok(repository.compared_files(&sides))
        })
    }

    fn compared_diff(
        &self,
        repository: &AbsPath,
        request: CompareRequest,
    ) -> GitAnswer<Arc<FileDiff>> {
        self.read(repository, |repository| {
            Ok(repository.compared_diff(request))
        })
    }

    fn stage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep> {
        let root = repository.clone();
        self.write(move |state| {
            let index = state.contents(&root, &diff.path).index;
            if bytes(index.as_ref()).unwrap_or_default() != *diff.base {
                return Err(failure(GitFailureKind::Outdated, "the index changed"));
            }
            let text = String::from_utf8_lossy(&diff.with_lines(&lines)).into_owned();
            Ok(state.set_index(&root, vec![(diff.path.clone(), Some(text))]))
        })
    }

    fn unstage_lines(
        &self,
        repository: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<StagingStep> {
        let root = repository.clone();
        self.write(move |state| {
            let text = String::from_utf8_lossy(&diff.without_lines(&lines)).into_owned();
            Ok(state.set_index(&root, vec![(diff.path.clone(), Some(text))]))
        })
    }

    fn stage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep> {
        let root = repository.clone();
        self.write(move |state| {
            let contents = paths.into_iter().map(|path| {
                let work = state.contents(&root, &path).work;
                (path, work)
            });
            let contents = contents.collect();
            Ok(state.set_index(&root, contents))
        })
    }

    fn unstage_files(&self, repository: &AbsPath, paths: Vec<TreePath>) -> GitAnswer<StagingStep> {
        let root = repository.clone();
        self.write(move |state| {
            let contents = paths.into_iter().map(|path| {
                let head = state.contents(&root, &path).head;
                (path, head)
            });
            let contents = contents.collect();
            Ok(state.set_index(&root, contents))
        })
    }

    fn undo_staging(&self, repository: &AbsPath, step: StagingStep) -> GitAnswer<()> {
        let root = repository.clone();
        self.write(move |state| {
            let before = state.steps.remove(&step.0).unwrap_or_default();
            state.set_index(&root, before);
            Ok(())
        })
    }

    fn discard_lines(
        &self,
        _: &AbsPath,
        diff: Arc<FileDiff>,
        lines: LineSelection,
    ) -> GitAnswer<Vec<RowEdit>> {
        let all = base::Row(0);
        let rows = u32::try_from(diff.work.split_inclusive(|it| *it == b'\n').count());
        let end = base::Row(rows.unwrap_or(u32::MAX));
        Self::ready(Ok(vec![RowEdit {
            rows: text::RowSpan { start: all, end },
            text: diff.without_lines(&lines),
        }]))
    }

    fn discard_file(&self, repository: &AbsPath, change: Change) -> GitAnswer<DiscardedFile> {
        let root = repository.clone();
        self.write(move |state| {
            let contents = state.contents(&root, &change.path);
            let files = state.repositories.entry(root.clone()).or_default();
            let file = files.files.entry(change.path.clone()).or_default();
            if change.group == ChangeGroup::Untracked {
                let work = file.work.take().unwrap_or_default();
                state.trash.insert((root, change.path), work);
                return Ok(DiscardedFile::Trashed);
            }
            if file.work.is_none() {
                file.work = contents.index;
                return Ok(DiscardedFile::Restored);
            }
            let indexed = bytes(contents.index.as_ref()).unwrap_or_default();
            Ok(DiscardedFile::Replace(indexed))
        })
    }

    fn restore_discarded(&self, repository: &AbsPath, path: TreePath) -> GitAnswer<()> {
        let root = repository.clone();
        self.write(move |state| {
            let work = state.trash.remove(&(root.clone(), path.clone()));
            let files = state.repositories.entry(root).or_default();
            files.files.entry(path).or_default().work = work;
            Ok(())
        })
    }

    fn commit(&self, repository: &AbsPath, request: CommitRequest) -> GitRun {
        let outcome = {
            let mut state = self.lock();
            state.commits.push(request.clone());
            match state.failures.pop() {
                Some(failure) => Err(failure),
                None => {
                    state.commit_index(repository);
                    state.last_message = request.message.unwrap_or_default();
                    Ok("Committed".to_owned())
                }
            }
        };
        self.call(outcome)
    }

    fn run(&self, _: &AbsPath, command: GitCommand) -> GitRun {
        let outcome = {
            let mut state = self.lock();
            state.commands.push(command);
            state.failures.pop().map_or(Ok("Done".to_owned()), Err)
        };
        self.call(outcome)
    }

    fn identity(&self, _: &AbsPath) -> GitAnswer<CommitIdentity> {
        Self::ready(Ok(self.lock().answers.identity.clone()))
    }

    fn store_identity(
        &self,
        _: &AbsPath,
        identity: CommitIdentity,
        scope: IdentityScope,
    ) -> GitAnswer<()> {
        self.write(move |state| {
            state.answers.store_identity(identity, scope);
            Ok(())
        })
    }

    fn rebase_plan(&self, _: &AbsPath, first: Option<String>) -> GitAnswer<RebasePlan> {
        Self::ready(self.lock().answers.rebase_plan(first))
    }

    fn commit_message(&self, _: &AbsPath, id: String) -> GitAnswer<String> {
        Self::ready(Ok(self.lock().answers.commit_message(&id)))
    }

    fn recent_commits(&self, _: &AbsPath) -> GitAnswer<Vec<LogRow>> {
        Self::ready(Ok(self.lock().answers.commits.clone()))
    }

    fn bisect_state(&self, _: &AbsPath) -> GitAnswer<BisectState> {
        Self::ready(Ok(self.lock().answers.bisect_state()))
    }

    fn pull_requests(&self, _: &AbsPath) -> GitAnswer<Vec<PullRequest>> {
        Self::ready(self.lock().answers.pull_requests())
    }

    fn branches(&self, _: &AbsPath) -> GitAnswer<Vec<BranchSummary>> {
        Self::ready(Ok(Vec::new()))
    }

    fn last_message(&self, _: &AbsPath) -> GitAnswer<String> {
        Self::ready(Ok(self.lock().last_message.clone()))
    }

    fn suggest_message(&self, _: &AbsPath) -> GitAnswer<String> {
        Self::ready(Ok("Suggested".to_owned()))
    }

    fn files_changed(&self, _: Option<Vec<AbsPath>>) {
        let roots: Vec<AbsPath> = self.lock().repositories.keys().cloned().collect();
        for root in roots {
            self.send_tick(&GitTick::Repository(root));
        }
    }

    fn draft(&self, repository: &AbsPath) -> GitAnswer<MessageDraft> {
        let text = self.lock().drafts.get(repository).cloned();
        Self::ready(Ok(MessageDraft {
            text: text.unwrap_or_default(),
            is_template: false,
        }))
    }

    fn store_draft(&self, repository: &AbsPath, text: String) -> GitAnswer<()> {
        self.lock().drafts.insert(repository.clone(), text);
        Self::ready(Ok(()))
    }

    fn watch(&self) -> Receiver<GitTick> {
        let (sender, receiver) = async_channel::unbounded();
        self.lock().ticks.push(sender);
        receiver
    }

    fn prompts(&self) -> Receiver<GitPrompt> {
        let (sender, receiver) = async_channel::unbounded();
        self.lock().prompts.push(sender);
        receiver
    }
}
