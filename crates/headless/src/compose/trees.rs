//! The worktrees of a repository's agents, and who changed what in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::confined;
use base::{AbsPath, LogErr, count_of};
use composer::authored::{Author, Authored, Gate, GitBase, Parts, Watchers};
use composer::board::{Ground, Place, Side, Wanted};
use composer::checkpoint::Stuck;
use futures::future::BoxFuture;
use host::{Dirs, Files as _, Lock, RealClock, RealFiles};
use worktree::{Discard, Lease, LeaseId, Pool};

/// The worktrees of one repository. Clones are the same.
#[derive(Clone)]
pub struct Trees(Arc<Inner>);

struct Inner {
    pool: Pool,
    hub: AbsPath,
    /// The hub's git folder.
    repository: AbsPath,
    /// Where the changes of each tree are kept.
    folder: AbsPath,
    watchers: Watchers,
    /// Leases that are held, by their names.
    held: Mutex<HashMap<String, Lease>>,
    /// Taken by the program that has the board open.
    claim: Mutex<Option<Lock>>,
    gates: Mutex<HashMap<AbsPath, Gate>>,
    /// What became of landings that a killed program left, and nobody was told yet.
    told: Mutex<Vec<String>>,
    /// Held while the changes of a tree are opened.
    opening: Mutex<()>,
}

