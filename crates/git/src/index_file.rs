//! Entries of the index, and changes to it under git's lock.
//!
//! The new index is written to a copy in our own folder and then replaces the old one as a whole.
//! Invariant: the index is read after its lock was taken, so no change of another program is lost.
//! Invariant: a lock of another program is never removed; ours is recognized by its content, see
//! `land`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use base::AbsPath;
use git2::{IndexEntryExtendedFlag, IndexEntryFlag};
use host::{ExpectedContent, FileLock, Files, RealFiles, SaveRequest};

use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// Pauses between attempts to take the lock, in milliseconds: 2 s in all.
const PAUSES_MS: &[u64] = if cfg!(test) {
    &[1, 2, 4]
} else {
    &[50, 100, 200, 400, 600, 650]
};

/// An index entry without its stat data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexSlot {
    /// Mode as git stores it.
    pub(crate) mode: u32,
    /// Id of the content.
    pub(crate) id: ObjectId,
    /// The flags that users set: intent-to-add, skip-worktree.
    extended: u16,
    /// Whether the file is assumed to be unchanged.
    is_assumed: bool,
}

impl IndexSlot {
    /// Creates an entry without flags.
    pub(crate) fn new(mode: EntryMode, id: ObjectId) -> Self {
        Self {
            mode: mode.raw() as u32,
            id,
            extended: 0,
            is_assumed: false,
        }
    }

    /// Converts an entry of the index.
    pub(crate) fn of(entry: &git2::IndexEntry) -> Self {
        let kept = IndexEntryExtendedFlag::INTENT_TO_ADD | IndexEntryExtendedFlag::SKIP_WORKTREE;
        Self {
            mode: entry.mode,
            id: ObjectId(entry.id),
            extended: entry.flags_extended & kept.bits(),
            is_assumed: entry.flags & IndexEntryFlag::VALID.bits() != 0,
        }
    }

    /// Returns the same entry with another content, which ends an intent to add.
    pub(crate) fn with_content(self, id: ObjectId) -> Self {
        Self {
            id,
            extended: self.extended & !IndexEntryExtendedFlag::INTENT_TO_ADD.bits(),
            ..self
        }
    }

    /// Returns the same entry with another mode.
    pub(crate) fn with_mode(self, mode: EntryMode) -> Self {
        Self {
            mode: mode.raw() as u32,
            ..self
        }
    }

    /// Returns the entry's mode; `None` if it is unknown.
    pub(crate) fn entry_mode(&self) -> Option<EntryMode> {
        EntryMode::of(self.mode as i32)
    }

    /// Returns whether the entry only announces a file (`git add -N`).
    pub(crate) fn is_intent_to_add(&self) -> bool {
        self.extended & IndexEntryExtendedFlag::INTENT_TO_ADD.bits() != 0
    }

    /// Returns whether git does not expect the file in the working tree.
    pub(crate) fn ignores_worktree(&self) -> bool {
        self.is_assumed || self.extended & IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0
    }
}

/// Returns the merged entry of a path; `None` if there is none.
pub(crate) fn slot(index: &git2::Index, path: &TreePath) -> Option<IndexSlot> {
    entry(index, path, 0).map(|entry| IndexSlot::of(&entry))
}

/// Returns whether the index holds the sides of a conflict at a path.
pub(crate) fn is_conflicted(index: &git2::Index, path: &TreePath) -> bool {
    (1..=3).any(|stage| entry(index, path, stage).is_some())
}

/// Replaces or removes the merged entry of a path. `metadata` is that of the file if its content is
/// the entry's; without it, git compares the file when it is asked next.
pub(crate) fn put(
    index: &mut git2::Index,
    path: &TreePath,
    slot: Option<IndexSlot>,
    metadata: Option<&Metadata>,
) -> Result<(), git2::Error> {
    let Some(slot) = slot else {
        return match entry(index, path, 0) {
            Some(_) => index.remove(&path.to_path(), 0),
            None => Ok(()),
        };
    };
    let mut entry = blank_entry(path, slot.mode, slot.id);
    entry.flags_extended = slot.extended;
    if slot.is_assumed {
        entry.flags |= IndexEntryFlag::VALID.bits();
    }
    if let Some(metadata) = metadata {
        set_stat(&mut entry, metadata);
    }
    index.add(&entry)
}

