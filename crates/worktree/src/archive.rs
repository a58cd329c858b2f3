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
/// The trailer that names the commit as which archived work landed.
const LANDED: &str = "Burin-Landed";
/// Archives of landed work are kept so long, in seconds: two weeks.
const OUTLIVES: i64 = 14 * 24 * 3600;

impl Pool {
    /// Puts the work of a lease away and frees its tree. Killed in between, the lease is still there.
    pub fn archive(&self, id: &LeaseId) -> Result<Archived, Error> {
        let (folder, record) = self.record(id)?;
        let lock = self.lock(id, &folder)?;
        let hub = Hub::open(&self.hub)?;
        let put_away = self.written(&hub, &record, &folder, "");
        let archived = put_away.and_then(|archived| {
            // The tree goes next: what was taken over must be on the disk before, and the ref after that.
            let common = hub.common_dir();
            let synced =
                std::fs::File::open(&common).and_then(|folder| Ok(rustix::fs::syncfs(&folder)?));
            synced.map_err(Error::file("sync", &common))?;
            Hidden::of(&hub).set(&hidden(&record.id), &archived.commit)?;
            Ok(archived)
        });
        let Ok(archived) = archived else {
            self.unmount_unless_kept(&record, &folder)?;
            return archived;
        };
        self.release_locked(id, &folder, lock, Discard::Work)?;
        Ok(archived)
    }

    /// Puts a lease away whose whole work has landed, and nothing came after that: taking the landing back finds it
    /// in the archive. A person's stays. Says whether it went; where not, it stays the caller's.
    pub fn retire(&self, lease: &mut Lease) -> Result<bool, Error> {
        let (folder, record) = self.record(&lease.id)?;
        let is_persons = record.owner == Owner::Person;
        let Some(whole) = record.whole.as_ref().filter(|_| !is_persons) else {
            return Ok(false);
        };
        let hub = Hub::open(&self.hub)?;
        let trailer = format!("{LANDED}: {}\n", whole.commit);
        let archived = self.written(&hub, &record, &folder, &trailer)?;
        if hub.resolve(&archived.commit)?.tree != whole.tree {
            return Ok(false);
        }
        Hidden::of(&hub).set(&hidden(&record.id), &archived.commit)?;
        self.give_back(lease, Discard::Work)?;
        Ok(true)
    }

    /// Retires leases whose whole work has landed and that nobody holds; their names.
    pub fn retire_landed(&self) -> Result<Vec<LeaseId>, Error> {
        let mut retired = Vec::new();
        for id in self.ids() {
            let has_landed = self
                .record(&id)
                .is_ok_and(|(_, record)| record.whole.is_some() && record.owner != Owner::Person);
            if !has_landed {
                continue;
            }
            // One that is held meanwhile is in use, and that is fine.
            if let Ok(mut lease) = self.take(&id)
                && self.retire(&mut lease)?
            {
                retired.push(id);
            }
        }
        Ok(retired)
    }

    /// Lets go of archives whose work is on a branch of the checkout and that are older than two weeks; their names.
    pub(crate) fn clear_archives(&self) -> Result<Vec<String>, Error> {
        let hub = Hub::open(&self.hub)?;
        let now = i64::try_from(self.now_ms() / 1000).unwrap_or(0);
        let mut cleared = Vec::new();
        for archived in hub.archives()? {
            let landed = noted(&archived.message, LANDED);
            let has_landed = landed.is_some_and(|commit| hub.has_merged(&commit));
            if has_landed && now - archived.seconds > OUTLIVES {
                Hidden::of(&hub).remove(&hidden(&archived.name))?;
                cleared.push(archived.name);
            }
        }
        Ok(cleared)
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
        if let Some(commit) = noted(&archived.message, LANDED) {
            let tree = hub.resolve(&archived.commit)?.tree;
            self.note_whole(&lease.id, &tree, &commit)?;
        }
        // From here on the lease holds it; its commits stay kept under the base's hidden names.
        Hidden::of(&hub).remove(&hidden(name))?;
        Ok(lease)
    }

    /// All that lies in a lease as a commit of the hub, which nothing keeps yet.
    fn written(
        &self,
        hub: &Hub,
        record: &LeaseRecord,
        folder: &std::path::Path,
        trailer: &str,
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
            "Archived worktree {}\n\nBurin-Branch: {}\nBurin-Base: {}\n{trailer}",
            record.id, record.branch, record.commit
        );
        let seconds = i64::try_from(self.now_ms() / 1000).unwrap_or(0);
        Ok(hub.put_away(
            &record.id,
            &look.tip.commit,
            entries.into_iter(),
            &message,
            seconds,
        )?)
    }
}

fn hidden(name: &str) -> String {
    format!("archive/{name}")
}

/// The value of a trailer of ours.
fn noted(message: &str, name: &str) -> Option<String> {
    message.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(": ")?;
        Some(value.trim().to_owned())
    })
}
