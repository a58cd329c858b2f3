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
use crate::{dir_tree, mount};

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
    /// Disk usage apart from its base, in bytes.
    pub size: u64,
    /// Age of the lease, in milliseconds.
    pub age_ms: u64,
    /// The work in the lease; a sentence if it cannot be read.
    pub work: Result<LeaseWork, String>,
}

impl LeaseStatus {
    /// Whether its process ended without releasing it.
    pub fn is_orphan(&self) -> bool {
        !self.is_held && self.lease.owner != Owner::Person
    }

    /// Whether removing it loses no work.
    pub fn is_safe_to_remove(&self) -> bool {
        self.work.as_ref().is_ok_and(LeaseWork::is_safe_to_lose)
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
    /// Whether all work is also stored elsewhere.
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
    /// The folder with the copied objects.
    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// Takes a snapshot of a lease whose tree is accessible.
    pub(crate) fn of_lease(
        hub: &AbsPath,
        folder: &Path,
        id: &str,
        base_index: &Path,
        rung: TreeBackend,
    ) -> Result<Self, Error> {
        let git = GitDir::open(&folder.join("mnt/git"), id)?;
        let tip = git.tip()?;
        let seen = create_snapshot_folder(folder)?;
        let copied = SnapshotFolder {
            folder: seen.clone(),
        };
        git.copy_objects(&seen.join("objects"))?;
        let is_own = rung != TreeBackend::Overlay || folder.join("upper/git/index").exists();
        let index = if is_own {
            git.copy_index(&seen.join("index"))?;
            seen.join("index")
        } else {
            base_index.to_path_buf()
        };
        let root = folder.join("mnt/tree");
        let root = AbsPath::new(&root).ok_or_else(|| Error::Unknown(id.to_owned()))?;
        let glance = StatusProbe::new(hub, &root, &index, &[&seen.join("objects")])?;
        std::mem::forget(copied);
        Ok(Self {
            folder: seen,
            tip,
            status: glance,
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

/// Checks that the files of a lease exist.
pub(crate) fn check_files_exist(record: &LeaseRecord, folder: &Path) -> Result<(), Error> {
    let needed = match record.rung {
        // The files of the mount are in the layers below it.
        TreeBackend::Overlay => ["upper/tree", "upper/git"],
        _ => ["mnt/tree", "mnt/git"],
    };
    let missing = needed.map(|name| folder.join(name));
    let missing = missing.into_iter().find(|path| !path.is_dir());
    match missing {
        Some(path) => Err(Error::FilesMissing {
            id: record.id.clone(),
            path,
        }),
        None => Ok(()),
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
        let hub = MainRepo::open(&self.main_repo)?;
        let mut leases = Vec::new();
        let mut unfinished = Vec::new();
        for id in self.ids() {
            match self.record(&id) {
                Ok((folder, record)) => leases.push(self.lease_status(&hub, &record, &folder)?),
                // It was released after its name was read.
                Err(Error::Unknown(_)) => {}
                Err(_) => unfinished.push(id),
            }
        }
        Ok(PoolListing {
            leases,
            unfinished,
            archives: hub.archives()?,
            bases: self.bases().all(),
            backends: self.backend_support()?,
        })
    }

    /// The status of one lease.
    pub fn status(&self, id: &LeaseId) -> Result<LeaseStatus, Error> {
        let (folder, record) = self.record(id)?;
        self.lease_status(&MainRepo::open(&self.main_repo)?, &record, &folder)
    }

    fn lease_status(
        &self,
        hub: &MainRepo,
        record: &LeaseRecord,
        folder: &Path,
    ) -> Result<LeaseStatus, Error> {
        let lock = owner::try_lock(folder)?;
        let is_held = lock.is_none();
        let work = self.work(hub, record, folder, is_held);
        let size = match record.rung {
            TreeBackend::Overlay => ["upper", "work", "shared"]
                .map(|name| dir_tree::disk_usage(&folder.join(name)))
                .iter()
                .sum(),
            _ => dir_tree::disk_usage(&folder.join("mnt")),
        };
        if !is_held {
            self.unmount_unless_kept(record, folder)?;
        }
        Ok(LeaseStatus {
            lease: Lease::from_record(record, folder, None)?,
            is_held,
            size,
            age_ms: self.now_ms().saturating_sub(record.created_ms),
            work: work.map_err(|error| error.to_string()),
        })
    }

    /// Reads the work in a lease.
    pub(crate) fn work(
        &self,
        hub: &MainRepo,
        record: &LeaseRecord,
        folder: &Path,
        is_held: bool,
    ) -> Result<LeaseWork, Error> {
        let look = self.snapshot(record, folder, is_held)?;
        let touched = look.status.touched_since(&look.tip.commit)?;
        let tip = look.tip.commit.clone();
        let has_landed = record.landed.as_deref() == Some(tip.as_str());
        let merged = if tip == record.commit {
            LeaseMerge::Nothing
        } else if has_landed || hub.has_merged(&tip) {
            LeaseMerge::Yes
        } else {
            LeaseMerge::No
        };
        Ok(LeaseWork {
            tip,
            branch: look
                .tip
                .reference
                .as_deref()
                .map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
            touched,
            merged,
        })
    }

    /// Takes a snapshot of a lease, and mounts its overlay if necessary.
    pub(crate) fn snapshot(
        &self,
        record: &LeaseRecord,
        folder: &Path,
        is_held: bool,
    ) -> Result<LeaseSnapshot, Error> {
        let is_seen = record.rung != TreeBackend::Overlay || mount::is_mounted(&folder.join("mnt"));
        if is_held && !is_seen {
            return Err(Error::Refused(format!(
                "lease {} is mounted in the namespace of {} and can only be read there",
                record.id, record.owner
            )));
        }
        check_files_exist(record, folder)?;
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
            record.rung,
        )
    }
}
