//! The worktrees of a repository's jobs, with the histories of their changes.
//!
//! A worktree is leased while a job needs it. One whose work landed as a whole is retired, and
//! restored on demand.
//! Start at `JobWorktrees::open`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{AbsPath, LogErr, count_of};
use futures::future::BoxFuture;
use host::{Clock as _, Dirs, FileLock, Files as _, RealClock, RealFiles};
use worktree::{Discard, Lease, LeaseId, PoolSettings, WorktreePool};

use crate::Error;
use crate::board::{WorktreeProvider, WorktreeRequest};
use crate::change_history::{
    BaseCommit as _, CallGate, ChangeAuthor, ChangeHistory, ChangeHistoryOptions, GitBase,
    TreeWatchers,
};
use crate::job::{HandOverTarget, JobStatus, JobWorktree};
use crate::retention_recorder::FollowedText;
use crate::work::{CommitId, SessionWork};

/// The worktrees of one repository. Clones share them.
#[derive(Clone)]
pub struct JobWorktrees(Arc<JobWorktreesShared>);

struct JobWorktreesShared {
    pool: WorktreePool,
    main_repo: AbsPath,
    /// The Git folder of the main repository.
    git_dir: AbsPath,
    /// The folder for landings, change histories and other records of the repository.
    folder: AbsPath,
    /// The program that Git runs to learn which files of a lease changed.
    monitor: Option<AbsPath>,
    watchers: TreeWatchers,
    /// The leases that this program holds, by name.
    held: Mutex<HashMap<String, Lease>>,
    /// Held while this program has the board open.
    board_lock: Mutex<Option<FileLock>>,
    gates: Mutex<HashMap<AbsPath, CallGate>>,
    /// Results of landings that a killed program left unfinished, not reported yet.
    notices: Mutex<Vec<String>>,
    /// Held while a change history is opened.
    opening: Mutex<()>,
}

/// The access to a worktree that the sandbox of its session needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeAccess {
    /// The root of the worktree.
    pub root: AbsPath,
    /// The Git folder of the worktree.
    pub git_dir: AbsPath,
    /// Paths outside the worktree that its commands read.
    pub readable: Vec<AbsPath>,
    /// Environment variables of its commands.
    pub variables: Vec<(OsString, OsString)>,
}

impl JobWorktrees {
    /// Opens the worktrees of the repository around `folder`, with the records in `dirs`. Does not
    /// lease a worktree. Blocks on the disk. Fails if there is no repository.
    pub fn open(
        dirs: &Dirs,
        folder: &AbsPath,
        settings: PoolSettings,
        watchers: TreeWatchers,
    ) -> Result<Self, Error> {
        let repository = git::Repository::discover(folder).map_err(|_| {
            Error::NotFound(format!(
                "{folder} is in no git repository, and agents work in worktrees of one: run `git init` and commit \
                 something first"
            ))
        })?;
        let main_repo = RealFiles.canonicalize(repository.workdir())?;
        let git_dir = repository
            .git_dir()
            .ok_or_else(|| Error::NotFound(format!("{main_repo} has no git folder")))?;
        let monitor = settings.monitor.clone().and_then(AbsPath::new);
        let pool = WorktreePool::open(&main_repo, &dirs.state, settings)?;
        let hash = host::ContentHash::of(main_repo.to_string().as_bytes()).0;
        let folder = dirs.state.join(format!("composer/{hash:032x}"));
        RealFiles.create_folder(&folder)?;
        Ok(Self(Arc::new(JobWorktreesShared {
            pool,
            main_repo,
            git_dir,
            folder,
            monitor,
            watchers,
            held: Mutex::default(),
            board_lock: Mutex::default(),
            gates: Mutex::default(),
            notices: Mutex::default(),
            opening: Mutex::default(),
        })))
    }

    /// The user's main checkout.
    pub fn main_repo(&self) -> &AbsPath {
        &self.0.main_repo
    }

    /// The folder for landings and the other records of this repository.
    pub fn folder(&self) -> &AbsPath {
        &self.0.folder
    }

