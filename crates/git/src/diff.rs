//! The files in which two trees differ, and their bytes; a tree is a commit, the index or the
//! working tree.
//!
//! Start at `Repository::changed_paths`.

use git2::{Delta, DiffOptions};

use crate::capabilities::GitFeature;
use crate::changes::{ChangeGroup, ChangeKind, ChangeNote, change_of};
use crate::clean::CleanError;
use crate::contents::{MAX_TEXT_BYTES, WorktreeEntry};
use crate::index_file::slot;
use crate::lease::is_draft;
use crate::merge::{EntryMode, TreePath};
use crate::repository::{Error, Repository};

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TreeSide {
    /// No files, as before the first commit.
    Empty,
    /// The commit that a revision names, or its tree.
    Revision(String),
    /// The index.
    Index,
    /// The files of the working tree that are not ignored.
    WorkingTree,
}

/// Two sides to compare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreeComparison {
    /// The older side, as far as one is.
    pub before: TreeSide,
    /// The newer side.
    pub after: TreeSide,
}

impl TreeComparison {
    /// Returns whether one side can change without a new commit.
    pub fn is_live(&self) -> bool {
        let is_live = |side: &TreeSide| matches!(side, TreeSide::Index | TreeSide::WorkingTree);
        is_live(&self.before) || is_live(&self.after)
    }
}

/// A file in which two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// The path after the change.
    pub path: TreePath,
    /// The path before a rename.
    pub old_path: Option<TreePath>,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// A remark that needs no content.
    pub note: Option<ChangeNote>,
}

/// Content of a path on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideContent {
    /// The side has no such file.
    Absent,
    /// The bytes as git stores them; for a symlink, its target; for a submodule, a line with its
    /// commit.
    Bytes(Vec<u8>),
    /// The content is not text that can be shown, or is too large.
    Noted(ChangeNote),
    /// Only the git program can read the content.
    NeedsProgram(GitFeature),
}

impl Repository {
    /// Returns the files in which two sides differ, sorted by path, with renames. Files that
    /// the index does not know count as part of the working tree.
    pub fn changed_paths(
        &self,
        before: &TreeSide,
        after: &TreeSide,
    ) -> Result<Vec<ChangedPath>, Error> {
        let failed = |error: git2::Error| self.failed_here(&error);
        if before == after {
            return Ok(Vec::new());
        }
        let is_reversed = before.rank() > after.rank();
        let (first, second) = if is_reversed {
            (after, before)
        } else {
            (before, after)
        };
        let mut diff = diff_of(self, first, second, is_reversed)?;
        let mut similar = git2::DiffFindOptions::new();
        diff.find_similar(Some(similar.renames(true)))
            .map_err(failed)?;
        let paths = diff
            .deltas()
            .filter_map(|delta| changed_path(&delta, is_reversed));
        let mut paths: Vec<_> = paths.collect();
        paths.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(paths)
    }

    /// Returns the content of a path on one side, for showing it.
    pub fn content_of(&self, side: &TreeSide, path: &TreePath) -> Result<SideContent, Error> {
        let index = self.fresh_index()?;
        let entry = match side {
            TreeSide::WorkingTree => return worktree_content(self, &index, path),
            TreeSide::Empty => None,
            TreeSide::Index => {
                slot(&index, path).and_then(|slot| Some((slot.entry_mode()?, slot.id)))
            }
            TreeSide::Revision(_) => self.tree_slot(tree_of_side(self, side)?.as_ref(), path)?,
        };
        let Some((mode, id)) = entry else {
            return Ok(SideContent::Absent);
        };
        if mode == EntryMode::Module {
            let line = format!("Subproject commit {id}\n");
            return Ok(SideContent::Bytes(line.into_bytes()));
        }
        if let Some(size) = self.blob_size(id).filter(|size| *size > MAX_TEXT_BYTES) {
            return Ok(SideContent::Noted(ChangeNote::TooLarge { size }));
        }
        Ok(match self.blob_bytes(id)? {
            Some(bytes) => SideContent::Bytes(bytes),
            None => SideContent::NeedsProgram(GitFeature::PartialClone),
        })
    }
}

