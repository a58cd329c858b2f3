//! Leases given back. What is in them and nowhere else goes only when somebody says so.

use std::fs;
use std::path::Path;

use git::lease::Hub;

use crate::error::Error;
use crate::lease::{Lease, LeaseId};
use crate::list::{Merged, Work};
use crate::owner::Lock;
use crate::pool::Pool;
use crate::ports;
use crate::record::{self, LeaseRecord};

/// What to do about work that is in a lease and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Refuse to release.
    Nothing,
    /// Lose it: the person said so.
    Work,
}

impl Pool {
    /// Releases a lease that no living process holds.
    pub fn release(&self, id: &LeaseId, discard: Discard) -> Result<(), Error> {
        let folder = self.lease_folder(id);
        if !folder.is_dir() {
            return Err(Error::Unknown(id.to_string()));
        }
        let lock = self.lock(id, &folder)?;
        self.release_locked(id, &folder, lock, discard)
    }

    /// Releases a lease of this process; where that is refused, it stays this process's.
    pub fn give_back(&self, lease: &mut Lease, discard: Discard) -> Result<(), Error> {
        self.check_losable(&lease.id, &lease.folder, discard)?;
        let lock = match lease._lock.take() {
            Some(lock) => lock,
            None => self.lock(&lease.id, &lease.folder)?,
        };
        let removed = self.remove(&lease.folder);
        drop(lock);
        removed
    }

    pub(crate) fn release_locked(
        &self,
        id: &LeaseId,
        folder: &Path,
        lock: Lock,
        discard: Discard,
    ) -> Result<(), Error> {
        if let Err(error) = self.check_losable(id, folder, discard) {
            if let Ok((_, record)) = self.record(id) {
                self.unmount_unless_kept(&record, folder)?;
            }
            return Err(error);
        }
        let removed = self.remove(folder);
        drop(lock);
        removed
    }

    fn check_losable(&self, id: &LeaseId, folder: &Path, discard: Discard) -> Result<(), Error> {
        if discard == Discard::Work {
            return Ok(());
        }
        let unsaved = |what: String| Error::Unsaved {
            id: id.to_string(),
            what,
        };
        let Ok((_, record)) = self.record(id) else {
            return match is_empty(folder) {
                true => Ok(()),
                false => Err(unsaved("has a torn record, and files in it".to_owned())),
            };
        };
        let work = self.work(&Hub::open(&self.hub)?, &record, folder, false)?;
        match work.is_safe_to_lose() {
            true => Ok(()),
            false => Err(unsaved(said(&work))),
        }
    }

    fn remove(&self, folder: &Path) -> Result<(), Error> {
        let record: Option<LeaseRecord> = record::read(&folder.join("lease.json"));
        self.clear(folder)?;
        if let Some(record) = record {
            ports::give_back(&self.top.join("ports"), &record.ports);
        }
        Ok(())
    }
}

/// Whether a lease without a record was never ready: its record is the last file that is written.
fn is_empty(folder: &Path) -> bool {
    if !folder.join("lease.json").exists() {
        return true;
    }
    let nothing =
        |path: &str| fs::read_dir(folder.join(path)).is_ok_and(|mut names| names.next().is_none());
    !folder.join("mnt/tree").exists() && nothing("upper/git/objects") && nothing("upper/tree")
}

/// What would be lost, as the second half of a sentence.
fn said(work: &Work) -> String {
    let mut what = Vec::new();
    if !work.touched.is_empty() {
        let first = String::from_utf8_lossy(&work.touched[0].path).into_owned();
        what.push(match work.touched.len() {
            1 => format!("has a change in {first} that is not committed"),
            count => format!("has {count} files that are not committed, {first} for one"),
        });
    }
    if work.merged == Merged::No {
        what.push("has commits that no branch of the checkout has".to_owned());
    }
    what.join(" and ")
}
