//! The worktrees of a repository's agents, and the authors of their changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sandbox_policy;
use base::{AbsPath, LogErr, count_of};
use composer::board::{HandOverTarget, JobWorktree, WorktreeProvider, WorktreeRequest};
use composer::change_history::{
    CallGate, ChangeAuthor, ChangeHistory, ChangeHistoryOptions, GitBase, TreeWatchers,
};
use composer::checkpoint::UndoError;
use futures::future::BoxFuture;
use host::{Dirs, FileLock, Files as _, RealClock, RealFiles};
use worktree::{Discard, Lease, LeaseId, WorktreePool};

/// The worktrees of one repository. Clones are the same.
#[derive(Clone)]
pub struct JobWorktrees(Arc<JobWorktreesShared>);

struct JobWorktreesShared {
    pool: WorktreePool,
    main_repo: AbsPath,
    /// The hub's git folder.
    repository: AbsPath,
    /// The folder with the change logs of the worktrees.
    folder: AbsPath,
    watchers: TreeWatchers,
    /// Leases that are held, by their names.
    held: Mutex<HashMap<String, Lease>>,
    /// Taken by the program that has the board open.
    claim: Mutex<Option<FileLock>>,
    gates: Mutex<HashMap<AbsPath, CallGate>>,
    /// Outcomes of landings that a killed program left behind, not reported yet.
    notices: Mutex<Vec<String>>,
    /// Held while the changes of a tree are opened.
    opening: Mutex<()>,
}

