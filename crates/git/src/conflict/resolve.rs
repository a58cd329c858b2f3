//! Resolves conflicts in the index: stages a text, takes the entry of one side, or takes a
//! resolution back.
//!
//! Invariant: the index is replaced as a whole under git's lock, after its stages were compared with
//! those of the conflict, so that a killed process leaves the old or the new index.
//! Start at `Repository::mark_resolved`.

use base::ByteOffset;
use git2::{Index, IndexEntry, IndexTime};
use host::Files;
use host::links::{self, NoFollowEntry};
use text::Snapshot;

use super::set::ConflictSet;
use super::stages::StagedConflict;
use crate::land::eol;
use crate::merge::{EntryMode, ObjectEntry, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// Maximum size in bytes of a file that is staged.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The resolution of a conflict that is not about lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConflictChoice {
    /// Our version of the file.
    Ours,
    /// Their version of the file.
    Theirs,
    /// The version of the merge base.
    Base,
    /// No file at this path.
    Remove,
}

/// The unmerged entries of a path that was resolved, with which the resolution is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedStages {
    path: TreePath,
    stages: [Option<ObjectEntry>; 3],
}

/// Reason why a conflict was not resolved. The index is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// Another process holds the lock of the index.
    #[error("another git command or a landing is changing the index: try again")]
    Busy,
    /// The index or the file is another one by now.
    #[error("{0} is no longer in this conflict, or its file changed")]
    Changed(TreePath),
    /// The text still has conflict markers.
    #[error("{path} still has conflict markers in line {line}")]
    MarkersLeft {
        /// Path of the file.
        path: TreePath,
        /// The line of the first one, from 1.
        line: u32,
    },
    /// Git would run a program or convert the encoding of this file.
    #[error("{0} has a filter or an encoding in .gitattributes: stage it with git add")]
    NeedsGit(TreePath),
    /// Reading or writing failed.
    #[error(transparent)]
    Git(#[from] Error),
}

impl From<host::Error> for ResolveError {
    fn from(error: host::Error) -> Self {
        Self::Git(error.into())
    }
}

impl Repository {
    /// Stages the file of a text conflict, as it is on disk, in place of the unmerged entries. Fails
    /// if it still has conflict markers that no side has.
    pub fn mark_resolved(
        &self,
        conflict: &StagedConflict,
        files: &dyn Files,
    ) -> Result<ResolvedStages, ResolveError> {
        let (root, path) = (self.workdir(), &conflict.path);
        let place = root.join(path.to_path());
        let changed = || ResolveError::Changed(path.clone());
        if self.needs_program(&path.to_path()) {
            return Err(ResolveError::NeedsGit(path.clone()));
        }
        if !matches!(links::entry_at(root, &place)?, NoFollowEntry::File { .. }) {
            return Err(changed());
        }
        let bytes = files.read(&place, MAX_FILE_BYTES)?;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check_markers(self, conflict, text)?;
        }
        let ours = conflict.stages[1].as_ref().or(conflict.stages[2].as_ref());
        let is_crlf_in_git = || {
            let bytes = ours.and_then(|entry| self.bytes_of(entry).ok());
            bytes.is_some_and(|bytes| eol::has_crlf(&bytes))
        };
        let kept = eol::to_git(&self.inner, path, &bytes, &is_crlf_in_git);
        let id = self.inner.blob(&kept);
        let id = id.map_err(|error| self.failed(&path.to_string(), &error))?;
        let mode = merged_mode(&conflict.stages).ok_or_else(changed)?;
        replace_stages(self, conflict, Some((mode, ObjectId(id))), files)
    }

    /// Resolves a conflict with the entry of one side, or with none: writes or removes the file, then
    /// stages it. Fails if the file is none of the versions, because the user edited it.
    pub fn choose(
        &self,
        conflict: &StagedConflict,
        choice: ConflictChoice,
        files: &dyn Files,
    ) -> Result<ResolvedStages, ResolveError> {
        let path = &conflict.path;
        let [base, ours, theirs] = &conflict.stages;
        let entry = match choice {
            ConflictChoice::Ours => ours,
            ConflictChoice::Theirs => theirs,
            ConflictChoice::Base => base,
            ConflictChoice::Remove => &None,
        };
        if entry.is_none() && choice != ConflictChoice::Remove {
            return Err(ResolveError::Changed(path.clone()));
        }
        let is_file = entry.as_ref().is_some_and(|entry| entry.mode.is_file());
        if is_file && self.needs_program(&path.to_path()) {
            return Err(ResolveError::NeedsGit(path.clone()));
        }
        let after = entry.as_ref().map(|entry| (entry.mode, entry.id));
        let known: Vec<ObjectEntry> = conflict.stages.iter().flatten().cloned().collect();
        if !self.replace_file(path, &known, after, files)? {
            return Err(ResolveError::Changed(path.clone()));
        }
        replace_stages(self, conflict, after, files)
    }

    /// Takes a resolution back: the path has its unmerged entries again. The file keeps its text.
    pub fn restore_conflict(
        &self,
        resolved: &ResolvedStages,
        files: &dyn Files,
    ) -> Result<(), ResolveError> {
        let path = resolved.path.to_path();
        change_unmerged(self, files, |index| {
            if stages_of(index, &resolved.path).iter().any(Option::is_some) {
                return Err(ResolveError::Changed(resolved.path.clone()));
            }
            let failed = |error: git2::Error| self.failed("index", &error);
            if index.get_path(&path, 0).is_some() {
                index.remove(&path, 0).map_err(failed)?;
            }
            for (stage, entry) in (1..).zip(&resolved.stages) {
                if let Some(entry) = entry {
                    let entry = unmerged(&resolved.path, entry, stage);
                    index.add(&entry).map_err(failed)?;
                }
            }
            Ok(())
        })
    }
}

