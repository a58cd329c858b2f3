//! The status of all leases: their work, size and owner.

use std::fs;
use std::path::{Path, PathBuf};

use base::AbsPath;
use git::lease::{ArchivedCommit, MainRepo, StatusProbe, TouchedFile};

use crate::backend::{BackendSupport, TreeBackend};
use crate::base_tree::BaseCheckout;
use crate::error::Error;
use crate::git_dir::{GitDir, Tip};
use crate::lease::{Lease, LeaseId};
use crate::owner::{self, Owner};
use crate::pool::WorktreePool;
use crate::record::LeaseRecord;
use crate::{dir_tree, mount, mounts};

/// The worktrees of one repository.
#[derive(Debug)]
pub struct PoolListing {
    /// Complete leases, oldest first.
    pub leases: Vec<LeaseStatus>,
    /// Leases that a crash left incomplete, or whose record is invalid.
    pub unfinished: Vec<LeaseId>,
    /// Archived work of former leases.
    pub archives: Vec<ArchivedCommit>,
    /// The bases of the repository.
    pub bases: Vec<BaseCheckout>,
    /// The available backends for trees.
    pub backends: BackendSupport,
}

/// The status of a lease.
#[derive(Debug)]
pub struct LeaseStatus {
    /// The lease, not held by the caller.
    pub lease: Lease,
    /// Whether a running process holds it.
    pub is_held: bool,
    /// Disk usage apart from its base, in bytes. Blocks that clones share with the base or with the
    /// checkout count in full, so it is the most that removal frees.
    pub size: u64,
    /// Age of the lease, in milliseconds.
    pub age_ms: u64,
    /// The work in the lease, if it can be read.
    pub work: Result<LeaseWork, Error>,
}

impl LeaseStatus {
    /// Returns whether its process ended without releasing it.
    pub fn is_orphan(&self) -> bool {
        !self.is_held && self.lease.owner != Owner::Person
    }
}

/// The work in a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseWork {
    /// The full id of the last commit.
    pub tip: String,
    /// The branch that HEAD names; `None` if it is detached.
    pub branch: Option<String>,
    /// Files with uncommitted changes.
    pub touched: Vec<TouchedFile>,
    /// Whether its commits are in the main repository.
    pub merged: LeaseMerge,
}

/// Whether the commits of a lease were merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseMerge {
    /// There are no commits to merge.
    Nothing,
    /// They are in a branch of the main repository.
    Yes,
    /// They exist only in the lease.
    No,
}

impl LeaseWork {
    /// Returns whether all work is also stored elsewhere.
    pub fn is_safe_to_lose(&self) -> bool {
        self.touched.is_empty() && self.merged != LeaseMerge::No
    }
}

/// A snapshot of a lease: copies of its objects and index, removed on drop.
pub(crate) struct LeaseSnapshot {
    folder: PathBuf,
    pub(crate) tip: Tip,
    pub(crate) status: StatusProbe,
}

impl LeaseSnapshot {
    /// Returns the folder with the copied objects.
    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// Takes a snapshot of a lease in `folder` whose tree is accessible. `base_index` replaces the
    /// index of an overlay that has not written one.
    pub(crate) fn of_lease(
        main_repo: &AbsPath,
        folder: &Path,
        id: &str,
        base_index: &Path,
        backend: TreeBackend,
    ) -> Result<Self, Error> {
        let git = GitDir::open(&folder.join("mnt/git"), id)?;
        let tip = git.tip()?;
        let copies = create_snapshot_folder(folder)?;
        let guard = SnapshotFolder {
            folder: copies.clone(),
        };
        git.copy_objects(&copies.join("objects"))?;
        let is_own = backend != TreeBackend::Overlay || folder.join("upper/git/index").exists();
        let index = if is_own {
            git.copy_index(&copies.join("index"))?;
            copies.join("index")
        } else {
            base_index.to_path_buf()
        };
        let root = folder.join("mnt/tree");
        let root = AbsPath::new(&root).ok_or_else(|| Error::Unknown(id.to_owned()))?;
        let status = StatusProbe::new(main_repo, &root, &index, &[&copies.join("objects")])?;
        std::mem::forget(guard);
        Ok(Self {
            folder: copies,
            tip,
            status,
        })
    }
}

impl Drop for LeaseSnapshot {
    fn drop(&mut self) {
        drop(SnapshotFolder {
            folder: self.folder.clone(),
        });
    }
}

struct SnapshotFolder {
    folder: PathBuf,
}

impl Drop for SnapshotFolder {
    fn drop(&mut self) {
        // A leftover is removed together with the lease.
        dir_tree::remove_all(&self.folder).ok();
    }
}

