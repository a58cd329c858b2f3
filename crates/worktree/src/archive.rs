//! Archives of leases' work, as commits of the main repository, and their restoration.
//!
//! A commit below `refs/burin/archive/` holds every file that Git does not ignore; the lease's own
//! commits are its ancestors. Config and hooks of the main repository are not used.

use git::lease::{ArchivedCommit, HeadCommit, MainRepo};

use crate::error::Error;
use crate::fill::{as_path, to_path};
use crate::hidden_refs::HiddenRefs;
use crate::lease::{Lease, LeaseId};
use crate::mounts::unmount_unless_kept;
use crate::open_beneath::{PathContent, RootedDir};
use crate::owner::{BlockingLock, Owner};
use crate::pool::WorktreePool;
use crate::record::LeaseRecord;
use crate::release::Discard;
use crate::system;

/// Maximum size of an archived file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// The trailer with the commit as which archived work landed.
const LANDED_TRAILER: &str = "Burin-Landed";
/// Lifetime of archives of landed work, in seconds: two weeks.
const ARCHIVE_LIFETIME_SECS: i64 = 14 * 24 * 3600;

impl WorktreePool {
    /// Archives the work of a lease and removes its tree. If the process is killed midway, the
    /// lease still exists.
    pub fn archive(&self, id: &LeaseId) -> Result<ArchivedCommit, Error> {
        let (folder, record) = self.record(id)?;
        let lock = self.lock(id, &folder)?;
        let main_repo = MainRepo::open(&self.main_repo)?;
        let put_away = self.write_archive_commit(&main_repo, &record, &folder, "");
        let archived = put_away.and_then(|archived| {
            // The tree is removed next, so the adopted objects must be on the disk first, and the
            // ref after them.
            let common = main_repo.common_dir();
            let synced =
                std::fs::File::open(&common).and_then(|folder| system::sync_file_system(&folder));
            synced.map_err(Error::file("sync", &common))?;
            HiddenRefs::new(&main_repo).set(&archive_ref(&record.id), &archived.commit)?;
            Ok(archived)
        });
        let Ok(archived) = archived else {
            unmount_unless_kept(&record, &folder)?;
            return archived;
        };
        self.release_locked(id, &folder, lock, Discard::Work)?;
        Ok(archived)
    }

    /// Archives and releases a lease whose work has landed completely and did not change since;
    /// undoing the landing finds it in the archive. Leases of the user stay. Returns whether it was
    /// released; otherwise the caller keeps it.
    pub fn retire(&self, lease: &mut Lease) -> Result<bool, Error> {
        let (folder, record) = self.record(&lease.id)?;
        let is_persons = record.owner == Owner::Person;
        let Some(whole) = record.whole.as_ref().filter(|_| !is_persons) else {
            return Ok(false);
        };
        let main_repo = MainRepo::open(&self.main_repo)?;
        let trailer = format!("{LANDED_TRAILER}: {}\n", whole.commit);
        let archived = self.write_archive_commit(&main_repo, &record, &folder, &trailer)?;
        if main_repo.resolve(&archived.commit)?.tree != whole.tree {
            return Ok(false);
        }
        HiddenRefs::new(&main_repo).set(&archive_ref(&record.id), &archived.commit)?;
        self.give_back(lease, Discard::Work)?;
        Ok(true)
    }

    /// Retires all landed leases that no process holds, and returns their names.
    pub fn retire_landed(&self) -> Result<Vec<LeaseId>, Error> {
        let mut retired = Vec::new();
        for id in self.ids() {
            let has_landed = self
                .record(&id)
                .is_ok_and(|(_, record)| record.whole.is_some() && record.owner != Owner::Person);
            if !has_landed {
                continue;
            }
            // A lease that was taken meanwhile is in use and stays.
            if let Ok(mut lease) = self.take_over(&id)
                && self.retire(&mut lease)?
            {
                retired.push(id);
            }
        }
        Ok(retired)
    }

    /// Removes archives older than two weeks whose work is on a branch of the checkout, and returns
    /// their names.
    pub(crate) fn clear_archives(&self) -> Result<Vec<String>, Error> {
        let main_repo = MainRepo::open(&self.main_repo)?;
        let now = i64::try_from(self.now_ms() / 1000).unwrap_or(0);
        let mut cleared = Vec::new();
        for archived in main_repo.archives()? {
            let landed = trailer(&archived.message, LANDED_TRAILER);
            let has_landed = landed.is_some_and(|commit| main_repo.has_merged(&commit));
            if has_landed && now - archived.seconds > ARCHIVE_LIFETIME_SECS {
                HiddenRefs::new(&main_repo).remove(&archive_ref(&archived.name))?;
                cleared.push(archived.name);
            }
        }
        Ok(cleared)
    }

