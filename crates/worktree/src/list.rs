//! What leases there are, what lies in them, and who holds them.

use std::fs;
use std::path::{Path, PathBuf};

use base::AbsPath;
use git::lease::{Archived, Glance, Hub, Touched};

use crate::base_tree::Base;
use crate::error::Error;
use crate::git_dir::{GitDir, Tip};
use crate::lease::{Lease, LeaseId};
use crate::owner::{self, Owner};
use crate::pool::Pool;
use crate::record::LeaseRecord;
use crate::rung::{Ladder, Rung};
use crate::{mount, sweep};

/// Everything there is of one repository.
#[derive(Debug)]
pub struct Listing {
    /// Leases that were ready, oldest first.
    pub leases: Vec<Shown>,
    /// Leases that a crash kept from getting ready, or whose record is torn.
    pub unfinished: Vec<LeaseId>,
    /// Work that was put away.
    pub archives: Vec<Archived>,
    /// Checkouts that leases stand on.
    pub bases: Vec<Base>,
    /// How trees are made here.
    pub ladder: Ladder,
}

/// A lease as it is shown.
#[derive(Debug)]
pub struct Shown {
    /// What was leased. It is not held by whoever looks at it.
    pub lease: Lease,
    /// Whether a living process holds it.
    pub is_held: bool,
    /// What it takes on the disk beside its base, in bytes.
    pub size: u64,
    /// How long ago it was made, in milliseconds.
    pub age_ms: u64,
    /// What lies in it; a sentence where that cannot be told.
    pub work: Result<Work, String>,
}

impl Shown {
    /// Whether the program that took it is gone without releasing it.
    pub fn is_orphan(&self) -> bool {
        !self.is_held && self.lease.owner != Owner::Person
    }

    /// Whether nothing would be lost with it.
    pub fn is_safe_to_remove(&self) -> bool {
        self.work.as_ref().is_ok_and(Work::is_safe_to_lose)
    }
}

/// What lies in a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The last commit, in full.
    pub tip: String,
    /// The branch HEAD names; `None` when it is detached.
    pub branch: Option<String>,
    /// Files that are not committed.
    pub touched: Vec<Touched>,
    /// Whether its commits are in the hub.
    pub merged: Merged,
}

/// What became of a lease's commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// There are none.
    Nothing,
    /// They are in a branch of the hub.
    Yes,
    /// They are nowhere else.
    No,
}

impl Work {
    /// Whether nothing is in it that is not elsewhere.
    pub fn is_safe_to_lose(&self) -> bool {
        self.touched.is_empty() && self.merged != Merged::No
    }
}

/// A look into a lease: copies of its objects and index, removed when dropped.
pub(crate) struct Look {
    folder: PathBuf,
    pub(crate) tip: Tip,
    pub(crate) glance: Glance,
}

impl Look {
    /// The copies of the objects made in the lease.
    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// Looks into a lease whose tree can be seen.
    pub(crate) fn into_lease(
        hub: &AbsPath,
        folder: &Path,
        id: &str,
        base_index: &Path,
        rung: Rung,
    ) -> Result<Self, Error> {
        let git = GitDir::open(&folder.join("mnt/git"), id)?;
        let tip = git.tip()?;
        let seen = fresh(folder)?;
        let copied = Copies {
            folder: seen.clone(),
        };
        git.copy_objects(&seen.join("objects"))?;
        let is_own = rung != Rung::Overlay || folder.join("upper/git/index").exists();
        let index = match is_own {
            true => {
                git.copy_index(&seen.join("index"))?;
                seen.join("index")
            }
            false => base_index.to_path_buf(),
        };
        let root = folder.join("mnt/tree");
        let root = AbsPath::new(&root).ok_or_else(|| Error::Unknown(id.to_owned()))?;
        let glance = Glance::new(hub, &root, &index, &[&seen.join("objects")])?;
        std::mem::forget(copied);
        Ok(Self {
            folder: seen,
            tip,
            glance,
        })
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        drop(Copies {
            folder: self.folder.clone(),
        });
    }
}

struct Copies {
    folder: PathBuf,
}

impl Drop for Copies {
    fn drop(&mut self) {
        // What stays goes with the lease.
        sweep::remove(&self.folder).ok();
    }
}

