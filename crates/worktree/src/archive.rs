//! Work put away in the hub, and brought back as it was.
//!
//! Everything that git would not ignore goes into a commit below `refs/burin/archive/`; the lease's own commits come
//! with it. The hub's config and hooks play no part.

use git::lease::{Archived, Head, Hub};

use crate::beneath::{Beneath, Held};
use crate::error::Error;
use crate::fill::{as_path, to_path};
use crate::hidden::Hidden;
use crate::lease::{Lease, LeaseId};
use crate::owner::{Gate, Owner};
use crate::pool::Pool;
use crate::record::LeaseRecord;
use crate::release::Discard;

/// Larger files are not put away: in bytes.
const LARGEST: u64 = 1 << 30;

impl Pool {
    /// Puts the work of a lease away and frees its tree. Killed in between, the lease is still there.
    pub fn archive(&self, id: &LeaseId) -> Result<Archived, Error> {
        let (folder, record) = self.record(id)?;
        let lock = self.lock(id, &folder)?;
        let hub = Hub::open(&self.hub)?;
        let archived = self.put_away(&hub, &record, &folder)?;
        self.release_locked(id, &folder, lock, Discard::Work)?;
        Ok(archived)
    }

    /// Leases a tree that holds archived work as it was: commits, uncommitted changes, untracked files.
    pub fn restore(&self, name: &str) -> Result<Lease, Error> {
        let hub = Hub::open(&self.hub)?;
        let archives = hub.archives()?;
        let archived = archives.into_iter().find(|archived| archived.name == name);
        let archived = archived.ok_or_else(|| {
            Error::Refused(format!(
                "nothing is archived as {name}; \"burin-agent worktree list\" names what is"
            ))
        })?;
        let start = hub.resolve(&archived.tip)?;
        let base = noted(&archived.message, "Burin-Base").unwrap_or_else(|| start.commit.clone());
        let base = hub
            .resolve(&base)
            .map_or(start.commit.clone(), |head| head.commit);
        let changed = hub.between(&archived.tip, &archived.commit)?;
        let fill = |lease: &Lease| -> Result<(), Error> {
            let root = lease.root.as_path();
            let beneath = Beneath::open(root).map_err(Error::file("open", root))?;
            // What is gone goes first: a folder may stand where a file was.
            let (gone, there): (Vec<_>, Vec<_>) =
                changed.iter().partition(|(_, file)| file.is_none());
            for (path, file) in gone.into_iter().chain(there) {
                let held = match file {
                    None => Held::Absent,
                    Some(_) => {
                        let found = hub.committed(&archived.commit, path);
                        let (content, mode) = found.ok_or_else(|| {
                            Error::Refused(format!(
                                "the archive {name} lacks the content of a file"
                            ))
                        })?;
                        Held::of_entry(mode, content)
                    }
                };
                let path = as_path(path);
                beneath
                    .put(path, &held)
                    .map_err(Error::file("restore", path))?;
            }
            Ok(())
        };
        let _gate = Gate::wait(&self.folder.join("lock"))?;
        let head = Head {
            branch: hub.head()?.branch,
            ..start
        };
        let mut making = self.making(&hub, head, base, Owner::this())?;
        let wanted = LeaseId::parse(name);
        let lease = self.create(&mut making, wanted.as_ref(), Some(&fill))?;
        // From here on the lease holds it; its commits stay kept under the base's hidden names.
        Hidden::of(&hub).remove(&format!("archive/{name}"))?;
        Ok(lease)
    }

    fn put_away(
        &self,
        hub: &Hub,
        record: &LeaseRecord,
        folder: &std::path::Path,
    ) -> Result<Archived, Error> {
        let look = self.look(record, folder, false)?;
        let touched = look.glance.touched_since(&look.tip.commit)?;
        if let Some(inner) = touched.iter().find(|touched| touched.is_repository) {
            return Err(Error::Spoilt {
                id: record.id.clone(),
                what: format!(
                    "{} is a repository of its own, which an archive cannot hold; move it elsewhere first",
                    String::from_utf8_lossy(&inner.path)
                ),
            });
        }
        let root = folder.join("mnt/tree");
        let beneath = Beneath::open(&root).map_err(Error::file("open", &root))?;
        let mut entries = Vec::with_capacity(touched.len());
        for one in touched {
            let path = to_path(&one.path);
            let held = beneath
                .held(&path, LARGEST)
                .map_err(Error::file("archive", &path))?;
            entries.push((one.path, held.into_entry()));
        }
        hub.adopt(&look.objects(), &look.tip.commit)?;
        let message = format!(
            "Archived worktree {}\n\nBurin-Branch: {}\nBurin-Base: {}\n",
            record.id, record.branch, record.commit
        );
        let seconds = i64::try_from(self.now_ms() / 1000).unwrap_or(0);
        let archived = hub.put_away(
            &record.id,
            &look.tip.commit,
            entries.into_iter(),
            &message,
            seconds,
        )?;
        // The tree goes next: what was taken over must be on the disk before, and the ref after that.
        let common = hub.common_dir();
        let synced =
            std::fs::File::open(&common).and_then(|folder| Ok(rustix::fs::syncfs(&folder)?));
        synced.map_err(Error::file("sync", &common))?;
        Hidden::of(hub).set(&format!("archive/{}", record.id), &archived.commit)?;
        Ok(archived)
    }
}

/// The value of a trailer of ours.
fn noted(message: &str, name: &str) -> Option<String> {
    message.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(": ")?;
        Some(value.trim().to_owned())
    })
}
