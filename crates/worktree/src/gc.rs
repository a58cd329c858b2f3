//! What can go without loss goes: leftovers of crashes, bases nobody stands on, and, over the quota, leases whose work
//! is elsewhere. What is kept is told with its reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use git::lease::Hub;

use crate::error::Error;
use crate::hidden::Hidden;
use crate::lease::LeaseId;
use crate::list::Shown;
use crate::mounts;
use crate::owner::{self, Gate, Owner};
use crate::pool::Pool;
use crate::record;
use crate::release::Discard;
use crate::sweep;

/// What was cleared away, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// What went, as sentences.
    pub removed: Vec<String>,
    /// What stayed, with the reason, as sentences.
    pub kept: Vec<String>,
    /// What everything takes afterwards, in bytes.
    pub size: u64,
}

impl Pool {
    /// Clears away until everything takes at most `quota` bytes, or nothing more can go without loss. Leftovers and
    /// unused bases go in any case; the base made last stays, so that the next lease is quick.
    pub fn gc(&self, quota: u64) -> Result<Cleared, Error> {
        let mut cleared = Cleared::default();
        for id in self.retire_landed()? {
            let line = format!("{id}: all of it landed, and it is archived");
            cleared.removed.push(line);
        }
        let listing = self.list()?;
        let gate = Gate::wait(&self.folder.join("lock"))?;
        for id in &listing.unfinished {
            let line = match self.release(id, Discard::Nothing) {
                Ok(()) => format!("{id}: was never ready"),
                Err(error) => {
                    cleared.kept.push(format!("{id}: {error}"));
                    continue;
                }
            };
            cleared.removed.push(line);
        }
        self.clear_gone(&mut cleared)?;
        for name in self.clear_archives()? {
            let line = format!("{name}: it landed more than two weeks ago");
            cleared.removed.push(line);
        }
        self.clear_leases(&listing.leases, quota, &mut cleared);
        self.clear_bases(&mut cleared)?;
        self.clear_pins()?;
        drop(gate);
        cleared.size = sweep::size(&self.folder);
        Ok(cleared)
    }

    /// What releasing left when it was killed.
    fn clear_gone(&self, cleared: &mut Cleared) -> Result<(), Error> {
        let gone = self.folder.join("gone");
        let entries = |folder: &Path| {
            let entries = fs::read_dir(folder).map_err(Error::file("read", folder));
            entries.map(|entries| entries.flatten().collect::<Vec<_>>())
        };
        let mut left = entries(&self.folder)?;
        left.retain(|entry| mounts::is_left_over(&entry.file_name().to_string_lossy()));
        left.extend(entries(&gone)?);
        for entry in left {
            let path = entry.path();
            crate::mount::detach_below(&path).map_err(Error::file("unmount below", &path))?;
            sweep::remove(&path).map_err(Error::file("remove", &path))?;
            cleared.removed.push(format!(
                "{}: what was left of it",
                entry.file_name().to_string_lossy()
            ));
        }
        Ok(())
    }

    fn clear_leases(&self, leases: &[Shown], quota: u64, cleared: &mut Cleared) {
        let mut size = sweep::size(&self.folder);
        let mut oldest: Vec<&Shown> = leases.iter().collect();
        oldest.sort_by_key(|shown| std::cmp::Reverse(shown.age_ms));
        for shown in oldest {
            let id = &shown.lease.id;
            let reason = match (&shown.work, shown.is_held) {
                (_, true) => Some("is in use".to_owned()),
                (Err(sentence), _) => Some(sentence.clone()),
                (Ok(work), _) if !work.touched.is_empty() => {
                    Some("has uncommitted work".to_owned())
                }
                (Ok(work), _) if !work.is_safe_to_lose() => {
                    Some("has commits that did not land".to_owned())
                }
                _ if shown.lease.owner == Owner::Person => Some("is yours; release it".to_owned()),
                _ if size <= quota => Some("fits into the quota".to_owned()),
                _ => None,
            };
            if let Some(reason) = reason {
                cleared.kept.push(format!("{id}: {reason}"));
                continue;
            }
            // Looked at again under its lock.
            match self.release(id, Discard::Nothing) {
                Ok(()) => {
                    size = size.saturating_sub(shown.size);
                    cleared.removed.push(format!(
                        "{id}: {} KiB, nothing in it was lost",
                        shown.size >> 10
                    ));
                }
                Err(error) => cleared.kept.push(error.to_string()),
            }
        }
    }

    fn clear_bases(&self, cleared: &mut Cleared) -> Result<(), Error> {
        let bases = self.bases();
        let _gate = Gate::wait(&bases.folder.join("lock"))?;
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
            // Out of sight before it is incomplete.
            let gone = self.folder.join("gone").join(format!("base-{name}"));
            fs::rename(entry.path(), &gone).map_err(Error::file("put aside", &entry.path()))?;
            sweep::remove(&gone).map_err(Error::file("remove", &gone))?;
            cleared.removed.push(format!(
                "the base {}: no lease stands on it",
                &name[..name.len().min(10)]
            ));
        }
        Ok(())
    }

    /// Lets go of commits that no lease needs.
    fn clear_pins(&self) -> Result<(), Error> {
        let hub = Hub::open(&self.hub)?;
        let hidden = Hidden::of(&hub);
        hidden.clear_stale()?;
        let used = self.used();
        let head = hub.head()?;
        for (commit, _) in hub.pinned("base")? {
            let is_used = used.contains(&commit) || commit == head.commit;
            // Bases that stay are read from again when the next one is made.
            let has_base = hub
                .resolve(&commit)
                .is_ok_and(|head| self.bases().find(&head.tree).is_some());
            if !is_used && !has_base {
                hidden.remove(&crate::pool::pin(&commit))?;
            }
        }
        Ok(())
    }

    /// The trees and commits that leases stand on.
    fn used(&self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        for id in self.ids() {
            let path = self.lease_folder(&id).join("lease.json");
            if let Some(record) = record::read::<record::LeaseRecord>(&path) {
                used.extend([record.tree, record.commit, record.start]);
            }
        }
        used
    }

    /// The leases whose program is gone, for offering them again.
    pub fn orphans(&self) -> Vec<LeaseId> {
        let mut orphans = self.ids();
        orphans.retain(|id| {
            let is_person = self
                .record(id)
                .is_ok_and(|(_, record)| record.owner == Owner::Person);
            !is_person && matches!(owner::lock(&self.lease_folder(id)), Ok(Some(_)))
        });
        orphans
    }
}