/// Creates a folder for the copies of this process.
fn create_snapshot_folder(lease: &Path) -> Result<PathBuf, Error> {
    let mut count = 0;
    loop {
        let folder = lease.join(format!("seen-{}-{count}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => count += 1,
            Err(error) => return Err(Error::file("create", &folder)(error)),
        }
    }
}

impl WorktreePool {
    /// Lists all worktrees. Mounts overlays that a restart unmounted, and reads every lease, which
    /// takes as long as `git status` in each.
    pub fn list(&self) -> Result<PoolListing, Error> {
        let main_repo = MainRepo::open(&self.main_repo)?;
        let mut leases = Vec::new();
        let mut unfinished = Vec::new();
        for id in self.ids() {
            match self.record(&id) {
                Ok((folder, record)) => {
                    leases.push(self.lease_status(&main_repo, &record, &folder)?)
                }
                // It was released after its name was read.
                Err(Error::Unknown(_)) => {}
                Err(_) => unfinished.push(id),
            }
        }
        Ok(PoolListing {
            leases,
            unfinished,
            archives: main_repo.archives()?,
            bases: self.bases().all(),
            backends: self.backend_support()?,
        })
    }

    /// Reads the status of one lease, which takes as long as `git status` there; mounts its overlay for
    /// that time.
    ///
    /// # Errors
    /// `Unknown`, or `Unready` if it was never complete. Unreadable work is not an error; see
    /// `LeaseStatus::work`.
    pub fn status(&self, id: &LeaseId) -> Result<LeaseStatus, Error> {
        let (folder, record) = self.record(id)?;
        self.lease_status(&MainRepo::open(&self.main_repo)?, &record, &folder)
    }

    /// Reads the work, size and owner of a lease, and mounts its tree for this if necessary. Work
    /// that cannot be read is an error within the status.
    fn lease_status(
        &self,
        main_repo: &MainRepo,
        record: &LeaseRecord,
        folder: &Path,
    ) -> Result<LeaseStatus, Error> {
        let lock = owner::try_lock(folder)?;
        let is_held = lock.is_none();
        let work = self.work(main_repo, record, folder, is_held);
        let size = match record.backend {
            TreeBackend::Overlay => ["upper", "work", "shared"]
                .map(|name| dir_tree::disk_usage(&folder.join(name)))
                .iter()
                .sum(),
            _ => dir_tree::disk_usage(&folder.join("mnt")),
        };
        if !is_held {
            mounts::unmount_unless_kept(record, folder)?;
        }
        Ok(LeaseStatus {
            lease: Lease::from_record(record, folder, None)?,
            is_held,
            size,
            age_ms: self.now_ms().saturating_sub(record.created_ms),
            work,
        })
    }

    /// Reads the work in a lease, and mounts its overlay if necessary. `is_held` indicates whether another
    /// process holds it.
    pub(crate) fn work(
        &self,
        main_repo: &MainRepo,
        record: &LeaseRecord,
        folder: &Path,
        is_held: bool,
    ) -> Result<LeaseWork, Error> {
        let snapshot = self.snapshot(record, folder, is_held)?;
        let touched = snapshot.status.touched_since(&snapshot.tip.commit)?;
        let tip = snapshot.tip.commit.clone();
        let has_landed = record.landed.as_deref() == Some(tip.as_str());
        let merged = if tip == record.commit {
            LeaseMerge::Nothing
        } else if has_landed || main_repo.has_merged(&tip) {
            LeaseMerge::Yes
        } else {
            LeaseMerge::No
        };
        Ok(LeaseWork {
            tip,
            branch: snapshot
                .tip
                .reference
                .as_deref()
                .map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
            touched,
            merged,
        })
    }

    /// Takes a snapshot of a lease, and mounts its overlay if necessary. `is_held` indicates whether another
    /// process holds it: its overlay is then not mounted here.
    pub(crate) fn snapshot(
        &self,
        record: &LeaseRecord,
        folder: &Path,
        is_held: bool,
    ) -> Result<LeaseSnapshot, Error> {
        let is_seen =
            record.backend != TreeBackend::Overlay || mount::is_mounted(&folder.join("mnt"));
        if is_held && !is_seen {
            return Err(Error::Refused(format!(
                "lease {} is mounted in the namespace of {} and can only be read there",
                record.id, record.owner
            )));
        }
        record.check_files_exist(folder)?;
        if !is_held {
            self.mount_again(record, folder)?;
        }
        GitDir::open(&folder.join("mnt/git"), &record.id)?.check(&record.config)?;
        let base_index = self
            .bases()
            .folder
            .join(&record.tree)
            .join("layer/git/index");
        LeaseSnapshot::of_lease(
            &self.main_repo,
            folder,
            &record.id,
            &base_index,
            record.backend,
        )
    }
}
