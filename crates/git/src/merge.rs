//! Three-way merges in memory: files, lines and names, as git's own merge does them.
//!
//! A side is the changes it made to a tree that both sides began from. Nothing is written: what a side holds is
//! either an object of the repository or bytes at hand. `write` puts a merged tree among the objects and touches
//! neither a reference nor a working tree.
//! Invariant: what is no conflict here is none for `git merge` either, and the bytes agree; see the tests against
//! git itself.
//! Start at `Repository::merge`; lines are merged in `lines`, names in `tree`, renames are found in `renames`.

mod content;
mod histogram;
mod lines;
mod names;
mod objects;
mod renames;
mod tree;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub use content::{Marks, Merge, Piece, is_binary, line_hunks, merge_bytes};
pub use names::{Danger, TreePath};
pub use objects::ObjectId;
pub use tree::Merged;

/// How a name in a tree is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// A file.
    Plain,
    /// A file that may be executed.
    Executable,
    /// A link; its bytes are where it leads.
    Link,
    /// A repository within; its id is a commit of that one.
    Module,
}

/// What a name in a tree stands for.
#[derive(Clone)]
pub struct Entry {
    /// How it is kept.
    pub mode: Mode,
    /// Names its bytes.
    pub id: ObjectId,
    /// The bytes, where they may not be among the repository's objects.
    pub bytes: Option<Arc<[u8]>>,
}

/// What one side made of a tree: each changed name with what it now stands for, `None` where it is gone.
pub type Changes = BTreeMap<TreePath, Option<Entry>>;

/// One file of one side of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its name on that side.
    pub path: TreePath,
    /// What it is there.
    pub entry: Entry,
    /// Its bytes; empty for a repository within.
    pub bytes: Arc<[u8]>,
}

/// Why two sides cannot both have a name as they want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConflictKind {
    /// Both changed the same lines.
    Content,
    /// Both changed a file that has no lines.
    Binary,
    /// Both added a file of this name.
    BothAdded,
    /// Ours changed it, theirs removed it.
    RemovedByThem,
    /// Ours removed it, theirs changed it.
    RemovedByUs,
    /// Both renamed one file, to different names.
    BothRenamed,
    /// One side has a file where the other has a folder.
    FileAndFolder,
    /// Both changed it, one to a file, the other to a link or a repository within; or both changed a link.
    Kind,
    /// One side added it to a folder that the other renamed.
    FolderMoved,
}

/// Lines that both sides changed, each range counted from 0 in its own version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictLines {
    /// In what both began from.
    pub base: Range<u32>,
    /// On our side.
    pub ours: Range<u32>,
    /// On their side.
    pub theirs: Range<u32>,
}

/// One name that needs somebody's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The name that is fought over.
    pub path: TreePath,
    /// Why.
    pub kind: ConflictKind,
    /// What both began from.
    pub base: Option<Version>,
    /// What our side has.
    pub ours: Option<Version>,
    /// What their side has.
    pub theirs: Option<Version>,
    /// Where, for content; empty otherwise.
    pub lines: Vec<ConflictLines>,
    /// The merged text with what is fought over in it, for content and for files that both added.
    pub merge: Option<Merge>,
}

impl Mode {
    /// Whether it has lines or bytes of its own, to be merged.
    pub fn is_file(self) -> bool {
        matches!(self, Mode::Plain | Mode::Executable)
    }
}

impl Entry {
    /// A file, or a link, of these bytes.
    pub fn of_bytes(mode: Mode, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            mode,
            id: ObjectId::of_blob(&bytes),
            bytes: Some(bytes),
        }
    }
}

impl PartialEq for Entry {
    /// Two entries with the same id have the same bytes, at hand or not.
    fn eq(&self, other: &Self) -> bool {
        (self.mode, self.id) == (other.mode, other.id)
    }
}

impl Eq for Entry {}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.mode, self.id)
    }
}

#[cfg(test)]
mod tests;
