//! The changes of a repository in the groups of a changes panel: conflicts, staged, unstaged,
//! untracked.
//!
//! Reads only. Each path can have a staged and an unstaged change.
//! Invariant: submodules are compared by their commit and their tracked files, in process.
//! Start at `Repository::changes`; `changes_of` serves a single save.

mod head;
mod modules;
mod notes;
mod scan;

use git2::Delta;

use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

pub use crate::lines::LineCounts;
pub use head::{HeadState, Operation, OperationKind, Upstream};
pub use modules::NestedRepository;
pub use notes::ChangeNote;
use scan::ChangeScan;

/// The group of a change, in the order of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeGroup {
    /// Sides of a merge that wait for a decision.
    Conflicts,
    /// HEAD against the index.
    Staged,
    /// The index against the working tree.
    Unstaged,
    /// Files that the index lacks.
    Untracked,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// The path is new.
    Added,
    /// The content differs; the mode may differ as well.
    Modified,
    /// The path is gone.
    Deleted,
    /// The path is that of a similar file which is gone.
    Renamed,
    /// A file became a symlink or a submodule, or the reverse.
    TypeChanged,
    /// Only the executable bit differs.
    ModeChanged,
    /// A submodule is at another commit, or has changes of its own.
    Submodule,
    /// A merge left the path unresolved.
    Conflicted(ConflictKind),
    /// The index lacks the path.
    Untracked,
}

/// The kind of a conflict, by the sides that the index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// Both sides changed the file.
    BothModified,
    /// Both sides added the file.
    BothAdded,
    /// Our side deleted the file, theirs changed it.
    DeletedByUs,
    /// Their side deleted the file, ours changed it.
    DeletedByThem,
    /// Our side added the file, where theirs has something else.
    AddedByUs,
    /// Their side added the file, where ours has something else.
    AddedByThem,
    /// Both sides deleted or renamed the file.
    BothDeleted,
}

/// A change of one path in one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The group.
    pub group: ChangeGroup,
    /// The path after the change.
    pub path: TreePath,
    /// The path before a rename.
    pub old_path: Option<TreePath>,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// A remark that replaces or explains the lines.
    pub note: Option<ChangeNote>,
    /// Numbers of lines; `None` for a content without lines, for a conflict, and if there are too
    /// many changes to count them.
    pub lines: Option<LineCounts>,
}

/// All changes of a repository, with the state of its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The changes, sorted by group and path.
    pub entries: Vec<Change>,
    /// The branch or commit of HEAD.
    pub head: HeadState,
    /// The operation in progress.
    pub operation: Option<Operation>,
    /// The upstream branch of the current branch.
    pub upstream: Option<Upstream>,
}

impl Repository {
    /// Returns all changes. Grows with the repository: not for the UI thread.
    pub fn changes(&self) -> Result<Changes, Error> {
        let index = self.fresh_index()?;
        let scan = ChangeScan::new(self, &index, None);
        Ok(Changes {
            entries: scan.changes()?,
            head: self.head_state()?,
            operation: head::operation(self),
            upstream: head::upstream(self),
        })
    }

    /// Returns the changes of these files without walking the working tree, for instance after a
    /// save. A path without a result has no change any more. Grows with the repository only if a
    /// path may be part of a staged rename.
    pub fn changes_of(&self, paths: &[TreePath]) -> Result<Vec<Change>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.fresh_index()?;
        ChangeScan::new(self, &index, Some(paths)).changes()
    }
}

impl Change {
    fn new(group: ChangeGroup, path: TreePath, kind: ChangeKind) -> Self {
        Self {
            group,
            path,
            old_path: None,
            kind,
            note: None,
            lines: None,
        }
    }
}

impl ConflictKind {
    /// Returns the kind of a conflict in which the index has these sides: base, ours, theirs.
    fn of(sides: [bool; 3]) -> Self {
        match sides {
            [true, true, true] => ConflictKind::BothModified,
            [true, false, true] => ConflictKind::DeletedByUs,
            [true, true, false] => ConflictKind::DeletedByThem,
            [true, false, false] => ConflictKind::BothDeleted,
            [false, true, false] => ConflictKind::AddedByUs,
            [false, false, true] => ConflictKind::AddedByThem,
            [false, _, _] => ConflictKind::BothAdded,
        }
    }
}

/// Converts a difference; `None` if it is none, a conflict or a folder.
pub(crate) fn change_of(delta: &git2::DiffDelta<'_>, group: ChangeGroup) -> Option<Change> {
    let (old, new) = (delta.old_file(), delta.new_file());
    let (old_mode, new_mode) = (u32::from(old.mode()), u32::from(new.mode()));
    let module = EntryMode::Module.raw() as u32;
    let kind = match delta.status() {
        Delta::Added | Delta::Copied => ChangeKind::Added,
        Delta::Deleted => ChangeKind::Deleted,
        Delta::Renamed => ChangeKind::Renamed,
        Delta::Typechange => ChangeKind::TypeChanged,
        Delta::Untracked => ChangeKind::Untracked,
        Delta::Modified if old_mode == module => ChangeKind::Submodule,
        Delta::Modified if old_mode != new_mode && has_same_id(&old, &new) => {
            ChangeKind::ModeChanged
        }
        Delta::Modified | Delta::Unreadable => ChangeKind::Modified,
        Delta::Unmodified | Delta::Ignored | Delta::Conflicted => return None,
    };
    let path = new.path_bytes().or_else(|| old.path_bytes())?;
    let is_folder = path.ends_with(b"/");
    let path = TreePath::new(path.strip_suffix(b"/").unwrap_or(path));
    let group = match kind {
        ChangeKind::Untracked => ChangeGroup::Untracked,
        _ => group,
    };
    let mut change = Change::new(group, path, kind);
    if kind == ChangeKind::Renamed {
        change.old_path = old.path_bytes().map(TreePath::new);
    }
    let id = |file: &git2::DiffFile<'_>| (!file.id().is_zero()).then(|| ObjectId(file.id()));
    change.note = match delta.status() {
        Delta::Unreadable => Some(ChangeNote::Unreadable),
        Delta::Untracked if is_folder => Some(ChangeNote::Repository),
        _ if old_mode == module || new_mode == module => Some(ChangeNote::Submodule {
            old: id(&old),
            new: id(&new),
            is_dirty: false,
        }),
        Delta::Modified | Delta::Renamed if old_mode != new_mode => Some(ChangeNote::Mode {
            old: old_mode,
            new: new_mode,
        }),
        _ => None,
    };
    Some(change)
}

fn has_same_id(old: &git2::DiffFile<'_>, new: &git2::DiffFile<'_>) -> bool {
    old.id() == new.id() && !old.id().is_zero()
}

#[cfg(test)]
mod tests;
