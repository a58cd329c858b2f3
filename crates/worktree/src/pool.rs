//! The worktrees of one repository: leasing, taking over, maintenance.

mod creation;

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;

use base::{AbsPath, LogErr, NameRules};
use git::lease::{HeadCommit, MainRepo};
use host::{Clock, RealClock};

use crate::backend::{BackendSupport, TreeBackend, detect_backends};
use crate::base_tree::{BaseCheckout, BaseStore};
use crate::dir_tree;
use crate::error::Error;
use crate::fsmonitor;
use crate::git_dir::OwnGitFiles;
use crate::hidden_refs::HiddenRefs;
use crate::json_file;
use crate::lease::{Lease, LeaseId};
use crate::mount::{self, MountPrivilege, OverlayLayers, current_privilege};
use crate::mounts;
use crate::open_beneath::name_hash;
use crate::owner::{self, BlockingLock, LeaseLock, Owner};
use crate::probe::PROBE_PREFIX;
use crate::record::{LeaseRecord, WholeLanding};
use crate::settings::PoolSettings;
use crate::share;
use crate::sweep::Sweeper;
use crate::volume::check_names;
use crate::warm_index::WarmIndex;

pub(crate) use self::creation::Finish;

/// The leases of one repository. Cheap to open; can be shared between threads.
#[derive(Debug)]
pub struct WorktreePool {
    pub(crate) main_repo: AbsPath,
    /// The folder with the leases of all repositories.
    pub(crate) top: PathBuf,
    /// The folder of this repository.
    pub(crate) folder: PathBuf,
    pub(crate) key: String,
    pub(crate) settings: PoolSettings,
    /// The removals of leases that were made of files.
    pub(crate) sweeper: Sweeper,
    clock: RealClock,
}

/// A request for leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    /// Number of leases to make.
    pub count: usize,
    /// Whether they belong to the user, instead of to this process while it lives.
    pub is_kept: bool,
    /// Whether uncommitted changes of the checkout are copied.
    pub with_changes: bool,
}

impl WorktreePool {
    /// Opens the leases of the repository with the checkout `main_repo`, stored below the state folder
    /// `state`. Detaches mounts and removes locks that killed programs left.
    ///
    /// # Errors
    /// `Refused` if the checkout is itself a lease; `Git` if it is in no repository.
    pub fn open(
        main_repo: &AbsPath,
        state: &AbsPath,
        settings: PoolSettings,
    ) -> Result<Self, Error> {
        let opened = MainRepo::open(main_repo)?;
        let top = state.as_path().join("worktrees");
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if real(opened.workdir().as_path()).starts_with(real(&top)) {
            return Err(Error::Refused(format!(
                "{} is itself a leased worktree; lease from the checkout it came from",
                opened.workdir()
            )));
        }
        let common = opened.common_dir();
        let name: String = opened
            .workdir()
            .name()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
            .take(24)
            .collect();
        let key = format!("{name}-{}", &name_hash(&common)[..8]);
        let folder = top.join(&key);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        for path in ["base", "leases", "gone"].map(|name| folder.join(name)) {
            builder
                .create(&path)
                .map_err(Error::file("create", &path))?;
        }
        let ports = top.join("ports");
        builder
            .create(&ports)
            .map_err(Error::file("create", &ports))?;
        // A lock that a killed process left in the main repository would block everyone.
        HiddenRefs::new(&opened).clear_stale()?;
        let pool = Self {
            main_repo: opened.workdir().clone(),
            top,
            folder,
            key,
            settings,
            sweeper: Sweeper::default(),
            clock: RealClock::default(),
        };
        mounts::clear_mounts(&pool.top)?;
        Ok(pool)
    }

    /// Returns the root of the checkout.
    pub fn main_repo(&self) -> &AbsPath {
        &self.main_repo
    }

    /// Returns the best backend on the volume of the pool, and the reasons against better ones. Tries
    /// them out once per boot, and then answers from a cache.
    pub fn backend_support(&self) -> Result<BackendSupport, Error> {
        detect_backends(&self.folder, &self.top.join("rungs.json"))
    }

