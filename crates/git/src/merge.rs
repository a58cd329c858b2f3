//! Three-way merges in memory: content, paths and renames, compatible with git's own merge.
//!
//! A side consists of its changes to a tree that both sides started from. Nothing is written:
//! content is either an object of the repository or held in memory. `write` adds a merged tree to
//! the objects and touches neither refs nor a working tree.
//! Invariant: a merge without conflicts here has none in `git merge` either, and the bytes agree;
//! the tests compare with git itself.
//! Start at `Repository::merge`; `lines` merges text, `tree` merges paths, `renames` detects
//! renames.

mod content;
mod histogram;
mod line_merge;
mod names;
mod objects;
mod renames;
mod tree;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub use content::{ConflictLabels, MergeRegion, MergedContent, is_binary, line_hunks, merge_bytes};
pub(crate) use names::is_git_folder;
pub use names::{NameDanger, TreePath};
pub use objects::ObjectId;
pub use tree::TreeMerge;

/// Type of a tree entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryMode {
    /// A regular file, not executable.
    Plain,
    /// A regular file with the executable bit.
    Executable,
    /// A symlink, whose bytes are its target.
    Link,
    /// A submodule, whose id is a commit of the nested repository.
    Module,
}

/// Mode and content of a path in a tree.
#[derive(Clone)]
pub struct ObjectEntry {
    /// Type of the entry.
    pub mode: EntryMode,
    /// Id of the content.
    pub id: ObjectId,
    /// The content, if it may not be among the repository's objects.
    pub bytes: Option<Arc<[u8]>>,
}

/// The changes of one side: each changed path with its new entry, `None` if it was removed.
pub type Changes = BTreeMap<TreePath, Option<ObjectEntry>>;

/// One side's version of a conflicted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictSide {
    /// Path on that side.
    pub path: TreePath,
    /// Entry on that side.
    pub entry: ObjectEntry,
    /// Content on that side; empty for a submodule.
    pub bytes: Arc<[u8]>,
}

/// Reason why the changes of both sides to a path are incompatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConflictKind {
    /// Both sides changed the same lines.
    Content,
    /// Both sides changed a binary file.
    Binary,
    /// Both sides added a file at this path.
    BothAdded,
    /// Ours changed the file, theirs removed it.
    RemovedByThem,
    /// Ours removed the file, theirs changed it.
    RemovedByUs,
    /// Both sides renamed one file, to different paths.
    BothRenamed,
    /// One side has a file where the other has a folder.
    FileAndFolder,
    /// Both sides changed the entry, one to a file and the other to a symlink or submodule; or both
    /// changed a symlink.
    Kind,
    /// One side added the file to a folder that the other side renamed.
    FolderMoved,
}

/// Line ranges of one conflict, each counted from 0 in its own version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictLines {
    /// Lines of the merge base.
    pub base: Range<u32>,
    /// Lines of our side.
    pub ours: Range<u32>,
    /// Lines of their side.
    pub theirs: Range<u32>,
}

/// One path that requires the user's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeConflict {
    /// The path in conflict.
    pub path: TreePath,
    /// Reason of the conflict.
    pub kind: ConflictKind,
    /// Version of the merge base.
    pub base: Option<ConflictSide>,
    /// Version of our side.
    pub ours: Option<ConflictSide>,
    /// Version of their side.
    pub theirs: Option<ConflictSide>,
    /// Line ranges of content conflicts; empty for other kinds.
    pub lines: Vec<ConflictLines>,
    /// The merged text including conflicts, for content conflicts and files that both sides added.
    pub merge: Option<MergedContent>,
}

impl EntryMode {
    /// Returns whether the entry is a file, whose content can be merged.
    pub fn is_file(self) -> bool {
        matches!(self, EntryMode::Plain | EntryMode::Executable)
    }
}

impl ObjectEntry {
    /// Creates an entry for a file or symlink with these bytes.
    pub fn of_bytes(mode: EntryMode, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            mode,
            id: ObjectId::of_blob(&bytes),
            bytes: Some(bytes),
        }
    }
}

impl PartialEq for ObjectEntry {
    /// Compares ids only: equal ids mean equal bytes, whether they are in memory or not.
    fn eq(&self, other: &Self) -> bool {
        (self.mode, self.id) == (other.mode, other.id)
    }
}

impl Eq for ObjectEntry {}

impl std::fmt::Debug for ObjectEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.mode, self.id)
    }
}

#[cfg(test)]
pub(crate) mod tests;