/// Compares two sides, the first of which is not younger than the second. `is_reversed` swaps
/// them in the result.
fn diff_of<'r>(
    repository: &'r Repository,
    first: &TreeSide,
    second: &TreeSide,
    is_reversed: bool,
) -> Result<git2::Diff<'r>, Error> {
    let index = repository.fresh_index()?;
    let mut options = DiffOptions::new();
    options
        .include_typechange(true)
        .skip_binary_check(true)
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .ignore_submodules(*second == TreeSide::WorkingTree)
        .reverse(is_reversed);
    let options = Some(&mut options);
    let tree = tree_of_side(repository, first)?;
    let diff = match (first, second) {
        (TreeSide::Index | TreeSide::WorkingTree, _) => repository
            .inner
            .diff_index_to_workdir(Some(&index), options),
        (_, TreeSide::WorkingTree) => repository
            .inner
            .diff_tree_to_workdir_with_index(tree.as_ref(), options),
        (_, TreeSide::Index) => {
            repository
                .inner
                .diff_tree_to_index(tree.as_ref(), Some(&index), options)
        }
        (_, TreeSide::Empty | TreeSide::Revision(_)) => {
            let other = tree_of_side(repository, second)?;
            repository
                .inner
                .diff_tree_to_tree(tree.as_ref(), other.as_ref(), options)
        }
    };
    diff.map_err(|error| repository.failed_here(&error))
}

pub(crate) fn tree_of_side<'r>(
    repository: &'r Repository,
    side: &TreeSide,
) -> Result<Option<git2::Tree<'r>>, Error> {
    let TreeSide::Revision(revision) = side else {
        return Ok(None);
    };
    let found = repository.inner.revparse_single(revision);
    let tree = found.and_then(|object| object.peel_to_tree());
    tree.map(Some)
        .map_err(|error| repository.failed(revision, &error))
}

fn worktree_content(
    repository: &Repository,
    index: &git2::Index,
    path: &TreePath,
) -> Result<SideContent, Error> {
    Ok(match repository.worktree_entry(path, MAX_TEXT_BYTES)? {
        WorktreeEntry::Absent | WorktreeEntry::Folder => SideContent::Absent,
        WorktreeEntry::File { raw, .. } => match repository.clean_file(index, path, &raw) {
            Ok(cleaned) => SideContent::Bytes(cleaned.bytes),
            Err(CleanError::Program(feature)) => SideContent::NeedsProgram(feature),
            Err(CleanError::Undecodable(_)) => SideContent::Noted(ChangeNote::Binary),
        },
        WorktreeEntry::TooLarge { size, .. } => SideContent::Noted(ChangeNote::TooLarge { size }),
        WorktreeEntry::Link(target) => SideContent::Bytes(target),
        WorktreeEntry::Special => SideContent::Noted(ChangeNote::Unreadable),
    })
}

impl TreeSide {
    /// Returns the position in the order in which libgit2 compares sides.
    fn rank(&self) -> u8 {
        match self {
            TreeSide::Empty | TreeSide::Revision(_) => 0,
            TreeSide::Index => 1,
            TreeSide::WorkingTree => 2,
        }
    }
}

/// Converts a difference; `None` if it is none.
fn changed_path(delta: &git2::DiffDelta<'_>, is_reversed: bool) -> Option<ChangedPath> {
    if delta.status() == Delta::Conflicted {
        let (old, new) = (delta.old_file(), delta.new_file());
        let path = new.path_bytes().or_else(|| old.path_bytes())?;
        return Some(ChangedPath {
            path: TreePath::new(path),
            old_path: None,
            kind: ChangeKind::Modified,
            note: None,
        });
    }
    let change = change_of(delta, ChangeGroup::Unstaged)?;
    if change.kind == ChangeKind::Untracked && is_draft(change.path.as_bytes()) {
        return None;
    }
    Some(ChangedPath {
        path: change.path,
        old_path: change.old_path,
        kind: match change.kind {
            ChangeKind::Untracked if is_reversed => ChangeKind::Deleted,
            ChangeKind::Untracked => ChangeKind::Added,
            kind => kind,
        },
        note: change.note,
    })
}

#[cfg(test)]
mod tests;
