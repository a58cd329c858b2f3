//! Finds the changes of an untrusted working tree relative to its base.
//!
//! libgit2 lists the files that differ, by the user's repository settings and excludes and the
//! tree's own `.gitignore`. Their bytes are then read without following symlinks.

use base::AbsPath;
use host::Files;
use host::links::{self, NoFollowEntry};

use super::eol;
use super::unusable_file::UnusableFile;
use crate::lease::is_draft;
use crate::merge::{Changes, EntryMode, ObjectEntry, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// A working tree to scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanTarget<'a> {
    /// Root of the working tree.
    pub root: &'a AbsPath,
    /// Git folder of the working tree. Only the paths in its index are read, to find files that
    /// were added although they are ignored.
    pub git_dir: Option<&'a AbsPath>,
    /// Index file of ours that caches stat data, so that the next scan reads only files touched
    /// since. Without it every file is read.
    pub cache_file: Option<&'a AbsPath>,
}

/// Size limits of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Maximum size of one file in bytes.
    pub file_bytes: u64,
    /// Maximum total size of all changed files in bytes.
    pub all_bytes: u64,
}

/// A path that was rejected, with the reason as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPath {
    /// Path of the rejected file.
    pub path: TreePath,
    /// The reason, such as `it links to /etc, outside the repository`.
    pub reason: String,
}

/// Changes of a working tree relative to its base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeChanges {
    /// Accepted changes with their bytes.
    pub changes: Changes,
    /// Rejected paths with their reasons.
    pub refused: Vec<RefusedPath>,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            file_bytes: 100 << 20,
            all_bytes: 1 << 30,
        }
    }
}

impl Repository {
    /// Returns the changes of the working tree `place` relative to the tree `base`.
    pub fn scan(
        &self,
        place: ScanTarget<'_>,
        base: ObjectId,
        limits: ScanLimits,
        files: &dyn Files,
    ) -> Result<WorktreeChanges, Error> {
        let failed =
            |error: git2::Error| crate::repository::unreadable(place.root.as_path(), &error);
        // A separate handle, with the session's working tree and the user's repository settings.
        let reader = git2::Repository::open_ext(
            self.inner.commondir(),
            git2::RepositoryOpenFlags::NO_SEARCH,
            std::iter::empty::<&std::ffi::OsStr>(),
        )
        .map_err(failed)?;
        reader
            .set_workdir(place.root.as_path(), false)
            .map_err(failed)?;
        let mut index = match place.cache_file {
            Some(memory) => git2::Index::open(memory.as_path()),
            None => git2::Index::new(),
        }
        .map_err(failed)?;
        let tree = reader.find_tree(base.0).map_err(failed)?;
        index.read_tree(&tree).map_err(failed)?;
        reader.set_index(&mut index).map_err(failed)?;
        let names = differing(&reader, &index, place.cache_file.is_some()).map_err(failed)?;
        let within = files.open_beneath(place.root);
        let mut scan = WorktreeScan {
            repository: self,
            reader: &reader,
            base,
            root: place.root,
            files: within.as_deref().unwrap_or(files),
            limits,
            taken_bytes: 0,
            scanned: WorktreeChanges::default(),
        };
        for name in &names {
            scan.take(name)?;
        }
        for path in added_by_force(place) {
            let is_known = scan.scanned.changes.contains_key(&path)
                || index.get_path(&path.to_path(), 0).is_some();
            if !is_known && path.danger().is_none() && is_there(place.root, &path) {
                scan.take(&ScannedPath {
                    path,
                    kind: NameKind::There,
                })?;
            }
        }
        Ok(scan.scanned)
    }
}

enum NameKind {
    There,
    Gone,
    /// A folder that is a nested repository.
    Repository,
    Unreadable,
}

struct ScannedPath {
    path: TreePath,
    kind: NameKind,
}

/// Returns the paths at which the working tree of `reader` differs from `index`, with untracked
/// files but without ignored ones and temporary files of saves. With `is_remembered`, the index
/// file is updated with the stat data that was read.
fn differing(
    reader: &git2::Repository,
    index: &git2::Index,
    is_remembered: bool,
) -> Result<Vec<ScannedPath>, git2::Error> {
    let mut options = git2::DiffOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_typechange(true)
        .include_unreadable(true)
        .ignore_submodules(true)
        .skip_binary_check(true)
        .update_index(is_remembered);
    let diff = reader.diff_index_to_workdir(Some(index), Some(&mut options))?;
    let mut names = Vec::new();
    for delta in diff.deltas() {
        let file = match delta.status() {
            git2::Delta::Deleted => delta.old_file(),
            _ => delta.new_file(),
        };
        let Some(path) = file.path_bytes() else {
            continue;
        };
        let kind = match delta.status() {
            git2::Delta::Unmodified | git2::Delta::Ignored => continue,
            git2::Delta::Deleted => NameKind::Gone,
            git2::Delta::Unreadable => NameKind::Unreadable,
            _ if path.ends_with(b"/") || file.mode() == git2::FileMode::Commit => {
                NameKind::Repository
            }
            _ => NameKind::There,
        };
        let path = path.strip_suffix(b"/").unwrap_or(path);
        // Temporary files of a killed save are not part of the work and must not land.
        if delta.status() == git2::Delta::Untracked && is_draft(path) {
            continue;
        }
        names.push(ScannedPath {
            path: TreePath::new(path),
            kind,
        });
    }
    Ok(names)
}