    /// Makes the base of the checked-out commit ahead of time. Takes as long as a checkout, or as
    /// the changes since the last base.
    ///
    /// # Errors
    /// As `lease`.
    pub fn warm(&self) -> Result<BaseCheckout, Error> {
        let main_repo = MainRepo::open(&self.main_repo)?;
        let head = main_repo.head()?;
        self.check_volume(&main_repo, &head.tree)?;
        HiddenRefs::new(&main_repo).set(&base_ref(&head.commit), &head.commit)?;
        self.base(&main_repo, &head)
    }

    /// Checks that the volume of the pool can hold the files of a tree. Takes time per file only
    /// on a volume that folds names.
    fn check_volume(&self, main_repo: &MainRepo, tree: &str) -> Result<UsableVolume, Error> {
        let support = self.backend_support()?;
        if let Some(reason) = support.volume.refusal() {
            return Err(Error::UnusableVolume {
                folder: self.folder.clone(),
                reason,
            });
        }
        let names = support.volume.names();
        let mut caveats = Vec::new();
        if names != NameRules::EXACT {
            let merged = check_names(&main_repo.contents(tree)?, names, &self.folder)?;
            caveats.extend(merged.map(|(one, other)| {
                format!("the folders {one} and {other} are one folder in leases on this volume")
            }));
        }
        Ok(UsableVolume { support, caveats })
    }

    fn base(&self, main_repo: &MainRepo, head: &HeadCommit) -> Result<BaseCheckout, Error> {
        self.bases().make(main_repo, head, &|base| {
            // Without the warm index, Git examines every file, which is slower but gives the same
            // result.
            self.note_base(main_repo, head, base).log_err();
        })
    }

    /// Makes Git prepare the index of a base.
    fn note_base(&self, main_repo: &MainRepo, head: &HeadCommit, base: &Path) -> Result<(), Error> {
        let support = self.backend_support()?;
        let backend = self.settings.backend.unwrap_or(support.backend);
        let is_overlay = backend == TreeBackend::Overlay;
        let Some(program) = self.settings.monitor.as_deref().filter(|_| is_overlay) else {
            return Ok(());
        };
        let by_user = current_privilege() != MountPrivilege::Root;
        let shallow = main_repo.shallow_ends();
        let own = OwnGitFiles {
            branch: "burin/base",
            commit: &head.commit,
            base: &head.commit,
            main_branch: None,
            config: "",
            shallow: shallow.as_deref(),
        };
        let config = |layer: &Path| {
            let monitor = fsmonitor::command(program, layer, by_user);
            main_repo.lease_config(monitor.as_deref(), support.volume.names())
        };
        let trial = self
            .folder
            .join(format!("{}{}.index", PROBE_PREFIX, std::process::id()));
        WarmIndex::make(base, &trial, &own, &config, by_user)
    }