fn check_markers(
    repository: &Repository,
    conflict: &StagedConflict,
    text: &str,
) -> Result<(), ResolveError> {
    let path = &conflict.path;
    let stages = repository.text_stages(conflict)?;
    let set = ConflictSet::read(text, stages, None, repository.marker_size(path));
    match set.markers_left(text) {
        None => Ok(()),
        Some(offset) => Err(ResolveError::MarkersLeft {
            path: path.clone(),
            line: line_of(text, offset),
        }),
    }
}

/// Replaces the unmerged entries of a path by one entry, or by none.
fn replace_stages(
    repository: &Repository,
    conflict: &StagedConflict,
    entry: Option<(EntryMode, ObjectId)>,
    files: &dyn Files,
) -> Result<ResolvedStages, ResolveError> {
    let path = conflict.path.to_path();
    change_unmerged(repository, files, |index| {
        if stages_of(index, &conflict.path) != conflict.stages {
            return Err(ResolveError::Changed(conflict.path.clone()));
        }
        let failed = |error: git2::Error| repository.failed("index", &error);
        index.conflict_remove(&path).map_err(failed)?;
        if let Some(entry) = entry {
            let entry = repository.index_entry(&conflict.path, entry, files);
            index.add(&entry).map_err(failed)?;
        }
        Ok(())
    })?;
    Ok(ResolvedStages {
        path: conflict.path.clone(),
        stages: conflict.stages.clone(),
    })
}

/// Changes the index under git's lock. The lock of landings makes sure that a lock of ours was
/// left by a killed process.
fn change_unmerged(
    repository: &Repository,
    files: &dyn Files,
    change: impl FnOnce(&mut Index) -> Result<(), ResolveError>,
) -> Result<(), ResolveError> {
    let Some(_landings) = repository.lock_landings(files)? else {
        return Err(ResolveError::Busy);
    };
    if !repository.lock_index(files)? {
        return Err(ResolveError::Busy);
    }
    let changed = repository.edit_index(files, change);
    repository.unlock_index(files)?;
    changed
}

/// Returns the unmerged entries of a path.
fn stages_of(index: &Index, path: &TreePath) -> [Option<ObjectEntry>; 3] {
    let path = path.to_path();
    [1, 2, 3].map(|stage| {
        let entry = index.get_path(&path, stage)?;
        Some(ObjectEntry {
            mode: EntryMode::of(entry.mode as i32)?,
            id: ObjectId(entry.id),
            bytes: None,
        })
    })
}

/// Returns the mode of the merged file: that of the side which changed it.
fn merged_mode(stages: &[Option<ObjectEntry>; 3]) -> Option<EntryMode> {
    let [base, ours, theirs] = stages.each_ref().map(|it| it.as_ref().map(|it| it.mode));
    match (base, ours, theirs) {
        (Some(base), Some(ours), Some(theirs)) if ours == base => Some(theirs),
        (_, ours, theirs) => ours.or(theirs),
    }
}

/// Builds an unmerged entry, which has no data of a file.
fn unmerged(path: &TreePath, entry: &ObjectEntry, stage: u16) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(0, 0),
        mtime: IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode: entry.mode.raw() as u32,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: entry.id.0,
        flags: stage << 12,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}

/// Returns the line of an offset, from 1.
fn line_of(text: &str, offset: ByteOffset) -> u32 {
    Snapshot::new(text).point_at(offset).row.0 + 1
}
