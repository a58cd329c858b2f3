//! Writes chosen lines to the index, and takes them back.

use super::selection::LineSelection;
use super::{FileDiff, Side, StagingError};
use crate::index_file::{IndexSlot, is_conflicted, put, slot};
use crate::merge::{ObjectId, TreePath};
use crate::repository::Repository;

/// The entries that a change of the index replaced, for `Repository::undo_staging`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StagingUndo {
    pub(super) entries: Vec<ReplacedEntry>,
}

/// An entry of the index before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplacedEntry {
    pub(super) path: TreePath,
    pub(super) before: Option<IndexSlot>,
    pub(super) after: Option<IndexSlot>,
}

impl StagingUndo {
    /// Returns the paths whose entries were replaced.
    pub fn paths(&self) -> impl Iterator<Item = &TreePath> {
        self.entries.iter().map(|entry| &entry.path)
    }
}

impl Repository {
    /// Stages the selected lines of an unstaged diff. Mode and flags of the entry stay; a new file
    /// gets the mode of the working tree. If all lines of a deleted file are selected, the entry is
    /// removed.
    ///
    /// # Errors
    ///
    /// `Outdated` if the index has another entry than the diff; nothing is written then.
    pub fn stage_lines(
        &self,
        diff: &FileDiff,
        selection: &LineSelection,
    ) -> Result<StagingUndo, StagingError> {
        diff.check_lines(Side::Unstaged)?;
        if selection.is_nothing_of(diff) {
            return Ok(StagingUndo::default());
        }
        if diff.work_entry.is_none() && selection.is_all_of(diff) {
            return replace_entry(self, diff, None);
        }
        let id = write_blob(self, &selection.apply(diff))?;
        let kept = diff.in_index;
        let new = || diff.work_entry.map(|(mode, _)| IndexSlot::new(mode, id));
        let slot = match kept {
            // The announcement of a file has the mode at that time.
            Some(slot) if slot.is_intent_to_add() => new().or(Some(slot.with_content(id))),
            Some(slot) => Some(slot.with_content(id)),
            None => new(),
        };
        replace_entry(self, diff, slot)
    }

    /// Takes the selected lines of a staged diff out of the index. If all lines of a new file are
    /// selected, the entry is removed; a deleted file gets the mode of HEAD.
    ///
    /// # Errors
    ///
    /// `Outdated` if the index has another entry than the diff; nothing is written then.
    pub fn unstage_lines(
        &self,
        diff: &FileDiff,
        selection: &LineSelection,
    ) -> Result<StagingUndo, StagingError> {
        diff.check_lines(Side::Staged)?;
        if selection.is_nothing_of(diff) {
            return Ok(StagingUndo::default());
        }
        if diff.base_entry.is_none() && selection.is_all_of(diff) {
            return replace_entry(self, diff, None);
        }
        let id = write_blob(self, &selection.complement(diff).apply(diff))?;
        let slot = match diff.in_index {
            Some(slot) => Some(slot.with_content(id)),
            None => diff.base_entry.map(|(mode, _)| IndexSlot::new(mode, id)),
        };
        replace_entry(self, diff, slot)
    }

    /// Restores the entries that a change of the index replaced.
    ///
    /// # Errors
    ///
    /// `Outdated` if one of the entries changed since; nothing is written then.
    pub fn undo_staging(&self, undo: &StagingUndo) -> Result<(), StagingError> {
        if undo.entries.is_empty() {
            return Ok(());
        }
        self.change_index(|index| {
            for entry in &undo.entries {
                check_entry(index, &entry.path, entry.after)?;
            }
            for entry in &undo.entries {
                put(index, &entry.path, entry.before, None)
                    .map_err(|error| self.failed("index", &error))?;
            }
            Ok(())
        })
    }
}

fn write_blob(repository: &Repository, bytes: &[u8]) -> Result<ObjectId, StagingError> {
    let id = repository.inner.blob(bytes);
    Ok(ObjectId(
        id.map_err(|error| repository.failed("objects", &error))?,
    ))
}

/// Replaces the entry of a diff if the index still holds the one of the diff.
fn replace_entry(
    repository: &Repository,
    diff: &FileDiff,
    after: Option<IndexSlot>,
) -> Result<StagingUndo, StagingError> {
    let before = diff.in_index;
    if before == after {
        return Ok(StagingUndo::default());
    }
    repository.change_index(|index| {
        check_entry(index, &diff.path, before)?;
        put(index, &diff.path, after, None).map_err(|error| repository.failed("index", &error))?;
        Ok::<_, StagingError>(())
    })?;
    let path = diff.path.clone();
    Ok(StagingUndo {
        entries: vec![ReplacedEntry {
            path,
            before,
            after,
        }],
    })
}

/// Fails unless the index holds this entry, and no conflict, at the path.
fn check_entry(
    index: &git2::Index,
    path: &TreePath,
    expected: Option<IndexSlot>,
) -> Result<(), StagingError> {
    if is_conflicted(index, path) {
        return Err(StagingError::Conflicted(path.clone()));
    }
    if slot(index, path) != expected {
        return Err(StagingError::Outdated(path.clone()));
    }
    Ok(())
}

impl FileDiff {
    /// Fails unless lines of the diff can be chosen on this side.
    fn check_lines(&self, side: Side) -> Result<(), StagingError> {
        if self.side != side {
            return Err(StagingError::Outdated(self.path.clone()));
        }
        match self.whole {
            Some(reason) => Err(StagingError::WholeFileOnly {
                path: self.path.clone(),
                reason,
            }),
            None => Ok(()),
        }
    }
}
