//! Compares a worktree with a commit, using the main repository's config.
//!
//! The lease's git folder is not opened: the caller has read HEAD, and the index and the objects
//! are copies.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base::AbsPath;
use git2::{Delta, DiffOptions, Index, IndexEntryFlag, Odb, Oid, Repository};

use super::{Error, MainRepo};

/// A worktree of the main repository, prepared for comparison with a commit.
pub struct StatusProbe {
    repository: Repository,
    root: AbsPath,
}

/// A file that differs from the commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TouchedFile {
    /// Path from the root of the worktree, separated by `/`.
    pub path: Vec<u8>,
    /// Whether the file is untracked.
    pub is_untracked: bool,
    /// Whether the file was deleted.
    pub is_deleted: bool,
    /// Whether it is a nested repository, whose content is not scanned.
    pub is_repository: bool,
}

impl StatusProbe {
    /// Prepares `root` with the index at `index` and the objects of the main repository and of
    /// `objects`.
    ///
    /// Only file contents below `root` are trusted; `index` and `objects` must be copies that no
    /// other process changes.
    pub fn new(
        main_repo: &AbsPath,
        root: &AbsPath,
        index: &Path,
        objects: &[&Path],
    ) -> Result<Self, Error> {
        let main_repo = MainRepo::open(main_repo)?;
        let failed = |error: git2::Error| Error::new("look at", root.as_path(), &error);
        let odb = Odb::new().map_err(failed)?;
        let own = main_repo.object_folder();
        for folder in objects.iter().copied().chain([own.as_path()]) {
            let folder = folder.to_string_lossy();
            odb.add_disk_alternate(&folder).map_err(failed)?;
        }
        let repository = main_repo.repository;
        repository.set_odb(&odb).map_err(failed)?;
        repository
            .set_workdir(root.as_path(), false)
            .map_err(failed)?;
        let mut index = clear_index_flags(Index::open(index).map_err(failed)?).map_err(failed)?;
        repository.set_index(&mut index).map_err(failed)?;
        Ok(Self {
            repository,
            root: root.clone(),
        })
    }

    /// Returns the files that differ from `commit`, sorted by path, including untracked files but
    /// not ignored ones or temporary files of saves.
    pub fn touched_since(&self, commit: &str) -> Result<Vec<TouchedFile>, Error> {
        let failed = |error: git2::Error| Error::new("compare", self.root.as_path(), &error);
        let commit = Oid::from_str(commit).map_err(failed)?;
        let commit = self.repository.find_commit(commit).map_err(failed)?;
        let tree = commit.tree().map_err(failed)?;
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_typechange(true)
            .include_unreadable(true)
            .ignore_submodules(true);
        let diff = self
            .repository
            .diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options))
            .map_err(failed)?;
        let mut touched: Vec<_> = diff.deltas().filter_map(|delta| of(&delta)).collect();
        touched.sort();
        touched.dedup();
        Ok(touched)
    }
}

/// Converts a difference to a touched file. Returns `None` for an unmodified or ignored file and
/// for an untracked temporary file of a save.
fn of(delta: &git2::DiffDelta<'_>) -> Option<TouchedFile> {
    let path = delta
        .new_file()
        .path_bytes()
        .or_else(|| delta.old_file().path_bytes())?;
    let is_repository = path.ends_with(b"/");
    let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
    if delta.status() == Delta::Unmodified || delta.status() == Delta::Ignored {
        return None;
    }
    // Temporary files of a killed save are not part of the work.
    if delta.status() == Delta::Untracked && is_draft(&path) {
        return None;
    }
    Some(TouchedFile {
        path,
        is_untracked: delta.status() == Delta::Untracked,
        is_deleted: delta.status() == Delta::Deleted,
        is_repository,
    })
}

/// Returns whether a path is a temporary file of a save.
pub(crate) fn is_draft(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next();
    name.map(std::ffi::OsStr::from_bytes)
        .is_some_and(host::is_draft_name)
}

/// Clears the index flags that could hide a file from a comparison.
fn clear_index_flags(index: Index) -> Result<Index, git2::Error> {
    let hides =
        |flags: u16, extended: u16| flags & IndexEntryFlag::VALID.bits() != 0 || extended != 0;
    let is_plain = !index
        .iter()
        .any(|entry| hides(entry.flags, entry.flags_extended));
    if is_plain {
        return Ok(index);
    }
    let mut shown = Index::new()?;
    for mut entry in index.iter() {
        if hides(entry.flags, entry.flags_extended) {
            // The file must be compared again, regardless of the flag.
            entry.flags &= !IndexEntryFlag::VALID.bits();
            entry.flags_extended = 0;
            entry.mtime = git2::IndexTime::new(0, 0);
        }
        shown.add(&entry)?;
    }
    Ok(shown)
}
