//! Submodules: repositories inside a working tree whose commit the index records.

use std::path::Path;

use base::AbsPath;
use git2::SubmoduleIgnore;

use super::scan::ChangeScan;
use super::{Change, ChangeGroup, ChangeKind, ChangeNote};
use crate::index_file::is_conflicted;
use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// A repository inside the working tree of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedRepository {
    /// Path in the outer working tree.
    pub path: TreePath,
    /// The root of its working tree.
    pub root: AbsPath,
    /// The commit that the outer index records.
    pub recorded: ObjectId,
    /// Its HEAD; `None` if it is not checked out or has no commit.
    pub head: Option<ObjectId>,
}

impl Repository {
    /// Returns the submodules in the index, sorted by path, checked out or not. Repositories that
    /// the index does not know are among the untracked changes.
    pub fn nested_repositories(&self) -> Result<Vec<NestedRepository>, Error> {
        let index = self.fresh_index()?;
        let modules = ChangeScan::new(self, &index, None).modules().into_iter();
        let nested = modules.map(|(path, recorded)| {
            let root = self.workdir().join(path.to_path());
            let inner = git2::Repository::open(root.as_path()).ok();
            NestedRepository {
                path,
                recorded,
                head: inner.as_ref().and_then(head_of),
                root,
            }
        });
        Ok(nested.collect())
    }
}

impl ChangeScan<'_> {
    /// Returns the paths of submodules with the recorded commits.
    pub(super) fn modules(&self) -> Vec<(TreePath, ObjectId)> {
        let module = EntryMode::Module.raw() as u32;
        let modules = self.index.iter().filter(|entry| entry.mode == module);
        let modules = modules.map(|entry| (TreePath::new(&entry.path), ObjectId(entry.id)));
        let modules =
            modules.filter(|(path, _)| self.is_wanted(path) && !is_conflicted(self.index, path));
        modules.collect()
    }

    /// Returns the change of a submodule in the working tree; `None` if there is none, if it is not
    /// checked out, or if the settings ignore it.
    pub(super) fn module_change(&self, path: TreePath, recorded: ObjectId) -> Option<Change> {
        let ignored = self.ignored_of(&path.to_path());
        if ignored == SubmoduleIgnore::All {
            return None;
        }
        let root = self.repository.workdir().join(path.to_path());
        if !root.as_path().exists() {
            return Some(Change::new(
                ChangeGroup::Unstaged,
                path,
                ChangeKind::Deleted,
            ));
        }
        let inner = git2::Repository::open(root.as_path()).ok()?;
        let head = head_of(&inner);
        let is_dirty = ignored != SubmoduleIgnore::Dirty && has_tracked_changes(&inner);
        if head.is_none_or(|head| head == recorded) && !is_dirty {
            return None;
        }
        let mut change = Change::new(ChangeGroup::Unstaged, path, ChangeKind::Submodule);
        change.note = Some(ChangeNote::Submodule {
            old: Some(recorded),
            new: head,
            is_dirty,
        });
        Some(change)
    }

    /// Returns which changes of a submodule its settings ignore.
    fn ignored_of(&self, path: &Path) -> SubmoduleIgnore {
        let name = path.to_str().unwrap_or_default();
        match self.repository.inner.find_submodule(name) {
            Ok(module) => module.ignore_rule(),
            Err(_) => SubmoduleIgnore::Unspecified,
        }
    }
}

fn head_of(inner: &git2::Repository) -> Option<ObjectId> {
    let head = inner.head().and_then(|head| head.peel_to_commit()).ok()?;
    Some(ObjectId(head.id()))
}

/// Returns whether tracked files of a repository differ from its HEAD. Its own submodules do not
/// count. A repository that cannot be read counts as unchanged.
fn has_tracked_changes(inner: &git2::Repository) -> bool {
    let mut options = git2::StatusOptions::new();
    options
        .include_untracked(false)
        .include_ignored(false)
        .exclude_submodules(true)
        .update_index(false);
    let statuses = inner.statuses(Some(&mut options));
    statuses.is_ok_and(|statuses| !statuses.is_empty())
}