/// Returns the paths in a session's own index. An unreadable index yields no paths, which is safe.
fn added_by_force(place: ScanTarget<'_>) -> Vec<TreePath> {
    let Some(git_dir) = place.git_dir else {
        return Vec::new();
    };
    let Ok(index) = git2::Index::open(git_dir.join("index").as_path()) else {
        return Vec::new();
    };
    let is_work = |entry: &git2::IndexEntry| entry.mode != 0o160_000 && !is_draft(&entry.path);
    let names = index.iter().filter(is_work);
    names.map(|entry| TreePath::new(entry.path)).collect()
}

/// Returns whether there is a file or a symlink at `path`, without following symlinks on the way.
fn is_there(root: &AbsPath, path: &TreePath) -> bool {
    let found = links::entry_at(root, &root.join(path.to_path()));
    matches!(
        found,
        Ok(NoFollowEntry::File { .. } | NoFollowEntry::Link(_))
    )
}

struct WorktreeScan<'a> {
    repository: &'a Repository,
    reader: &'a git2::Repository,
    base: ObjectId,
    root: &'a AbsPath,
    files: &'a dyn Files,
    limits: ScanLimits,
    taken_bytes: u64,
    scanned: WorktreeChanges,
}

impl WorktreeScan<'_> {
    /// Adds a path to the changes, or to the refused ones with the reason; nothing if its file
    /// equals the base. Fails only if the base cannot be read.
    fn take(&mut self, name: &ScannedPath) -> Result<(), Error> {
        let path = &name.path;
        if let Some(danger) = path.danger() {
            self.refuse(path, danger.to_string());
            return Ok(());
        }
        match name.kind {
            NameKind::Gone => {
                self.scanned.changes.insert(path.clone(), None);
                return Ok(());
            }
            NameKind::Repository => {
                self.refuse(path, "it contains a nested repository".to_owned());
                return Ok(());
            }
            NameKind::Unreadable => {
                self.refuse(path, "it cannot be read".to_owned());
                return Ok(());
            }
            NameKind::There => {}
        }
        match self.read(path) {
            Ok(Some(entry)) => {
                if self.repository.entry_at(self.base, path)?.as_ref() != Some(&entry) {
                    self.scanned.changes.insert(path.clone(), Some(entry));
                }
            }
            Ok(None) => {
                // The file vanished after it was listed.
                if self.repository.entry_at(self.base, path)?.is_some() {
                    self.scanned.changes.insert(path.clone(), None);
                }
            }
            Err(reason) => self.refuse(path, reason.to_string()),
        }
        Ok(())
    }

    fn refuse(&mut self, path: &TreePath, reason: String) {
        self.scanned.refused.push(RefusedPath {
            path: path.clone(),
            reason,
        });
    }

    /// Reads a file as Git would store it; `None` if it does not exist.
    fn read(&mut self, path: &TreePath) -> Result<Option<ObjectEntry>, UnusableFile> {
        let place = self.root.join(path.to_path());
        let size = match links::entry_at(self.root, &place)? {
            NoFollowEntry::Absent => return Ok(None),
            NoFollowEntry::Folder => return Err(UnusableFile::Folder),
            NoFollowEntry::Other => return Err(UnusableFile::Special),
            NoFollowEntry::Link(target) => {
                use std::os::unix::ffi::OsStrExt;
                let target = target.as_bytes();
                return match path.link_danger(target) {
                    Some(danger) => Err(UnusableFile::Danger(danger)),
                    None => Ok(Some(ObjectEntry::of_bytes(EntryMode::Link, target))),
                };
            }
            NoFollowEntry::File { size, .. } => size,
        };
        let limit = self.limits.file_bytes;
        if size > limit {
            return Err(UnusableFile::TooLarge { size, limit });
        }
        self.taken_bytes += size;
        if self.taken_bytes > self.limits.all_bytes {
            return Err(UnusableFile::AllTooLarge(self.limits.all_bytes));
        }
        let (bytes, stat) = self.files.read_with_stat(&place, limit)?;
        let mode = match stat.mode & 0o100 {
            0 => EntryMode::Plain,
            _ => EntryMode::Executable,
        };
        let is_crlf_in_git = || {
            let entry = self.repository.entry_at(self.base, path).ok().flatten();
            let bytes = entry.and_then(|entry| self.repository.bytes_of(&entry).ok());
            bytes.is_some_and(|bytes| eol::has_crlf(&bytes))
        };
        let bytes = eol::to_git(self.reader, path, &bytes, &is_crlf_in_git).into_owned();
        Ok(Some(ObjectEntry::of_bytes(mode, bytes)))
    }
}

#[cfg(test)]
mod tests;