impl Trees {
    /// The worktrees of the repository around a folder.
    pub(crate) fn open(dirs: &Dirs, folder: &AbsPath, watchers: Watchers) -> Result<Self, String> {
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
        let pool = Pool::open(&hub, &dirs.state, crate::lease_settings());
        let pool = pool.map_err(|error| error.to_string())?;
        let mark = host::ContentHash::of(hub.to_string().as_bytes()).0;
        let folder = dirs.state.join(format!("composer/{mark:032x}"));
        RealFiles
            .create_folder(&folder)
            .map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(Inner {
            pool,
            hub,
            repository: git_dir,
            folder,
            watchers,
            held: Mutex::default(),
            claim: Mutex::default(),
            gates: Mutex::default(),
            told: Mutex::default(),
            opening: Mutex::default(),
        })))
    }

    /// The person's checkout.
    pub fn hub(&self) -> &AbsPath {
        &self.0.hub
    }

    /// The worktrees themselves.
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Where landings and the like of this repository are written down.
    pub fn folder(&self) -> &AbsPath {
        &self.0.folder
    }

    /// Takes the board for this program.
    pub(crate) fn claim(&self) -> Result<(), String> {
        let lock = RealFiles.lock(&self.0.folder.join("board.lock"));
        let lock = lock.map_err(|error| error.to_string())?;
        let lock = lock.ok_or_else(|| {
            format!(
                "another Burin has agents at work on {}; wait until it has ended, or use it",
                self.0.hub
            )
        })?;
        *lock_of(&self.0.claim) = Some(lock);
        // Of landings whose program ended before it could put the tree away.
        let retired = self.0.pool.retire_landed();
        retired.map(drop).map_err(|error| error.to_string())
    }

    pub(super) fn note_told(&self, told: Vec<String>) {
        lock_of(&self.0.told).extend(told);
    }

    pub(super) fn take_told(&self) -> Vec<String> {
        std::mem::take(&mut lock_of(&self.0.told))
    }

    /// Lets go of every tree: what has landed as a whole is put away, and comes back when somebody asks for it.
    /// Blocks on the disk.
    pub(crate) fn let_go(&self) {
        self.0.let_go();
    }

    /// Notes that all that lies in a job's tree has landed. The tree goes at once, or with the board if this program
    /// has it open: a session may still have it. Blocks on the disk.
    pub(super) fn landed(&self, place: &Place, tree: &str, commit: &str) -> Result<(), String> {
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

    /// The changes of a job's tree; opened where nobody has it open. Blocks on the disk.
    pub fn authored(&self, place: &Place) -> Result<Arc<Mutex<Authored>>, String> {
        // Who begins a session and who looks at its tree may come at the same moment.
        let _opening = lock_of(&self.0.opening);
        self.hold(&place.lease)?;
        let root = place.root()?;
        if let Some(authored) = self.0.watchers.authored(&root) {
            return Ok(authored);
        }
        let index = place.git_dir()?.join("index");
        let base = GitBase::open(&root, &self.0.repository, &index, &place.base)?;
        let parts = Parts {
            root: root.clone(),
            base: Box::new(base),
            folder: self.0.folder.join(format!("trees/{}", place.lease)),
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
        };
        let authored = Arc::new(Mutex::new(Authored::open(parts, Author::Person)?));
        let gate = self.0.watchers.add(authored.clone());
        lock_of(&self.0.gates).insert(root, gate);
        Ok(authored)
    }

    /// The changes of the person's own checkout, since its commit. Blocks on the disk.
    fn checkout(&self, commit: &str) -> Result<Authored, String> {
        let index = self.0.repository.join("index");
        let base = GitBase::open(&self.0.hub, &self.0.repository, &index, commit)?;
        let parts = Parts {
            root: self.0.hub.clone(),
            base: Box::new(base),
            // A log for each commit: what was handed over onto one is of no use on another.
            folder: self.0.folder.join(format!("checkout/{commit}")),
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
        };
        Authored::open(parts, Author::Person)
    }

    /// Watches a tree, and answers the gate before its calls.
    pub(super) async fn watch(&self, place: &Place) -> Result<Gate, String> {
        let (own, wanted) = (self.clone(), place.clone());
        blocking(move || own.authored(&wanted).map(drop)).await?;
        let root = place.root()?;
        let gates = lock_of(&self.0.gates);
        let gate = gates.get(&root).cloned();
        gate.ok_or_else(|| format!("{root} is not watched"))
    }

    /// What a session works in that has this tree.
    pub(super) fn ground(&self, place: &Place) -> Result<confined::Ground, String> {
        self.hold(&place.lease)?;
        let held = lock_of(&self.0.held);
        let lease = held.get(&place.lease);
        let variables = lease.map(Lease::env).unwrap_or_default();
        let mut seen = vec![self.0.repository.clone()];
        // There, and of that program, git asks what changed.
        if let Some(layer) = lease.and_then(Lease::layer) {
            let program = crate::lease_settings().monitor;
            seen.extend(program.and_then(AbsPath::new));
            seen.push(layer);
        }
        Ok(confined::Ground {
            root: place.root()?,
            project: self.0.hub.clone(),
            git_dir: Some(place.git_dir()?),
            readable: seen,
            variables,
        })
    }

    /// Holds a lease that was made before; one that was put away comes back. Blocks on the disk.
    pub(super) fn hold(&self, lease: &str) -> Result<(), String> {
        let mut held = lock_of(&self.0.held);
        if held.contains_key(lease) {
            return Ok(());
        }
        let id = lease_id(lease)?;
        let taken = match self.0.pool.take(&id) {
            // It landed and was put away; a program that brought it back was killed over it.
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

    fn lease_now(&self, wanted: &Wanted) -> Result<Place, String> {
        let one = worktree::Wanted {
            count: 1,
            is_kept: false,
            with_changes: false,
        };
        let leases = self.0.pool.lease(one).map_err(|error| error.to_string())?;
        let lease = leases.into_iter().next();
        let lease = lease.ok_or_else(|| "no worktree was made".to_owned())?;
        let place = place_of(&lease);
        lock_of(&self.0.held).insert(place.lease.clone(), lease);
        if !wanted.with.is_empty() {
            let own = self.authored(&place)?;
            let mut own = lock_of(&own);
            for with in &wanted.with {
                let other = self.authored(with)?;
                match own.take_over(&mut lock_of(&other)) {
                    Ok(_) | Err(Stuck::Nothing) => {}
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

    fn release_now(&self, place: &Place) -> Result<(), String> {
        let root = place.root()?;
        self.hold(&place.lease)?;
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
    pub(crate) fn hand_over_now(&self, place: &Place, to: Side) -> Result<String, String> {
        let agents = self.authored(place)?;
        let mut agents = lock_of(&agents);
        let mut own = self.checkout(&place.base)?;
        let (done, whither) = match to {
            Side::Person => (own.take_over(&mut agents), "your checkout"),
            Side::Agent => (agents.take_over(&mut own), place.lease.as_str()),
        };
        match done {
            Ok(done) => Ok(format!(
                "{} {} handed over to {whither}: {}",
                count_of(done.paths.len(), "file"),
                if done.paths.len() == 1 { "was" } else { "were" },
                done.paths.join(", ")
            )),
            Err(Stuck::Nothing) => Ok(format!("{whither} has all of it already")),
            Err(stuck) => Err(stuck.to_string().replace("taken back", "handed over")),
        }
    }
}

impl Inner {
    fn let_go(&self) {
        for mut lease in std::mem::take(&mut *lock_of(&self.held)).into_values() {
            self.watchers.remove(&lease.root);
            lock_of(&self.gates).remove(&lease.root);
            // What cannot be put away now is looked at when the board is opened next.
            self.pool.retire(&mut lease).log_err();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Ground for Trees {
    fn lease(&self, wanted: Wanted) -> BoxFuture<'static, Result<Place, String>> {
        let own = self.clone();
        Box::pin(blocking(move || own.lease_now(&wanted)))
    }

    fn release(&self, place: Place) -> BoxFuture<'static, Result<(), String>> {
        let own = self.clone();
        Box::pin(blocking(move || own.release_now(&place)))
    }

    fn hand_over(&self, place: Place, to: Side) -> BoxFuture<'static, Result<String, String>> {
        let own = self.clone();
        Box::pin(blocking(move || own.hand_over_now(&place, to)))
    }
}

fn place_of(lease: &Lease) -> Place {
    Place {
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

/// What a panic interrupts here is looked at again before it is used.
pub(super) fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