    /// Leases worktrees of the checked-out commit. In a cold pool the first call does the work of
    /// `warm`.
    ///
    /// # Errors
    /// Before anything is made: `UnusableVolume` and `SameName` if the volume cannot hold the
    /// commit's files. If one of several leases fails, those made before it stay and can be taken
    /// over.
    pub fn lease(&self, request: LeaseRequest) -> Result<Vec<Lease>, Error> {
        let main_repo = MainRepo::open(&self.main_repo)?;
        let head = main_repo.head()?;
        let _gate = BlockingLock::wait(&self.folder.join("lock"))?;
        let owner = if request.is_kept {
            Owner::Person
        } else {
            Owner::current_process()
        };
        let commit = head.commit.clone();
        let mut draft = self.draft(&main_repo, head, commit, owner)?;
        if request.with_changes {
            let unmerged = main_repo.unmerged()?;
            let unmerged = unmerged.iter().map(|name| String::from_utf8_lossy(name));
            draft.caveats.extend(unmerged.map(|name| {
                let name = base::printable(&name, base::LineFeeds::Escape);
                format!(
                    "{name} has a merge conflict in your checkout and was not copied; the lease \
                     has the committed version"
                )
            }));
        }
        let with_changes = |lease: &Lease| lease.import_changes(&self.main_repo).map(drop);
        let finish: Option<Finish<'_>> = if request.with_changes {
            Some(&with_changes)
        } else {
            None
        };
        let mut leases = Vec::with_capacity(request.count);
        for _ in 0..request.count {
            leases.push(self.create(&mut draft, None, finish)?);
        }
        self.sync_records(&leases);
        Ok(leases)
    }

    /// Takes over a lease that no process holds, as it is: one left by a crash, or one of the user.
    /// Mounts its overlay.
    ///
    /// # Errors
    /// `Held`, `FilesMissing`, and those of `status`.
    pub fn take_over(&self, id: &LeaseId) -> Result<Lease, Error> {
        let (folder, mut record) = self.record(id)?;
        let lock = self.lock(id, &folder)?;
        record.check_files_exist(&folder)?;
        self.mount_again(&record, &folder)?;
        // A user's lease stays the user's, even while a process works in it.
        if record.owner != Owner::Person {
            record.owner = Owner::current_process();
        }
        json_file::write(&folder.join("lease.json"), &record)?;
        Lease::from_record(&record, &folder, Some(lock))
    }

    /// Makes the user the owner of a lease, so that it outlives this process.
    pub fn keep_for_user(&self, lease: &mut Lease) -> Result<(), Error> {
        let (folder, mut record) = self.record(&lease.id)?;
        record.owner = Owner::Person;
        json_file::write(&folder.join("lease.json"), &record)?;
        lease.owner = Owner::Person;
        Ok(())
    }

    /// Records that the work up to `commit` has landed; it counts as merged from now on.
    pub fn note_landed(&self, id: &LeaseId, commit: &str) -> Result<(), Error> {
        let (folder, mut record) = self.record(id)?;
        record.landed = Some(commit.to_owned());
        json_file::write(&folder.join("lease.json"), &record)
    }

    /// Records that all work of a lease has landed: its `tree`, as Git would store it, became
    /// `commit` of the main repository. The lease can be retired while it holds exactly this work.
    pub fn note_whole(&self, id: &LeaseId, tree: &str, commit: &str) -> Result<(), Error> {
        let (folder, mut record) = self.record(id)?;
        record.whole = Some(WholeLanding {
            tree: tree.to_owned(),
            commit: commit.to_owned(),
        });
        json_file::write(&folder.join("lease.json"), &record)
    }

    /// Returns the current time, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    /// Returns the bases of the repository.
    pub(crate) fn bases(&self) -> BaseStore<'_> {
        BaseStore {
            folder: self.folder.join("base"),
            main_repo: &self.main_repo,
        }
    }

    /// Returns the folder of a lease, which need not exist.
    pub(crate) fn lease_folder(&self, id: &LeaseId) -> PathBuf {
        self.folder.join("leases").join(id.as_str())
    }

    /// Reads the record of a lease, and returns it with the lease's folder. Fails with `Corrupt` if
    /// the record is invalid, with `Unready` if there is none yet, and with `Unknown` if there is
    /// no folder.
    pub(crate) fn record(&self, id: &LeaseId) -> Result<(PathBuf, LeaseRecord), Error> {
        let folder = self.lease_folder(id);
        let path = folder.join("lease.json");
        if let Some(record) = json_file::read(&path) {
            return Ok((folder, record));
        }
        // The lease may be released at any moment. In this order, a released lease is not mistaken
        // for one with an invalid record.
        Err(match (path.exists(), folder.is_dir()) {
            (true, _) => Error::Corrupt {
                id: id.to_string(),
                what: "its record is invalid; release it".to_owned(),
            },
            (false, true) => Error::Unready(id.to_string()),
            (false, false) => Error::Unknown(id.to_string()),
        })
    }

    /// Locks a lease without waiting; fails with `Held` if a process holds it.
    pub(crate) fn lock(&self, id: &LeaseId, folder: &Path) -> Result<LeaseLock, Error> {
        owner::try_lock(folder)?.ok_or_else(|| {
            let record: Option<LeaseRecord> = json_file::read(&folder.join("lease.json"));
            Error::Held {
                id: id.to_string(),
                owner: record.map_or("a running process".to_owned(), |record| {
                    record.owner.to_string()
                }),
            }
        })
    }

    /// Returns the names of all leases, complete or not, oldest first.
    pub(crate) fn ids(&self) -> Vec<LeaseId> {
        let entries = fs::read_dir(self.folder.join("leases"));
        let mut ids: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| LeaseId::parse(&entry.file_name().to_string_lossy()))
            .collect();
        ids.sort_by_key(LeaseId::number);
        ids
    }

    /// Moves a lease's folder away, then removes it: an overlay's layers at once, a tree of files in
    /// the background. If the process is killed midway, `gc` removes the rest.
    pub(crate) fn remove_lease_folder(&self, folder: &Path) -> Result<(), Error> {
        mount::detach_below(folder).map_err(Error::file("unmount below", folder))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut gone = self.folder.join("gone").join(&*name);
        let mut count = 0;
        while gone.exists() {
            count += 1;
            gone = self.folder.join("gone").join(format!("{name}.{count}"));
        }
        fs::rename(folder, &gone).map_err(Error::file("put aside", folder))?;
        if gone.join("upper").exists() {
            return dir_tree::remove_all(&gone).map_err(Error::file("remove", &gone));
        }
        let begun = self.sweeper.remove(gone.clone());
        begun.map_err(Error::file("remove", &gone))
    }

    /// Mounts the tree of a lease if necessary. The caller holds the lease's lock unless it is
    /// mounted already.
    pub(crate) fn mount_again(&self, record: &LeaseRecord, folder: &Path) -> Result<(), Error> {
        let mnt = folder.join("mnt");
        if record.backend != TreeBackend::Overlay {
            return Ok(());
        }
        if !mount::is_mounted(&mnt) {
            let can = match current_privilege() {
                MountPrivilege::Root => true,
                MountPrivilege::Namespace => record.by_user,
                MountPrivilege::Plain => false,
            };
            if !can {
                return Err(Error::Refused(format!(
                    "lease {} is an overlay, which this process may not mount; run as {}",
                    record.id,
                    if record.by_user {
                        "the user who made it, in Burin"
                    } else {
                        "root"
                    }
                )));
            }
            let base = self.bases().folder.join(&record.tree);
            let warm = if record.has_monitor {
                WarmIndex::load(&base)
            } else {
                None
            };
            mount_tree(&base.join("layer"), folder, warm.as_ref(), record.by_user)
                .map_err(Error::file("mount", &mnt))?;
        }
        let root = mnt.join("tree");
        for problem in share::mount_again(
            &record.shared,
            &self.main_repo,
            folder,
            &root,
            record.by_user,
        ) {
            base::report(&problem);
        }
        Ok(())
    }

    /// Syncs the records to disk in the background.
    fn sync_records(&self, leases: &[Lease]) {
        let records: Vec<_> = leases
            .iter()
            .map(|lease| lease.folder.join("lease.json"))
            .collect();
        thread::spawn(move || {
            for record in records {
                // A lease that was released meanwhile needs no sync.
                if record.exists() {
                    json_file::sync(&record).log_err();
                }
            }
        });
    }
}

