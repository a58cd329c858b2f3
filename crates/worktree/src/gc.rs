//! Garbage collection: removes leftovers of crashes, unused bases, and, above the quota, leases
//! whose work is stored elsewhere. Reports a reason for everything it keeps.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use git::lease::MainRepo;

use crate::dir_tree;
use crate::error::Error;
use crate::hidden_refs::HiddenRefs;
use crate::json_file;
use crate::lease::LeaseId;
use crate::list::LeaseStatus;
use crate::owner::{self, BlockingLock, Owner};
use crate::pool::WorktreePool;
use crate::probe;
use crate::record::LeaseRecord;
use crate::release::Discard;

/// The result of a garbage collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// The removed items, as sentences.
    pub removed: Vec<String>,
    /// The kept items with their reasons, as sentences.
    pub kept: Vec<String>,
    /// Disk usage afterwards, in bytes.
    pub size: u64,
}

impl WorktreePool {
    /// Removes leases until the disk usage is at most `quota` bytes, or no more can be removed without
    /// losing work. Leases whose work landed completely are archived; leftovers of crashes and unused
    /// bases are always removed; the newest base stays, so that the next lease is fast. Takes as long as
    /// `git status` in every lease, and waits for removals in the background.
    pub fn gc(&self, quota: u64) -> Result<GcReport, Error> {
        let mut cleared = GcReport::default();
        for id in self.retire_landed()? {
            let line = format!("{id}: landed completely, archived");
            cleared.removed.push(line);
        }
        let listing = self.list()?;
        let gate = BlockingLock::wait(&self.folder.join("lock"))?;
        for id in &listing.unfinished {
            let line = match self.release(id, Discard::Nothing) {
                Ok(()) => format!("{id}: incomplete"),
                Err(error) => {
                    cleared.kept.push(format!("{id}: {error}"));
                    continue;
                }
            };
            cleared.removed.push(line);
        }
        self.sweeper.finish();
        self.clear_gone(&mut cleared)?;
        for name in self.clear_archives()? {
            let line = format!("{name}: landed more than two weeks ago");
            cleared.removed.push(line);
        }
        self.clear_leases(&listing.leases, quota, &mut cleared);
        self.clear_bases(&mut cleared)?;
        self.clear_pins()?;
        drop(gate);
        self.sweeper.finish();
        cleared.size = dir_tree::disk_usage(&self.folder);
        Ok(cleared)
    }

    /// Removes the leftovers of interrupted releases.
    fn clear_gone(&self, cleared: &mut GcReport) -> Result<(), Error> {
        let gone = self.folder.join("gone");
        let entries = |folder: &Path| {
            let entries = fs::read_dir(folder).map_err(Error::file("read", folder));
            entries.map(|entries| entries.flatten().collect::<Vec<_>>())
        };
        let mut left = entries(&self.folder)?;
        left.retain(|entry| probe::is_left_over(&entry.file_name().to_string_lossy()));
        left.extend(entries(&gone)?);
        for entry in left {
            let path = entry.path();
            crate::mount::detach_below(&path).map_err(Error::file("unmount below", &path))?;
            dir_tree::remove_all(&path).map_err(Error::file("remove", &path))?;
            cleared
                .removed
                .push(format!("{}: leftover", entry.file_name().to_string_lossy()));
        }
        Ok(())
    }

    fn clear_leases(&self, leases: &[LeaseStatus], quota: u64, cleared: &mut GcReport) {
        let mut size = dir_tree::disk_usage(&self.folder);
        let mut oldest: Vec<&LeaseStatus> = leases.iter().collect();
        oldest.sort_by_key(|shown| std::cmp::Reverse(shown.age_ms));
        for shown in oldest {
            let id = &shown.lease.id;
            let reason = match (&shown.work, shown.is_held) {
                (_, true) => Some("is in use".to_owned()),
                (Err(error), _) => Some(error.to_string()),
                (Ok(work), _) if !work.touched.is_empty() => {
                    Some("has uncommitted work".to_owned())
                }
                (Ok(work), _) if !work.is_safe_to_lose() => Some("has unlanded commits".to_owned()),
                _ if shown.lease.owner == Owner::Person => Some("is yours; release it".to_owned()),
                _ if size <= quota => Some("is within the quota".to_owned()),
                _ => None,
            };
            if let Some(reason) = reason {
                cleared.kept.push(format!("{id}: {reason}"));
                continue;
            }
            // `release` checks the work again, under the lease's lock.
            match self.release(id, Discard::Nothing) {
                Ok(()) => {
                    size = size.saturating_sub(shown.size);
                    cleared
                        .removed
                        .push(format!("{id}: {} KiB, no work lost", shown.size >> 10));
                }
                Err(error) => cleared.kept.push(error.to_string()),
            }
        }
    }

    /// Removes all bases that no lease uses, except the newest complete one, and reports them.
    /// Waits until no other process makes a base.
    fn clear_bases(&self, cleared: &mut GcReport) -> Result<(), Error> {
        let bases = self.bases();
        let _gate = BlockingLock::wait(&bases.folder.join("lock"))?;
        let used = self.used();
        let newest = bases.all().first().map(|base| base.tree.clone());
        for entry in fs::read_dir(&bases.folder)
            .map_err(Error::file("read", &bases.folder))?
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_kept =
                !entry.path().is_dir() || used.contains(&name) || newest.as_ref() == Some(&name);
            if is_kept {
                continue;
            }
            // Moved away first, so that an incomplete base is never found.
            let gone = self.folder.join("gone").join(format!("base-{name}"));
            fs::rename(entry.path(), &gone).map_err(Error::file("put aside", &entry.path()))?;
            dir_tree::remove_all(&gone).map_err(Error::file("remove", &gone))?;
            cleared
                .removed
                .push(format!("base {}: unused", &name[..name.len().min(10)]));
        }
        Ok(())
    }

    /// Removes hidden refs to commits that no lease needs.
    fn clear_pins(&self) -> Result<(), Error> {
        let main_repo = MainRepo::open(&self.main_repo)?;
        let hidden = HiddenRefs::new(&main_repo);
        hidden.clear_stale()?;
        let used = self.used();
        let head = main_repo.head()?;
        for (commit, _) in main_repo.pinned("base")? {
            let is_used = used.contains(&commit) || commit == head.commit;
            // A base that stays is read again when the next one is made.
            let has_base = main_repo
                .resolve(&commit)
                .is_ok_and(|head| self.bases().find(&head.tree).is_some());
            if !is_used && !has_base {
                hidden.remove(&crate::pool::base_ref(&commit))?;
            }
        }
        Ok(())
    }

    /// The trees and commits that leases use.
    fn used(&self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        for id in self.ids() {
            let path = self.lease_folder(&id).join("lease.json");
            if let Some(record) = json_file::read::<LeaseRecord>(&path) {
                used.extend([record.tree, record.commit, record.start]);
            }
        }
        used
    }

    /// Returns the leases that no process holds and that are not the user's: they can be taken over, or,
    /// if their creation was interrupted, released.
    pub fn orphans(&self) -> Vec<LeaseId> {
        let mut orphans = self.ids();
        orphans.retain(|id| {
            let is_person = self
                .record(id)
                .is_ok_and(|(_, record)| record.owner == Owner::Person);
            !is_person && matches!(owner::try_lock(&self.lease_folder(id)), Ok(Some(_)))
        });
        orphans
    }
}
