//! What a worktree changed against a commit, seen through the hub's own config.
//!
//! The lease's git folder is not opened: HEAD is what the caller read, the index is a copy, objects are copies.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base::AbsPath;
use git2::{Delta, DiffOptions, Index, IndexEntryFlag, Odb, Oid, Repository};

use super::{Error, Hub};

/// A worktree beside the hub, to be compared with a commit.
pub struct Glance {
    repository: Repository,
    root: AbsPath,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touched {
    /// Its name from the top, with `/`.
    pub path: Vec<u8>,
    /// Whether git has never heard of it.
    pub is_untracked: bool,
    /// Whether it is gone.
    pub is_deleted: bool,
    /// Whether it is a repository of its own, which is not looked into.
    pub is_repository: bool,
}

impl Glance {
    /// `root` with the index at `index` and the objects of the hub and of `objects`.
    ///
    /// Nothing below `root` is believed but the content of its files; `index` and `objects` must be copies that nobody
    /// changes meanwhile.
    pub fn new(
        hub: &AbsPath,
        root: &AbsPath,
        index: &Path,
        objects: &[&Path],
    ) -> Result<Self, Error> {
        let hub = Hub::open(hub)?;
        let failed = |error: git2::Error| Error::new("look at", root.as_path(), &error);
        let odb = Odb::new().map_err(failed)?;
        let own = hub.object_folder();
        for folder in objects.iter().copied().chain([own.as_path()]) {
            let folder = folder.to_string_lossy();
            odb.add_disk_alternate(&folder).map_err(failed)?;
        }
        let repository = hub.repository;
        repository.set_odb(&odb).map_err(failed)?;
        repository
            .set_workdir(root.as_path(), false)
            .map_err(failed)?;
        let mut index = plain(Index::open(index).map_err(failed)?).map_err(failed)?;
        repository.set_index(&mut index).map_err(failed)?;
        Ok(Self {
            repository,
            root: root.clone(),
        })
    }

    /// The files that differ from `commit`, untracked ones included, ignored ones and drafts of saves not, sorted by
    /// name.
    pub fn touched_since(&self, commit: &str) -> Result<Vec<Touched>, Error> {
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

fn of(delta: &git2::DiffDelta<'_>) -> Option<Touched> {
    let path = delta
        .new_file()
        .path_bytes()
        .or_else(|| delta.old_file().path_bytes())?;
    let is_repository = path.ends_with(b"/");
    let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
    if delta.status() == Delta::Unmodified || delta.status() == Delta::Ignored {
        return None;
    }
    // What a killed save left is nobody's work, and is not carried on.
    if delta.status() == Delta::Untracked && is_draft(&path) {
        return None;
    }
    Some(Touched {
        path,
        is_untracked: delta.status() == Delta::Untracked,
        is_deleted: delta.status() == Delta::Deleted,
        is_repository,
    })
}

/// Whether a path is one that a file was to be made under.
pub(crate) fn is_draft(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next();
    name.map(std::ffi::OsStr::from_bytes)
        .is_some_and(host::is_draft_name)
}

/// The index without marks by which a file could be hidden from a comparison.
fn plain(index: Index) -> Result<Index, git2::Error> {
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
            // It is to be read anew, whatever was noted of it.
            entry.flags &= !IndexEntryFlag::VALID.bits();
            entry.flags_extended = 0;
            entry.mtime = git2::IndexTime::new(0, 0);
        }
        shown.add(&entry)?;
    }
    Ok(shown)
}