/// Creates an index entry without stat data.
pub(crate) fn blank_entry(path: &TreePath, mode: u32, id: ObjectId) -> git2::IndexEntry {
    git2::IndexEntry {
        ctime: git2::IndexTime::new(0, 0),
        mtime: git2::IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: id.0,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}

/// Records the stat data of a file in its entry.
pub(crate) fn set_stat(entry: &mut git2::IndexEntry, metadata: &Metadata) {
    let time = |seconds: i64, ns: i64| git2::IndexTime::new(seconds as i32, ns as u32);
    entry.ctime = time(metadata.ctime(), metadata.ctime_nsec());
    entry.mtime = time(metadata.mtime(), metadata.mtime_nsec());
    // Git stores the low 32 bits, as the index format has no room for more.
    entry.dev = metadata.dev() as u32;
    entry.ino = metadata.ino() as u32;
    (entry.uid, entry.gid) = (metadata.uid(), metadata.gid());
    entry.file_size = metadata.len() as u32;
}

/// Returns the entry of a path at a stage; `None` if there is none or no index can hold the path.
/// An index of a volume that folds names finds other spellings as well, which do not count.
fn entry(index: &git2::Index, path: &TreePath, stage: i32) -> Option<git2::IndexEntry> {
    let bytes = path.as_bytes();
    let first = path.components().next().unwrap_or_default();
    if matches!(first, b"" | b"." | b"..") || bytes.contains(&0) {
        return None;
    }
    let entry = index.get_path(&path.to_path(), stage)?;
    (entry.path == bytes).then_some(entry)
}

impl Repository {
    /// Returns the index as it is on disk.
    pub(crate) fn fresh_index(&self) -> Result<git2::Index, Error> {
        let failed = |error: git2::Error| self.failed("index", &error);
        let mut index = self.inner.index().map_err(failed)?;
        index.read(false).map_err(failed)?;
        Ok(index)
    }

    /// Changes the index under its lock, waiting up to 2 s for the lock. If `change` fails, nothing
    /// is written.
    pub(crate) fn change_index<T, E: From<Error>>(
        &self,
        change: impl FnOnce(&mut git2::Index) -> Result<T, E>,
    ) -> Result<T, E> {
        let _landings = wait_for_index(self, &RealFiles)?;
        let changed = self.edit_index(&RealFiles, change);
        self.unlock_index(&RealFiles)?;
        changed
    }

    /// Changes the index through a copy in our own folder. If `edit` fails, the index stays as it
    /// is. The caller must hold the index lock.
    pub(crate) fn edit_index<T, E: From<Error>>(
        &self,
        files: &dyn Files,
        edit: impl FnOnce(&mut git2::Index) -> Result<T, E>,
    ) -> Result<T, E> {
        let git_dir = self.git_dir().unwrap_or_else(|| self.common_dir());
        let (place, scratch) = (git_dir.join("index"), self.burin_dir().join("index"));
        let failed = |error: git2::Error| self.failed("index", &error);
        // A process killed at this point leaves its temporary index and libgit2's lock on it.
        self.clear_scratch(files)?;
        let written_ns = copy_index(&place, &scratch, files)?;
        let mut index = git2::Index::open(scratch.as_path()).map_err(failed)?;
        distrust_racy_entries(&mut index, written_ns).map_err(failed)?;
        let result = edit(&mut index)?;
        index.write().map_err(failed)?;
        replace_index(self, &place, &scratch, files)?;
        Ok(result)
    }
}

/// Takes the landing lock, which makes a stale lock of ours recognizable, and the index lock.
fn wait_for_index(repository: &Repository, files: &dyn Files) -> Result<FileLock, Error> {
    let mut pauses = PAUSES_MS.iter();
    loop {
        let landings = repository.lock_landings(files)?;
        let is_landing = landings.is_none();
        if let Some(landings) = landings
            && repository.lock_index(files)?
        {
            return Ok(landings);
        }
        let Some(pause) = pauses.next() else {
            return Err(if is_landing {
                Error::Landing(repository.workdir().clone())
            } else {
                Error::IndexLocked(repository.index_lock())
            });
        };
        std::thread::park_timeout(Duration::from_millis(*pause));
    }
}

/// Copies the index and returns the time of its last change; the largest possible time if there
/// is no index.
fn copy_index(place: &AbsPath, scratch: &AbsPath, files: &dyn Files) -> Result<i128, Error> {
    match files.read_with_stat(place, u64::MAX) {
        Ok((bytes, stat)) => {
            files.write_private(scratch, &bytes)?;
            Ok(stat.stamp.mtime_ns)
        }
        Err(error) if error.is_not_found() => Ok(i128::MAX),
        Err(error) => Err(error.into()),
    }
}

fn replace_index(
    repository: &Repository,
    place: &AbsPath,
    scratch: &AbsPath,
    files: &dyn Files,
) -> Result<(), Error> {
    let bytes = files.read(scratch, u64::MAX)?;
    files.save(&SaveRequest {
        path: place,
        content: &bytes,
        expected: ExpectedContent::Anything,
        recovery_folder: &repository.burin_dir().join("recovery"),
    })?;
    files.remove(scratch)?;
    Ok(())
}

/// Makes git compare the content of files that changed in or after the second in which the index
/// was written: their stat data prove nothing, and the new index is younger than them.
fn distrust_racy_entries(index: &mut git2::Index, written_ns: i128) -> Result<(), git2::Error> {
    let written_s = written_ns.div_euclid(1_000_000_000);
    let is_racy = |entry: &git2::IndexEntry| {
        i128::from(entry.mtime.seconds()) >= written_s && entry.file_size != 0
    };
    let racy: Vec<_> = index.iter().filter(is_racy).collect();
    for mut entry in racy {
        entry.file_size = 0;
        index.add(&entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
