//! Collects the changes of a repository, or those of some paths.

use std::collections::BTreeSet;
use std::path::Path;

use git2::{Delta, DiffOptions};

use super::{Change, ChangeGroup, ChangeKind, ChangeNote, ConflictKind, change_of};
use crate::index_file::slot;
use crate::lease::is_draft;
use crate::merge::TreePath;
use crate::repository::{Error, Repository};

/// One collection of changes.
pub(super) struct ChangeScan<'a> {
    pub(super) repository: &'a Repository,
    pub(super) index: &'a git2::Index,
    /// The paths that are asked for; `None` for all.
    paths: Option<&'a [TreePath]>,
}

impl<'a> ChangeScan<'a> {
    pub(super) fn new(
        repository: &'a Repository,
        index: &'a git2::Index,
        paths: Option<&'a [TreePath]>,
    ) -> Self {
        Self {
            repository,
            index,
            paths,
        }
    }

    /// Returns whether a path is among those that are asked for.
    pub(super) fn is_wanted(&self, path: &TreePath) -> bool {
        self.paths.is_none_or(|paths| paths.contains(path))
    }

    /// Returns the changes of these paths, or of all, sorted.
    pub(super) fn changes(&self) -> Result<Vec<Change>, Error> {
        let mut entries = self.conflicts()?;
        let announced = self.add_staged(&mut entries)?;
        self.add_unstaged(announced, &mut entries)?;
        let modules = self.modules().into_iter();
        entries.extend(modules.filter_map(|(path, recorded)| self.module_change(path, recorded)));
        entries.sort_by(|one, two| (one.group, &one.path).cmp(&(two.group, &two.path)));
        self.add_notes(&mut entries);
        Ok(entries)
    }

    fn conflicts(&self) -> Result<Vec<Change>, Error> {
        let mut entries = Vec::new();
        if !self.index.has_conflicts() {
            return Ok(entries);
        }
        let conflicts = self
            .index
            .conflicts()
            .map_err(|error| self.repository.failed_here(&error))?;
        for conflict in conflicts {
            let conflict = conflict.map_err(|error| self.repository.failed_here(&error))?;
            let sides = [&conflict.ancestor, &conflict.our, &conflict.their];
            let Some(path) = sides.iter().find_map(|side| Some(&side.as_ref()?.path)) else {
                continue;
            };
            let path = TreePath::new(path);
            if !self.is_wanted(&path) {
                continue;
            }
            let kind = ChangeKind::Conflicted(ConflictKind::of(sides.map(Option::is_some)));
            entries.push(Change::new(ChangeGroup::Conflicts, path, kind));
        }
        Ok(entries)
    }

    /// Adds the changes from HEAD to the index. Returns the paths that only announce a file.
    fn add_staged(&self, entries: &mut Vec<Change>) -> Result<BTreeSet<TreePath>, Error> {
        let failed = |error: git2::Error| self.repository.failed_here(&error);
        let tree = self.repository.committed_tree()?;
        let compared = |paths| {
            let mut options = compared_paths(paths);
            self.repository.inner.diff_tree_to_index(
                tree.as_ref(),
                Some(self.index),
                Some(&mut options),
            )
        };
        let mut diff = compared(self.paths).map_err(failed)?;
        let is_half_of_rename =
            |delta: git2::DiffDelta<'_>| matches!(delta.status(), Delta::Added | Delta::Deleted);
        if self.paths.is_some() && diff.deltas().any(is_half_of_rename) {
            diff = compared(None).map_err(failed)?;
        }
        diff.find_similar(Some(git2::DiffFindOptions::new().renames(true)))
            .map_err(failed)?;
        let mut announced = BTreeSet::new();
        for delta in diff.deltas() {
            let Some(mut change) = change_of(&delta, ChangeGroup::Staged) else {
                continue;
            };
            let is_announced = matches!(change.kind, ChangeKind::Added | ChangeKind::Renamed)
                && slot(self.index, &change.path).is_some_and(|slot| slot.is_intent_to_add());
            if is_announced {
                announced.insert(change.path.clone());
                let Some(old_path) = change.old_path.take() else {
                    continue;
                };
                change = Change::new(ChangeGroup::Staged, old_path, ChangeKind::Deleted);
            }
            let is_old_wanted = change
                .old_path
                .as_ref()
                .is_some_and(|path| self.is_wanted(path));
            if is_old_wanted || self.is_wanted(&change.path) {
                entries.push(change);
            }
        }
        Ok(announced)
    }

    /// Adds the changes from the index to the working tree, and the untracked files. `announced`
    /// are the paths that the index only announces, which are new.
    fn add_unstaged(
        &self,
        mut announced: BTreeSet<TreePath>,
        entries: &mut Vec<Change>,
    ) -> Result<(), Error> {
        let mut options = compared_paths(self.paths);
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_unreadable(true)
            .ignore_submodules(true);
        let diff = self
            .repository
            .inner
            .diff_index_to_workdir(Some(self.index), Some(&mut options))
            .map_err(|error| self.repository.failed_here(&error))?;
        for delta in diff.deltas() {
            let Some(mut change) = change_of(&delta, ChangeGroup::Unstaged) else {
                continue;
            };
            if change.kind == ChangeKind::Untracked && is_draft(change.path.as_bytes()) {
                continue;
            }
            let is_of_module = matches!(change.kind, ChangeKind::Deleted | ChangeKind::Submodule)
                && matches!(change.note, Some(ChangeNote::Submodule { .. }));
            if is_of_module {
                continue;
            }
            let is_announced = announced.remove(&change.path);
            match change.kind {
                ChangeKind::Deleted => {
                    let slot = slot(self.index, &change.path);
                    if slot.is_some_and(|slot| slot.ignores_worktree()) {
                        continue;
                    }
                }
                ChangeKind::Modified if is_announced => change.kind = ChangeKind::Added,
                ChangeKind::Modified if self.is_same_content(&change)? => {
                    change.kind = ChangeKind::ModeChanged;
                }
                _ => {}
            }
            entries.push(change);
        }
        // Empty files equal the empty content that announces them.
        let root = self.repository.workdir();
        let is_there = |path: &TreePath| root.join(path.to_path()).as_path().is_file();
        let empty = announced
            .into_iter()
            .filter(|path| self.is_wanted(path) && is_there(path));
        entries
            .extend(empty.map(|path| Change::new(ChangeGroup::Unstaged, path, ChangeKind::Added)));
        Ok(())
    }

    /// Returns whether an unstaged change with another mode has the content of the index.
    fn is_same_content(&self, change: &Change) -> Result<bool, Error> {
        if !matches!(change.note, Some(ChangeNote::Mode { .. })) {
            return Ok(false);
        }
        let id = slot(self.index, &change.path).map(|slot| slot.id);
        Ok(id.is_some() && self.worktree_id(&change.path)? == id)
    }
}

/// Returns the options for a diff of these paths, or of all.
fn compared_paths(paths: Option<&[TreePath]>) -> DiffOptions {
    let mut options = DiffOptions::new();
    options
        .include_typechange(true)
        .skip_binary_check(true)
        .disable_pathspec_match(true);
    for path in paths.into_iter().flatten() {
        options.pathspec::<&Path>(&path.to_path());
    }
    options
}