/// Whether the files of a lease are where they were put.
pub(crate) fn check_there(record: &LeaseRecord, folder: &Path) -> Result<(), Error> {
    let needed = match record.rung {
        // What the mount shows lies in the layers below it.
        Rung::Overlay => ["upper/tree", "upper/git"],
        _ => ["mnt/tree", "mnt/git"],
    };
    let missing = needed.map(|name| folder.join(name));
    let missing = missing.into_iter().find(|path| !path.is_dir());
    match missing {
        Some(path) => Err(Error::Gone {
            id: record.id.clone(),
            path,
        }),
        None => Ok(()),
    }
}

/// A folder for copies that nobody else uses.
fn fresh(lease: &Path) -> Result<PathBuf, Error> {
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

impl Pool {
    /// Everything there is. Mounts what a restart unmounted; looks into every lease, which takes as long as a
    /// `git status` in each.
    pub fn list(&self) -> Result<Listing, Error> {
        let hub = Hub::open(&self.hub)?;
        let mut leases = Vec::new();
        let mut unfinished = Vec::new();
        for id in self.ids() {
            match self.record(&id) {
                Ok((folder, record)) => leases.push(self.shown(&hub, &record, &folder)?),
                // Released since its name was read.
                Err(Error::Unknown(_)) => {}
                Err(_) => unfinished.push(id),
            }
        }
        Ok(Listing {
            leases,
            unfinished,
            archives: hub.archives()?,
            bases: self.bases().all(),
            ladder: self.ladder()?,
        })
    }

    /// One lease.
    pub fn show(&self, id: &LeaseId) -> Result<Shown, Error> {
        let (folder, record) = self.record(id)?;
        self.shown(&Hub::open(&self.hub)?, &record, &folder)
    }

    fn shown(&self, hub: &Hub, record: &LeaseRecord, folder: &Path) -> Result<Shown, Error> {
        let lock = owner::lock(folder)?;
        let is_held = lock.is_none();
        let work = self.work(hub, record, folder, is_held);
        let size = match record.rung {
            Rung::Overlay => ["upper", "work", "shared"]
                .map(|name| sweep::size(&folder.join(name)))
                .iter()
                .sum(),
            _ => sweep::size(&folder.join("mnt")),
        };
        if !is_held {
            self.unmount_unless_kept(record, folder)?;
        }
        Ok(Shown {
            lease: Lease::of(record, folder, None)?,
            is_held,
            size,
            age_ms: self.now_ms().saturating_sub(record.created_ms),
            work: work.map_err(|error| error.to_string()),
        })
    }

    /// What lies in a lease.
    pub(crate) fn work(
        &self,
        hub: &Hub,
        record: &LeaseRecord,
        folder: &Path,
        is_held: bool,
    ) -> Result<Work, Error> {
        let look = self.look(record, folder, is_held)?;
        let touched = look.glance.touched_since(&look.tip.commit)?;
        let tip = look.tip.commit.clone();
        let has_landed = record.landed.as_deref() == Some(tip.as_str());
        let merged = if tip == record.commit {
            Merged::Nothing
        } else if has_landed || hub.has_merged(&tip) {
            Merged::Yes
        } else {
            Merged::No
        };
        Ok(Work {
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

    /// Opens a lease for looking, mounted anew if need be.
    pub(crate) fn look(
        &self,
        record: &LeaseRecord,
        folder: &Path,
        is_held: bool,
    ) -> Result<Look, Error> {
        let is_seen = record.rung != Rung::Overlay || mount::is_mounted(&folder.join("mnt"));
        if is_held && !is_seen {
            return Err(Error::Refused(format!(
                "lease {} is mounted in the namespace of {}; only there can it be looked into",
                record.id, record.owner
            )));
        }
        check_there(record, folder)?;
        if !is_held {
            self.mount_again(record, folder)?;
        }
        GitDir::open(&folder.join("mnt/git"), &record.id)?.check(&record.config)?;
        let base_index = self
            .bases()
            .folder
            .join(&record.tree)
            .join("layer/git/index");
        Look::into_lease(&self.hub, folder, &record.id, &base_index, record.rung)
    }
}