    /// Leases a worktree with the archived work: commits, uncommitted changes, untracked files.
    pub fn restore(&self, name: &str) -> Result<Lease, Error> {
        let main_repo = MainRepo::open(&self.main_repo)?;
        let archives = main_repo.archives()?;
        let archived = archives.into_iter().find(|archived| archived.name == name);
        let archived = archived.ok_or_else(|| {
            Error::Refused(format!(
                "there is no archive {name}; \"burin-agent worktree list\" lists the archives"
            ))
        })?;
        let start = main_repo.resolve(&archived.tip)?;
        let base = trailer(&archived.message, "Burin-Base").unwrap_or_else(|| start.commit.clone());
        let base = main_repo
            .resolve(&base)
            .map_or(start.commit.clone(), |head| head.commit);
        let changed = main_repo.between(&archived.tip, &archived.commit)?;
        let fill = |lease: &Lease| -> Result<(), Error> {
            let root = lease.root.as_path();
            let beneath = RootedDir::open(root).map_err(Error::file("open", root))?;
            // Removals come first: a folder may take the place of a file.
            let (gone, there): (Vec<_>, Vec<_>) =
                changed.iter().partition(|(_, file)| file.is_none());
            for (path, file) in gone.into_iter().chain(there) {
                let held = match file {
                    None => PathContent::Absent,
                    Some(_) => {
                        let found = main_repo.committed(&archived.commit, path);
                        let (content, mode) = found.ok_or_else(|| {
                            Error::Refused(format!("archive {name} lacks the content of a file"))
                        })?;
                        PathContent::from_entry(mode, content)
                    }
                };
                let path = as_path(path);
                beneath
                    .write_entry(path, &held)
                    .map_err(Error::file("restore", path))?;
            }
            Ok(())
        };
        let _gate = BlockingLock::wait(&self.folder.join("lock"))?;
        let head = HeadCommit {
            branch: main_repo.head()?.branch,
            ..start
        };
        let mut draft = self.draft(&main_repo, head, base, Owner::current_process())?;
        let wanted = LeaseId::parse(name);
        let lease = self.create(&mut draft, wanted.as_ref(), Some(&fill))?;
        if let Some(commit) = trailer(&archived.message, LANDED_TRAILER) {
            let tree = main_repo.resolve(&archived.commit)?.tree;
            self.note_whole(&lease.id, &tree, &commit)?;
        }
        // From here on the lease holds the work; its commits stay reachable through the hidden refs
        // of its base.
        HiddenRefs::new(&main_repo).remove(&archive_ref(name))?;
        Ok(lease)
    }

    /// Writes all files of a lease as a commit of the main repository, to which no ref points yet.
    fn write_archive_commit(
        &self,
        main_repo: &MainRepo,
        record: &LeaseRecord,
        folder: &std::path::Path,
        trailer: &str,
    ) -> Result<ArchivedCommit, Error> {
        let snapshot = self.snapshot(record, folder, false)?;
        let touched = snapshot.status.touched_since(&snapshot.tip.commit)?;
        if let Some(inner) = touched.iter().find(|touched| touched.is_repository) {
            return Err(Error::Corrupt {
                id: record.id.clone(),
                what: format!(
                    "{} is a nested repository, which an archive cannot contain; move it elsewhere \
                     first",
                    String::from_utf8_lossy(&inner.path)
                ),
            });
        }
        let root = folder.join("mnt/tree");
        let beneath = RootedDir::open(&root).map_err(Error::file("open", &root))?;
        let mut entries = Vec::with_capacity(touched.len());
        for one in touched {
            let path = to_path(&one.path);
            let held = beneath
                .read_entry(&path, MAX_FILE_BYTES)
                .map_err(Error::file("archive", &path))?;
            entries.push((one.path, held.into_entry()));
        }
        main_repo.import_commits(&snapshot.objects(), &snapshot.tip.commit)?;
        let message = format!(
            "Archived worktree {}\n\nBurin-Branch: {}\nBurin-Base: {}\n{trailer}",
            record.id, record.branch, record.commit
        );
        let seconds = i64::try_from(self.now_ms() / 1000).unwrap_or(0);
        Ok(main_repo.archive(
            &record.id,
            &snapshot.tip.commit,
            entries.into_iter(),
            &message,
            seconds,
        )?)
    }
}

fn archive_ref(name: &str) -> String {
    format!("archive/{name}")
}

/// The value of one of our trailers.
fn trailer(message: &str, name: &str) -> Option<String> {
    message.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(": ")?;
        Some(value.trim().to_owned())
    })
}