    /// Locks the board for this process until `unlock_board` or the end of the process. Fails with
    /// `Error::Busy` if another process holds the lock.
    pub fn lock_board(&self) -> Result<(), Error> {
        let lock = RealFiles.lock(&self.0.folder.join("board.lock"))?;
        let lock = lock.ok_or_else(|| {
            Error::Busy(format!(
                "another Burin has agents at work on {}; wait until it has ended, or use it",
                self.0.main_repo
            ))
        })?;
        *lock_of(&self.0.board_lock) = Some(lock);
        // Retires worktrees of landings whose program ended before it could do so.
        self.0.pool.retire_landed()?;
        Ok(())
    }

    /// Releases every lease; a worktree whose work has landed completely is retired, and restored
    /// on demand. Blocks on the disk.
    pub fn unlock_board(&self) {
        self.0.release_leases();
    }

    /// Keeps the results of recovered landings until they are reported.
    pub(crate) fn add_notices(&self, notices: Vec<String>) {
        lock_of(&self.0.notices).extend(notices);
    }

    /// Removes and returns the results of recovered landings, as sentences. A second call returns
    /// an empty list.
    pub(crate) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut lock_of(&self.0.notices))
    }

    /// Records that all work in a job's worktree has landed. The worktree is retired at once, or
    /// with the board if this program has it open, because a session may still use it. Blocks on
    /// the disk.
    pub(crate) fn record_landed(
        &self,
        worktree: &JobWorktree,
        tree: &str,
        commit: &str,
    ) -> Result<(), Error> {
        let id = lease_id(&worktree.lease)?;
        self.0.pool.note_whole(&id, tree, commit)?;
        if let Err(error) = self.follow_landed(worktree, commit) {
            log::warn!(
                "the texts that landed from {} are not followed: {error}",
                worktree.lease
            );
        }
        if lock_of(&self.0.board_lock).is_some() {
            return Ok(());
        }
        self.unwatch(&worktree.root()?);
        let lease = lock_of(&self.0.held).remove(&worktree.lease);
        if let Some(mut lease) = lease {
            self.0.pool.retire(&mut lease)?;
        }
        Ok(())
    }

    /// Has the texts of agents in a worktree followed in the user's checkout, where they landed with a commit.
    fn follow_landed(&self, worktree: &JobWorktree, commit: &str) -> Result<(), Error> {
        let Some(recorder) = self.0.watchers.recorder() else {
            return Ok(());
        };
        let (root, main_repo) = (worktree.root()?, &self.0.main_repo);
        let paths = recorder.followed(&root);
        if paths.is_empty() {
            return Ok(());
        }
        let index = self.0.git_dir.join("index");
        let base = GitBase::open(main_repo, &self.0.git_dir, &index, commit)?;
        let files = base.files()?;
        let mut landed = Vec::new();
        for path in paths {
            let content = match files.get(&path) {
                Some(version) => base.content(&version.id)?,
                None => None,
            };
            landed.push((path, FollowedText::of(content)));
        }
        // Changes in the checkout are seen while its log is open.
        let is_observed = self.0.watchers.authored(main_repo).is_some();
        let now_ms = RealClock::default().wall_ms();
        recorder.land((&root, main_repo), &landed, is_observed, now_ms);
        Ok(())
    }

    /// The change history of a job's worktree, opened if necessary. Blocks on the disk.
    pub fn history(&self, worktree: &JobWorktree) -> Result<Arc<Mutex<ChangeHistory>>, Error> {
        // A starting session and a scan may get here at the same time.
        let _opening = lock_of(&self.0.opening);
        self.acquire(&worktree.lease)?;
        let root = worktree.root()?;
        if let Some(history) = self.0.watchers.authored(&root) {
            return Ok(history);
        }
        let index = worktree.git_dir()?.join("index");
        let base = GitBase::open(&root, &self.0.git_dir, &index, &worktree.base)?;
        let options = ChangeHistoryOptions {
            root: root.clone(),
            base: Box::new(base),
            folder: self.0.folder.join(format!("trees/{}", worktree.lease)),
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
        };
        let history = ChangeHistory::open(options, ChangeAuthor::Person)?;
        let history = Arc::new(Mutex::new(history));
        let gate = self.0.watchers.add(history.clone());
        lock_of(&self.0.gates).insert(root, gate);
        Ok(history)
    }

    /// The changes of the user's own checkout since `commit`. Blocks on the disk.
    fn checkout_history(&self, commit: &str) -> Result<ChangeHistory, Error> {
        let index = self.0.git_dir.join("index");
        let base = GitBase::open(&self.0.main_repo, &self.0.git_dir, &index, commit)?;
        let options = ChangeHistoryOptions {
            root: self.0.main_repo.clone(),
            base: Box::new(base),
            // One log per commit, because a hand-over onto one commit means nothing on another.
            folder: self.0.folder.join(format!("checkout/{commit}")),
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
        };
        ChangeHistory::open(options, ChangeAuthor::Person)
    }

    /// Starts watching a worktree, so that its changes are recorded with authors. Returns the gate
    /// for tool calls in this worktree. Opens the change history if necessary.
    pub async fn watch(&self, worktree: &JobWorktree) -> Result<CallGate, Error> {
        let (this, watched) = (self.clone(), worktree.clone());
        blocking(move || this.history(&watched).map(drop)).await?;
        let root = worktree.root()?;
        let gates = lock_of(&self.0.gates);
        let gate = gates.get(&root).cloned();
        gate.ok_or_else(|| Error::WrongState(format!("{root} is not watched")))
    }

    fn unwatch(&self, root: &AbsPath) {
        self.0.watchers.remove(root);
        lock_of(&self.0.gates).remove(root);
    }

    /// The access that a session in the worktree needs. Blocks on the disk.
    pub fn access(&self, worktree: &JobWorktree) -> Result<WorktreeAccess, Error> {
        self.acquire(&worktree.lease)?;
        let held = lock_of(&self.0.held);
        let lease = held.get(&worktree.lease);
        let mut readable = vec![self.0.git_dir.clone()];
        // Git runs the monitor program to ask for the changes in that layer.
        if let Some(layer) = lease.and_then(Lease::layer) {
            readable.extend(self.0.monitor.clone());
            readable.push(layer);
        }
        Ok(WorktreeAccess {
            root: worktree.root()?,
            git_dir: worktree.git_dir()?,
            readable,
            variables: lease.map(Lease::env).unwrap_or_default(),
        })
    }

    /// Returns the work of a job's session, under the id of the session, or under the id of the job
    /// if it has no session. Blocks on the disk.
    pub fn session_work(&self, job: &JobStatus) -> Result<SessionWork, Error> {
        let worktree = job.worktree()?;
        self.acquire(&worktree.lease)?;
        Ok(SessionWork {
            session: job.session.clone().unwrap_or_else(|| job.job.clone()),
            title: format!("{} {}", job.job, job.task.title),
            root: worktree.root()?,
            git_dir: worktree.git_dir()?,
            base: CommitId(worktree.base.clone()),
        })
    }

    /// Acquires an existing lease; a retired one is restored. Blocks on the disk.
    pub fn acquire(&self, lease: &str) -> Result<(), Error> {
        let mut held = lock_of(&self.0.held);
        if held.contains_key(lease) {
            return Ok(());
        }
        let acquired = match self.0.pool.take_over(&lease_id(lease)?) {
            // It landed and was retired; a program that restored it was killed meanwhile.
            Err(worktree::Error::Unknown(_) | worktree::Error::Unready(_)) => {
                self.0.pool.restore(lease).map_err(|error| match error {
                    worktree::Error::Refused(_) => Error::NotFound(format!(
                        "the worktree {lease} is gone: its folder was removed or released, and nothing of it is \
                         archived"
                    )),
                    other => other.into(),
                })
            }
            acquired => acquired.map_err(Error::from),
        };
        held.insert(lease.to_owned(), acquired?);
        Ok(())
    }

    /// Leases a worktree and merges the work of `request.start_from` into it. Fails if the pool
    /// cannot make one, or if that work conflicts; the worktree stays leased then.
    fn lease_blocking(&self, request: &WorktreeRequest) -> Result<JobWorktree, Error> {
        let leases = self.0.pool.lease(worktree::LeaseRequest {
            count: 1,
            is_kept: false,
            with_changes: false,
        })?;
        let lease = leases.into_iter().next();
        let lease = lease.ok_or_else(|| Error::Failed("no worktree was made".to_owned()))?;
        let worktree = JobWorktree {
            lease: lease.id.to_string(),
            root: lease.root.to_string(),
            git_dir: lease.git_dir.to_string(),
            base: lease.base.clone(),
            branch: lease.branch.clone(),
        };
        lock_of(&self.0.held).insert(worktree.lease.clone(), lease);
        if !request.start_from.is_empty() {
            self.transfer_from(&request.start_from, &worktree)?;
        }
        Ok(worktree)
    }

    /// Merges the work in other worktrees into a new one.
    fn transfer_from(&self, sources: &[JobWorktree], to: &JobWorktree) -> Result<(), Error> {
        let history = self.history(to)?;
        let mut history = lock_of(&history);
        for source in sources {
            let other = self.history(source)?;
            match history.transfer_from(&mut lock_of(&other)) {
                Ok(_) | Err(Error::NothingToUndo) => {}
                Err(error) => {
                    return Err(Error::Failed(format!(
                        "the work of {} cannot be begun with: {error}",
                        source.lease
                    )));
                }
            }
        }
        Ok(())
    }

    /// Stops watching a worktree and gives it back to the pool, which removes it. Fails if it holds
    /// work that exists nowhere else; its lease is kept then.
    fn release_blocking(&self, worktree: &JobWorktree) -> Result<(), Error> {
        let root = worktree.root()?;
        self.acquire(&worktree.lease)?;
        self.unwatch(&root);
        let lease = lock_of(&self.0.held).remove(&worktree.lease);
        let Some(mut lease) = lease else {
            return Ok(());
        };
        if let Err(error) = self.0.pool.give_back(&mut lease, Discard::Nothing) {
            lock_of(&self.0.held).insert(worktree.lease.clone(), lease);
            return Err(error.into());
        }
        Ok(())
    }

    /// Copies work between the checkout and a worktree; `to` is the target. Returns a sentence
    /// about the result. If there are conflicts, fails before it writes any file. Blocks on the
    /// disk.
    pub fn hand_over_blocking(
        &self,
        worktree: &JobWorktree,
        to: HandOverTarget,
    ) -> Result<String, Error> {
        let history = self.history(worktree)?;
        let mut history = lock_of(&history);
        let mut checkout = self.checkout_history(&worktree.base)?;
        let (copied, target) = match to {
            HandOverTarget::User => (checkout.transfer_from(&mut history), "your checkout"),
            HandOverTarget::Agent => (
                history.transfer_from(&mut checkout),
                worktree.lease.as_str(),
            ),
        };
        match copied {
            Ok(copied) => Ok(format!(
                "{} {} handed over to {target}: {}",
                count_of(copied.paths.len(), "file"),
                if copied.paths.len() == 1 {
                    "was"
                } else {
                    "were"
                },
                copied.paths.join(", ")
            )),
            Err(Error::NothingToUndo) => Ok(format!("{target} already has all of it")),
            Err(error) => Err(Error::Failed(error.to_string().replace("undone", "copied"))),
        }
    }
}

