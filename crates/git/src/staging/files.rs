//! Stages and unstages whole files.

use std::fs::Metadata;

use super::file_diff::file_mode;
use super::write::{ReplacedEntry, StagingUndo};
use super::{StagingError, WholeReason};
use crate::contents::WorktreeEntry;
use crate::index_file::{IndexSlot, is_conflicted, put, slot};
use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::Repository;

/// Maximum size in bytes of a file that is stored.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The new entry of a path, with the metadata of the file that has its content.
struct NewEntry {
    slot: Option<IndexSlot>,
    metadata: Option<Metadata>,
}

impl Repository {
    /// Stages files as they are in the working tree: new, changed and deleted ones, symlinks, modes
    /// and the commits of submodules. Either all paths are staged or none.
    pub fn stage_files(&self, paths: &[TreePath]) -> Result<StagingUndo, StagingError> {
        replace_entries(self, paths, |index, path| entry_on_disk(self, index, path))
    }

    /// Makes the entries of the index those of HEAD; a file that HEAD lacks becomes untracked. Both
    /// paths of a rename are unstaged separately. Either all paths are unstaged or none.
    pub fn unstage_files(&self, paths: &[TreePath]) -> Result<StagingUndo, StagingError> {
        let tree = self.committed_tree()?;
        replace_entries(self, paths, |_, path| {
            let entry = self.tree_slot(tree.as_ref(), path)?;
            Ok(NewEntry {
                slot: entry.map(|(mode, id)| IndexSlot::new(mode, id)),
                metadata: None,
            })
        })
    }
}

fn replace_entries(
    repository: &Repository,
    paths: &[TreePath],
    new: impl Fn(&git2::Index, &TreePath) -> Result<NewEntry, StagingError>,
) -> Result<StagingUndo, StagingError> {
    if paths.is_empty() {
        return Ok(StagingUndo::default());
    }
    repository.change_index(|index| {
        let mut undo = StagingUndo::default();
        for path in paths {
            if is_conflicted(index, path) {
                return Err(StagingError::Conflicted(path.clone()));
            }
            let before = slot(index, path);
            let NewEntry { slot, metadata } = new(index, path)?;
            put(index, path, slot, metadata.as_ref())
                .map_err(|error| repository.failed("index", &error))?;
            undo.entries.push(ReplacedEntry {
                path: path.clone(),
                before,
                after: slot,
            });
        }
        undo.entries.retain(|entry| entry.before != entry.after);
        Ok(undo)
    })
}

/// Returns the entry that `git add` makes of a path; writes its content as a blob.
fn entry_on_disk(
    repository: &Repository,
    index: &git2::Index,
    path: &TreePath,
) -> Result<NewEntry, StagingError> {
    let before = slot(index, path);
    let place = repository.workdir().join(path.to_path());
    // The metadata is read first: a file that changes while it is read is younger.
    let metadata = place.as_path().symlink_metadata().ok();
    let (mode, bytes) = match repository.worktree_entry(path, MAX_FILE_BYTES)? {
        WorktreeEntry::File { mode, raw } => {
            let cleaned = repository
                .clean_file(index, path, &raw)
                .map_err(|error| StagingError::of_clean(path, error))?;
            (file_mode(mode, before), cleaned.bytes)
        }
        WorktreeEntry::Link(target) => (EntryMode::Link, target),
        WorktreeEntry::Absent => return removed_entry(path, before),
        WorktreeEntry::Folder => return module_entry(repository, path, before),
        WorktreeEntry::TooLarge { .. } => {
            return Err(StagingError::WholeFileOnly {
                path: path.clone(),
                reason: WholeReason::TooLarge,
            });
        }
        WorktreeEntry::Special => return Err(StagingError::Special(path.clone())),
    };
    let id = repository.inner.blob(&bytes);
    let id = ObjectId(id.map_err(|error| repository.failed(&path.to_string(), &error))?);
    Ok(NewEntry {
        slot: Some(stored(before, mode, id)),
        metadata,
    })
}

fn removed_entry(path: &TreePath, before: Option<IndexSlot>) -> Result<NewEntry, StagingError> {
    if before.is_none() {
        return Err(StagingError::Absent(path.clone()));
    }
    Ok(NewEntry {
        slot: None,
        metadata: None,
    })
}

/// Returns the entry of a folder: the commit of a submodule. Another folder took the place of a
/// file, which is gone.
fn module_entry(
    repository: &Repository,
    path: &TreePath,
    before: Option<IndexSlot>,
) -> Result<NewEntry, StagingError> {
    let root = repository.workdir().join(path.to_path());
    let inner = git2::Repository::open(root.as_path()).ok();
    let is_module = before.is_some_and(|slot| slot.entry_mode() == Some(EntryMode::Module));
    let Some(inner) = inner else {
        return if is_module {
            // A submodule that is not checked out is unchanged.
            Ok(NewEntry {
                slot: before,
                metadata: None,
            })
        } else {
            removed_entry(path, before)
        };
    };
    if !is_module {
        return Err(StagingError::Repository(path.clone()));
    }
    let head = inner.head().and_then(|head| head.peel_to_commit());
    let head = head.map_err(|error| repository.failed(&path.to_string(), &error))?;
    Ok(NewEntry {
        slot: Some(stored(before, EntryMode::Module, ObjectId(head.id()))),
        metadata: None,
    })
}

/// Returns the entry with a new content and mode that keeps the flags of the old one.
fn stored(before: Option<IndexSlot>, mode: EntryMode, id: ObjectId) -> IndexSlot {
    match before {
        Some(slot) => slot.with_content(id).with_mode(mode),
        None => IndexSlot::new(mode, id),
    }
}