/// A volume that can hold the files of a commit.
pub(crate) struct UsableVolume {
    support: BackendSupport,
    /// Features of the checkout that leases lack on this volume, as sentences.
    caveats: Vec<String>,
}

/// Returns the name of the hidden ref that protects a commit.
pub(crate) fn base_ref(commit: &str) -> String {
    format!("base/{commit}")
}

/// Mounts the tree of a lease over a base, with the prepared index unless Git has written one.
fn mount_tree(
    base: &Path,
    folder: &Path,
    warm: Option<&WarmIndex>,
    by_user: bool,
) -> std::io::Result<()> {
    let (upper, work, mnt) = (
        folder.join("upper"),
        folder.join("work"),
        folder.join("mnt"),
    );
    let mount = |lower: &[&Path]| {
        let (upper, work) = (upper.as_path(), work.as_path());
        mount::overlay(OverlayLayers { lower, upper, work }, &mnt, by_user)
    };
    if let Some(warm) = warm.filter(|_| !upper.join("git/index").exists()) {
        let above = folder.join("warm");
        let laid = warm.mount_layer(&above, &mnt.join("tree"));
        let mounted = laid.and_then(|()| mount(&[&above, base]));
        // The overlay keeps its layers alive after they are detached.
        mount::detach(&above)?;
        if mounted.log_err().is_some() {
            return Ok(());
        }
    }
    mount(&[base])
}
