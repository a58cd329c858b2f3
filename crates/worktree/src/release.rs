//! Release of leases. Work that exists nowhere else is lost only on explicit request.

use std::fs;
use std::path::Path;

use git::lease::MainRepo;

use crate::error::Error;
use crate::json_file;
use crate::lease::{Lease, LeaseId};
use crate::list::{LeaseMerge, LeaseWork};
use crate::mounts::unmount_unless_kept;
use crate::owner::LeaseLock;
use crate::pool::WorktreePool;
use crate::ports;
use crate::record::LeaseRecord;

/// The treatment of work that exists only in the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Refuse to release the lease.
    Nothing,
    /// Lose the work, as the user requested.
    Work,
}

impl WorktreePool {
    /// Releases a lease that no running process holds, and removes its files.
    ///
    /// # Errors
    /// `Unknown`; `Held`; `Unsaved` if work would be lost and `discard` does not allow it; `Corrupt` if
    /// the work cannot be read.
    pub fn release(&self, id: &LeaseId, discard: Discard) -> Result<(), Error> {
        let folder = self.lease_folder(id);
        if !folder.is_dir() {
            return Err(Error::Unknown(id.to_string()));
        }
        let lock = self.lock(id, &folder)?;
        self.release_locked(id, &folder, lock, discard)
    }

    /// Releases a lease of this process, and removes its files; if that is refused, as by `release`, the
    /// caller keeps it.
    pub fn give_back(&self, lease: &mut Lease, discard: Discard) -> Result<(), Error> {
        self.check_discard(&lease.id, &lease.folder, discard)?;
        let lock = match lease._lock.take() {
            Some(lock) => lock,
            None => self.lock(&lease.id, &lease.folder)?,
        };
        let removed = self.remove(&lease.folder);
        drop(lock);
        removed
    }

    /// Releases a lease whose lock the caller passes. Fails, and keeps the lease, if `discard`
    /// protects work in it; its tree is then unmounted again, unless it stays mounted anyway.
    pub(crate) fn release_locked(
        &self,
        id: &LeaseId,
        folder: &Path,
        lock: LeaseLock,
        discard: Discard,
    ) -> Result<(), Error> {
        if let Err(error) = self.check_discard(id, folder, discard) {
            if let Ok((_, record)) = self.record(id) {
                unmount_unless_kept(&record, folder)?;
            }
            return Err(error);
        }
        let removed = self.remove(folder);
        drop(lock);
        removed
    }

    /// Fails with `Unsaved` if the release would lose work that `discard` protects, or with the
    /// error if the work cannot be read.
    fn check_discard(&self, id: &LeaseId, folder: &Path, discard: Discard) -> Result<(), Error> {
        if discard == Discard::Work {
            return Ok(());
        }
        let unsaved = |what: String| Error::Unsaved {
            id: id.to_string(),
            what,
        };
        let Ok((_, record)) = self.record(id) else {
            return if is_empty(folder) {
                Ok(())
            } else {
                Err(unsaved(
                    "has an invalid record and contains files".to_owned(),
                ))
            };
        };
        let work = self.work(&MainRepo::open(&self.main_repo)?, &record, folder, false)?;
        if work.is_safe_to_lose() {
            Ok(())
        } else {
            Err(unsaved(unsaved_summary(&work)))
        }
    }

    /// Removes the folder of a lease and frees its ports.
    fn remove(&self, folder: &Path) -> Result<(), Error> {
        let record: Option<LeaseRecord> = json_file::read(&folder.join("lease.json"));
        self.remove_lease_folder(folder)?;
        if let Some(record) = record {
            ports::give_back(&self.top.join("ports"), &record.ports);
        }
        Ok(())
    }
}

/// Whether a lease without a valid record holds no work: it was never complete, since the record is
/// the last file written, or its tree is not mounted and its upper layer is empty.
fn is_empty(folder: &Path) -> bool {
    if !folder.join("lease.json").exists() {
        return true;
    }
    let nothing =
        |path: &str| fs::read_dir(folder.join(path)).is_ok_and(|mut names| names.next().is_none());
    !folder.join("mnt/tree").exists() && nothing("upper/git/objects") && nothing("upper/tree")
}

/// Describes the work that would be lost, as the second half of a sentence.
fn unsaved_summary(work: &LeaseWork) -> String {
    let mut what = Vec::new();
    if !work.touched.is_empty() {
        let first = String::from_utf8_lossy(&work.touched[0].path).into_owned();
        what.push(match work.touched.len() {
            1 => format!("has an uncommitted change in {first}"),
            count => format!("has {count} uncommitted files, such as {first}"),
        });
    }
    if work.merged == LeaseMerge::No {
        what.push("has commits that are on no branch of the checkout".to_owned());
    }
    what.join(" and ")
}