impl JobWorktreesShared {
    fn release_leases(&self) {
        for mut lease in std::mem::take(&mut *lock_of(&self.held)).into_values() {
            self.watchers.remove(&lease.root);
            lock_of(&self.gates).remove(&lease.root);
            // A worktree that cannot be retired now is checked when the board is opened next.
            self.pool.retire(&mut lease).log_err();
        }
    }
}

impl Drop for JobWorktreesShared {
    fn drop(&mut self) {
        self.release_leases();
    }
}

impl WorktreeProvider for JobWorktrees {
    fn lease(&self, request: WorktreeRequest) -> BoxFuture<'static, Result<JobWorktree, Error>> {
        let this = self.clone();
        Box::pin(blocking(move || this.lease_blocking(&request)))
    }

    fn release(&self, worktree: JobWorktree) -> BoxFuture<'static, Result<(), Error>> {
        let this = self.clone();
        Box::pin(blocking(move || this.release_blocking(&worktree)))
    }

    fn hand_over(
        &self,
        worktree: JobWorktree,
        to: HandOverTarget,
    ) -> BoxFuture<'static, Result<String, Error>> {
        let this = self.clone();
        Box::pin(blocking(move || this.hand_over_blocking(&worktree, to)))
    }
}

/// Parses the id of a lease; fails with `Unreadable` if it is invalid.
fn lease_id(lease: &str) -> Result<LeaseId, Error> {
    LeaseId::parse(lease)
        .ok_or_else(|| Error::Unreadable(format!("{lease} is not the name of a worktree")))
}

/// Runs `act` on a thread that may block. Fails with `Aborted` if `act` panics.
async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| {
        Err(Error::Aborted(format!(
            "the worktrees could not be reached: {error}"
        )))
    })
}

/// Locks a mutex. A poisoned lock is safe here: its state is checked again before use.
pub fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