impl JobWorktrees {
    /// The worktrees of the repository around a folder.
    pub fn open(dirs: &Dirs, folder: &AbsPath, watchers: TreeWatchers) -> Result<Self, String> {
        let repository = git::Repository::discover(folder).map_err(|_| {
            format!(
                "{folder} is in no git repository, and agents work in worktrees of one: run `git init` and commit \
                 something first"
            )
        })?;
        let hub = RealFiles
            .canonicalize(repository.workdir())
            .map_err(|error| error.to_string())?;
        let git_dir = repository
            .git_dir()
            .ok_or_else(|| format!("{hub} has no git folder"))?;
        let pool = WorktreePool::open(&hub, &dirs.state, crate::lease_settings());
        let pool = pool.map_err(|error| error.to_string())?;
        let mark = host::ContentHash::of(hub.to_string().as_bytes()).0;
        let folder = dirs.state.join(format!("composer/{mark:032x}"));
        RealFiles
            .create_folder(&folder)
            .map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(JobWorktreesShared {
            pool,
            main_repo: hub,
            repository: git_dir,
            folder,
            watchers,
            held: Mutex::default(),
            claim: Mutex::default(),
            gates: Mutex::default(),
            notices: Mutex::default(),
            opening: Mutex::default(),
        })))
    }

    /// Returns the user's main checkout.
    pub fn main_repo(&self) -> &AbsPath {
        &self.0.main_repo
    }

    /// Returns the pool of worktrees.
    pub fn pool(&self) -> &WorktreePool {
        &self.0.pool
    }

    /// Returns the folder for landings and the other records of this repository.
    pub fn folder(&self) -> &AbsPath {
        &self.0.folder
    }

    /// Takes the board for this program.
    pub fn lock_board(&self) -> Result<(), String> {
        let lock = RealFiles.lock(&self.0.folder.join("board.lock"));
        let lock = lock.map_err(|error| error.to_string())?;
        let lock = lock.ok_or_else(|| {
            format!(
                "another Burin has agents at work on {}; wait until it has ended, or use it",
                self.0.main_repo
            )
        })?;
        *lock_of(&self.0.claim) = Some(lock);
        // Retires worktrees of landings whose program ended before it could do so.
        let retired = self.0.pool.retire_landed();
        retired.map(drop).map_err(|error| error.to_string())
    }

    pub(super) fn add_notices(&self, told: Vec<String>) {
        lock_of(&self.0.notices).extend(told);
    }

    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut lock_of(&self.0.notices))
    }

    /// Releases every worktree: one whose work has landed completely is retired, and comes back on
    /// demand. Blocks on the disk.
    pub fn unlock_board(&self) {
        self.0.release_leases();
    }

    /// Records that all work in a job's worktree has landed. The worktree is retired at once, or
    /// with the board if this program has it open, because a session may still use it. Blocks on
    /// the disk.
    pub(super) fn landed(
        &self,
        place: &JobWorktree,
        tree: &str,
        commit: &str,
    ) -> Result<(), String> {
        let said = |error: worktree::Error| error.to_string();
        self.0
            .pool
            .note_whole(&lease_id(&place.lease)?, tree, commit)
            .map_err(said)?;
        if lock_of(&self.0.claim).is_some() {
            return Ok(());
        }
        let root = place.root()?;
        self.0.watchers.remove(&root);
        lock_of(&self.0.gates).remove(&root);
        let lease = lock_of(&self.0.held).remove(&place.lease);
        match lease {
            Some(mut lease) => self.0.pool.retire(&mut lease).map(drop).map_err(said),
            None => Ok(()),
        }
    }

    /// Returns the change log of a job's worktree, opening it if necessary. Blocks on the disk.
    pub fn authored(&self, place: &JobWorktree) -> Result<Arc<Mutex<ChangeHistory>>, String> {
        // A starting session and a scan may get here at the same time.
        let _opening = lock_of(&self.0.opening);
        self.acquire(&place.lease)?;
        let root = place.root()?;
        if let Some(authored) = self.0.watchers.authored(&root) {
            return Ok(authored);
        }
        let index = place.git_dir()?.join("index");
        let base = GitBase::open(&root, &self.0.repository, &index, &place.base)?;
        let parts = ChangeHistoryOptions {
            root: root.clone(),
            base: Box::new(base),
            folder: self.0.folder.join(format!("trees/{}", place.lease)),
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
        };
        let authored = Arc::new(Mutex::new(ChangeHistory::open(
            parts,
            ChangeAuthor::Person,
        )?));
        let gate = self.0.watchers.add(authored.clone());
        lock_of(&self.0.gates).insert(root, gate);
        Ok(authored)
    }

    /// Returns the changes of the user's own checkout since its commit. Blocks on the disk.
    fn checkout(&self, commit: &str) -> Result<ChangeHistory, String> {
        let index = self.0.repository.join("index");
        let base = GitBase::open(&self.0.main_repo, &self.0.repository, &index, commit)?;
        let parts = ChangeHistoryOptions {
            root: self.0.main_repo.clone(),
            base: Box::new(base),
            // One log per commit, because a handover onto one commit means nothing on another.
            folder: self.0.folder.join(format!("checkout/{commit}")),
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
        };
        ChangeHistory::open(parts, ChangeAuthor::Person)
    }

    /// Starts watching a worktree; returns the gate for its calls.
    pub(super) async fn watch(&self, place: &JobWorktree) -> Result<CallGate, String> {
        let (own, wanted) = (self.clone(), place.clone());
        blocking(move || own.authored(&wanted).map(drop)).await?;
        let root = place.root()?;
        let gates = lock_of(&self.0.gates);
        let gate = gates.get(&root).cloned();
        gate.ok_or_else(|| format!("{root} is not watched"))
    }

    /// Returns the session root for a worktree.
    pub(super) fn session_root(
        &self,
        place: &JobWorktree,
    ) -> Result<sandbox_policy::SessionRoot, String> {
        self.acquire(&place.lease)?;
        let held = lock_of(&self.0.held);
        let lease = held.get(&place.lease);
        let variables = lease.map(Lease::env).unwrap_or_default();
        let mut seen = vec![self.0.repository.clone()];
        // Git runs the monitor program to ask for the changes in that layer.
        if let Some(layer) = lease.and_then(Lease::layer) {
            let program = crate::lease_settings().monitor;
            seen.extend(program.and_then(AbsPath::new));
            seen.push(layer);
        }
        Ok(sandbox_policy::SessionRoot {
            root: place.root()?,
            project: self.0.main_repo.clone(),
            git_dir: Some(place.git_dir()?),
            readable: seen,
            variables,
        })
    }

    /// Acquires an existing lease; a retired one is restored. Blocks on the disk.
    pub fn acquire(&self, lease: &str) -> Result<(), String> {
        let mut held = lock_of(&self.0.held);
        if held.contains_key(lease) {
            return Ok(());
        }
        let id = lease_id(lease)?;
        let taken = match self.0.pool.take_over(&id) {
            // It landed and was retired; a program that restored it was killed meanwhile.
            Err(worktree::Error::Unknown(_) | worktree::Error::Unready(_)) => {
                self.0.pool.restore(lease).map_err(|error| match error {
                    worktree::Error::Refused(_) => format!(
                        "the worktree {lease} is gone: its folder was removed or released, and nothing of it is \
                         archived"
                    ),
                    other => other.to_string(),
                })
            }
            taken => taken.map_err(|error| error.to_string()),
        };
        held.insert(lease.to_owned(), taken?);
        Ok(())
    }

    fn lease_blocking(&self, wanted: &WorktreeRequest) -> Result<JobWorktree, String> {
        let one = worktree::LeaseRequest {
            count: 1,
            is_kept: false,
            with_changes: false,
        };
        let leases = self.0.pool.lease(one).map_err(|error| error.to_string())?;
        let lease = leases.into_iter().next();
        let lease = lease.ok_or_else(|| "no worktree was made".to_owned())?;
        let place = place_of(&lease);
        lock_of(&self.0.held).insert(place.lease.clone(), lease);
        if !wanted.start_from.is_empty() {
            let own = self.authored(&place)?;
            let mut own = lock_of(&own);
            for with in &wanted.start_from {
                let other = self.authored(with)?;
                match own.transfer_from(&mut lock_of(&other)) {
                    Ok(_) | Err(UndoError::Nothing) => {}
                    Err(stuck) => {
                        return Err(format!(
                            "the work of {} cannot be begun with: {stuck}",
                            with.lease
                        ));
                    }
                }
            }
        }
        Ok(place)
    }

    fn release_blocking(&self, place: &JobWorktree) -> Result<(), String> {
        let root = place.root()?;
        self.acquire(&place.lease)?;
        self.0.watchers.remove(&root);
        lock_of(&self.0.gates).remove(&root);
        let lease = lock_of(&self.0.held).remove(&place.lease);
        let Some(mut lease) = lease else {
            return Ok(());
        };
        match self.0.pool.give_back(&mut lease, Discard::Nothing) {
            Ok(()) => Ok(()),
            Err(error) => {
                lock_of(&self.0.held).insert(place.lease.clone(), lease);
                Err(error.to_string())
            }
        }
    }

    /// Brings work from one side to the other. Blocks on the disk.
    pub fn hand_over_blocking(
        &self,
        place: &JobWorktree,
        to: HandOverTarget,
    ) -> Result<String, String> {
        let agents = self.authored(place)?;
        let mut agents = lock_of(&agents);
        let mut own = self.checkout(&place.base)?;
        let (done, whither) = match to {
            HandOverTarget::Person => (own.transfer_from(&mut agents), "your checkout"),
            HandOverTarget::Agent => (agents.transfer_from(&mut own), place.lease.as_str()),
        };
        match done {
            Ok(done) => Ok(format!(
                "{} {} handed over to {whither}: {}",
                count_of(done.paths.len(), "file"),
                if done.paths.len() == 1 { "was" } else { "were" },
                done.paths.join(", ")
            )),
            Err(UndoError::Nothing) => Ok(format!("{whither} has all of it already")),
            Err(stuck) => Err(stuck.to_string().replace("undone", "copied")),
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
    fn lease(&self, wanted: WorktreeRequest) -> BoxFuture<'static, Result<JobWorktree, String>> {
        let own = self.clone();
        Box::pin(blocking(move || own.lease_blocking(&wanted)))
    }

    fn release(&self, place: JobWorktree) -> BoxFuture<'static, Result<(), String>> {
        let own = self.clone();
        Box::pin(blocking(move || own.release_blocking(&place)))
    }

    fn hand_over(
        &self,
        place: JobWorktree,
        to: HandOverTarget,
    ) -> BoxFuture<'static, Result<String, String>> {
        let own = self.clone();
        Box::pin(blocking(move || own.hand_over_blocking(&place, to)))
    }
}

fn place_of(lease: &Lease) -> JobWorktree {
    JobWorktree {
        lease: lease.id.to_string(),
        root: lease.root.to_string(),
        git_dir: lease.git_dir.to_string(),
        base: lease.base.clone(),
        branch: lease.branch.clone(),
    }
}

fn lease_id(lease: &str) -> Result<LeaseId, String> {
    LeaseId::parse(lease).ok_or_else(|| format!("{lease} is no worktree's name"))
}

async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|error| Err(format!("the worktrees could not be reached: {error}")))
}

/// Locks a mutex. A poisoned lock is safe here: its state is checked again before use.
pub fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
