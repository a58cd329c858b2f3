//! The diff of one file, as it is shown and staged.

mod compared;
mod contents;

use std::sync::Arc;

use text::RowSpan;

use super::{Side, StagingError, WholeReason};
use crate::capabilities::GitFeature;
use crate::changes::ChangeNote;
use crate::clean::Cleaned;
use crate::contents::{MAX_TEXT_BYTES, WorktreeEntry};
use crate::index_file::{IndexSlot, is_conflicted, slot};
use crate::lines;
use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::{Error, Repository};

/// A difference: the rows of the base became the rows of the work text. One of them may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiffHunk {
    /// Rows of the base.
    pub base: RowSpan,
    /// Rows of the work text.
    pub work: RowSpan,
}

/// The diff of one file. Rows are separated by line feeds and include them; a last row may lack
/// its line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The path.
    pub path: TreePath,
    /// The compared texts.
    pub side: Side,
    /// The text before: that of HEAD for a staged change, else that of the index. Empty if there is
    /// none.
    pub base: Arc<[u8]>,
    /// The text after, as git stores it: that of the index for a staged change, else that of the
    /// working tree. Empty if there is none.
    pub work: Arc<[u8]>,
    /// The hunks, in order; empty for a change without lines.
    pub hunks: Vec<DiffHunk>,
    /// Id and mode before; `None` if there is no file. A file that the index only announces has
    /// none.
    pub base_entry: Option<(EntryMode, ObjectId)>,
    /// Id and mode after; `None` if there is no file. The id of a file of the working tree that is
    /// too large for a comparison is zero.
    pub work_entry: Option<(EntryMode, ObjectId)>,
    /// The path before a staged rename.
    pub old_path: Option<TreePath>,
    /// A remark that replaces or explains the lines.
    pub note: Option<ChangeNote>,
    /// Whether the working tree has `\r\n` where git stores `\n`.
    pub has_crlf_in_worktree: bool,
    /// The reason why lines cannot be chosen.
    pub whole: Option<WholeReason>,
    /// The entry of the index when the diff was made.
    pub(super) in_index: Option<IndexSlot>,
}

/// The places from which the sides of a file's diff are read.
struct DiffSource<'a> {
    repository: &'a Repository,
    index: &'a git2::Index,
    path: &'a TreePath,
    in_index: Option<IndexSlot>,
}

/// One side of a diff.
#[derive(Default)]
struct DiffSide {
    entry: Option<(EntryMode, ObjectId)>,
    bytes: Vec<u8>,
    whole: Option<WholeReason>,
    note: Option<ChangeNote>,
    has_crlf_in_worktree: bool,
}

impl Repository {
    /// Returns the diff of a file. `buffer` is the content that a save would write to the working
    /// tree, if it differs from the file on disk; a staged diff does not use it.
    ///
    /// # Errors
    ///
    /// `NeedsProgram` if the text cannot be made without the git program, `Conflicted` for an
    /// unresolved file.
    pub fn file_diff(
        &self,
        path: &TreePath,
        side: Side,
        buffer: Option<&[u8]>,
    ) -> Result<FileDiff, StagingError> {
        let index = self.fresh_index()?;
        if is_conflicted(&index, path) {
            return Err(StagingError::Conflicted(path.clone()));
        }
        let source = DiffSource {
            repository: self,
            index: &index,
            path,
            in_index: slot(&index, path),
        };
        let indexed = source.index_side()?;
        let (base, work, old_path) = match side {
            Side::Staged => {
                let (base, old_path) = source.head_side()?;
                (base, indexed, old_path)
            }
            Side::Unstaged => (indexed, source.worktree_side(buffer)?, None),
        };
        if base.entry.is_none() && work.entry.is_none() {
            return Err(StagingError::Absent(path.clone()));
        }
        let in_index = source.in_index;
        Ok(FileDiff::new(path, side, base, work, old_path, in_index))
    }

    /// Returns the unstaged diff of a file whose content the git program converted: `cleaned` is the
    /// content of the working tree as git stores it.
    ///
    /// # Errors
    ///
    /// `Conflicted` for an unresolved file, `Absent` if the working tree lacks the file.
    pub fn file_diff_of_cleaned(
        &self,
        path: &TreePath,
        cleaned: Vec<u8>,
    ) -> Result<FileDiff, StagingError> {
        let index = self.fresh_index()?;
        if is_conflicted(&index, path) {
            return Err(StagingError::Conflicted(path.clone()));
        }
        let in_index = slot(&index, path);
        let source = DiffSource {
            repository: self,
            index: &index,
            path,
            in_index,
        };
        let base = source.index_side()?;
        let mode = match self.worktree_entry(path, 0)? {
            WorktreeEntry::File { mode, .. } | WorktreeEntry::TooLarge { mode, .. } => mode,
            _ => return Err(StagingError::Absent(path.clone())),
        };
        let id = ObjectId::of_blob(&cleaned);
        let work = DiffSide::of_text(file_mode(mode, in_index), id, cleaned);
        let side = Side::Unstaged;
        Ok(FileDiff::new(path, side, base, work, None, in_index))
    }
}

impl DiffSource<'_> {
    fn head_side(&self) -> Result<(DiffSide, Option<TreePath>), StagingError> {
        let tree = self.repository.committed_tree()?;
        let entry = self.repository.tree_slot(tree.as_ref(), self.path)?;
        if entry.is_some() || self.in_index.is_none_or(|slot| slot.is_intent_to_add()) {
            return Ok((self.object_side(entry)?, None));
        }
        let old_path = self.renamed_from(tree.as_ref())?;
        let entry = match &old_path {
            Some(old_path) => self.repository.tree_slot(tree.as_ref(), old_path)?,
            None => None,
        };
        Ok((self.object_side(entry)?, old_path))
    }

    /// Returns the path in HEAD from which the index renamed a file.
    fn renamed_from(&self, tree: Option<&git2::Tree<'_>>) -> Result<Option<TreePath>, Error> {
        let failed = |error: git2::Error| self.repository.failed_here(&error);
        let mut diff = self
            .repository
            .inner
            .diff_tree_to_index(tree, Some(self.index), None)
            .map_err(failed)?;
        diff.find_similar(Some(git2::DiffFindOptions::new().renames(true)))
            .map_err(failed)?;
        let is_it = |delta: &git2::DiffDelta<'_>| {
            delta.status() == git2::Delta::Renamed
                && delta.new_file().path_bytes() == Some(self.path.as_bytes())
        };
        let renamed = diff.deltas().find(is_it);
        Ok(renamed.and_then(|delta| delta.old_file().path_bytes().map(TreePath::new)))
    }

    fn index_side(&self) -> Result<DiffSide, StagingError> {
        let entry = self.in_index.filter(|slot| !slot.is_intent_to_add());
        self.object_side(entry.and_then(|slot| Some((slot.entry_mode()?, slot.id))))
    }

    /// Returns the side of an entry of the index or of a tree.
    fn object_side(&self, entry: Option<(EntryMode, ObjectId)>) -> Result<DiffSide, StagingError> {
        let Some((mode, id)) = entry else {
            return Ok(DiffSide::default());
        };
        if mode == EntryMode::Module {
            return Ok(DiffSide::of_module(id));
        }
        if let Some(size) = self
            .repository
            .blob_size(id)
            .filter(|size| *size > MAX_TEXT_BYTES)
        {
            return Ok(DiffSide::too_large(Some((mode, id)), size));
        }
        let bytes = self.repository.blob_bytes(id)?;
        let bytes = bytes.ok_or_else(|| StagingError::NeedsProgram {
            path: self.path.clone(),
            feature: GitFeature::PartialClone,
        })?;
        Ok(DiffSide {
            whole: (mode == EntryMode::Link).then_some(WholeReason::Symlink),
            note: (mode == EntryMode::Link).then_some(ChangeNote::Symlink),
            ..DiffSide::of_text(mode, id, bytes)
        })
    }

    fn worktree_side(&self, buffer: Option<&[u8]>) -> Result<DiffSide, StagingError> {
        let entry = self.repository.worktree_entry(self.path, MAX_TEXT_BYTES)?;
        let (mode, raw) = match (entry, buffer) {
            (
                WorktreeEntry::File { mode, .. } | WorktreeEntry::TooLarge { mode, .. },
                Some(raw),
            ) => (mode, raw.to_vec()),
            (WorktreeEntry::Absent, Some(raw)) => (None, raw.to_vec()),
            (WorktreeEntry::File { mode, raw }, None) => (mode, raw),
            (WorktreeEntry::TooLarge { mode, size }, None) => {
                let mode = file_mode(mode, self.in_index);
                let id = ObjectId(git2::Oid::ZERO_SHA1);
                return Ok(DiffSide::too_large(Some((mode, id)), size));
            }
            (WorktreeEntry::Absent, None) => return Ok(DiffSide::default()),
            (WorktreeEntry::Link(target), _) => {
                let id = ObjectId::of_blob(&target);
                return Ok(DiffSide {
                    whole: Some(WholeReason::Symlink),
                    note: Some(ChangeNote::Symlink),
                    ..DiffSide::of_text(EntryMode::Link, id, target)
                });
            }
            (WorktreeEntry::Folder, _) => return Ok(self.module_side()),
            (WorktreeEntry::Special, _) => return Err(StagingError::Special(self.path.clone())),
        };
        let cleaned = self
            .repository
            .clean_file(self.index, self.path, &raw)
            .map_err(|error| StagingError::of_clean(self.path, error))?;
        let Cleaned { bytes, drops_cr } = cleaned;
        let id = ObjectId::of_blob(&bytes);
        Ok(DiffSide {
            has_crlf_in_worktree: drops_cr,
            ..DiffSide::of_text(file_mode(mode, self.in_index), id, bytes)
        })
    }

    /// Returns the side of a folder: the commit of a repository in it, else no file.
    fn module_side(&self) -> DiffSide {
        let root = self.repository.workdir().join(self.path.to_path());
        let head = || {
            let inner = git2::Repository::open(root.as_path()).ok()?;
            let head = inner.head().ok()?;
            let commit = head.peel_to_commit().ok()?;
            Some(ObjectId(commit.id()))
        };
        head().map_or_else(DiffSide::default, DiffSide::of_module)
    }
}

/// Returns the mode that git stores for a file: that of the index where the working tree has
/// no executable bits.
pub(super) fn file_mode(mode: Option<EntryMode>, in_index: Option<IndexSlot>) -> EntryMode {
    let indexed = in_index.and_then(|slot| slot.entry_mode());
    let indexed = indexed.filter(|mode| mode.is_file());
    mode.or(indexed).unwrap_or(EntryMode::Plain)
}

impl DiffSide {
    fn of_text(mode: EntryMode, id: ObjectId, bytes: Vec<u8>) -> Self {
        Self {
            entry: Some((mode, id)),
            bytes,
            ..Self::default()
        }
    }

    fn of_module(id: ObjectId) -> Self {
        Self {
            whole: Some(WholeReason::Submodule),
            ..Self::of_text(
                EntryMode::Module,
                id,
                format!("Subproject commit {id}\n").into_bytes(),
            )
        }
    }

    fn too_large(entry: Option<(EntryMode, ObjectId)>, size: u64) -> Self {
        Self {
            entry,
            whole: Some(WholeReason::TooLarge),
            note: Some(ChangeNote::TooLarge { size }),
            ..Self::default()
        }
    }
}

impl FileDiff {
    /// Creates the diff of two contents that the git program read, where libgit2 cannot read the index. Its lines are
    /// staged by `FileDiff::patch`. A content is as git stores it; `None` if there is no file.
    pub fn of_contents(
        path: &TreePath,
        side: Side,
        base: Option<(EntryMode, Vec<u8>)>,
        work: Option<(EntryMode, Vec<u8>)>,
    ) -> Self {
        let side_of = |content: Option<(EntryMode, Vec<u8>)>| match content {
            Some((mode, bytes)) => DiffSide {
                whole: match mode {
                    EntryMode::Link => Some(WholeReason::Symlink),
                    EntryMode::Module => Some(WholeReason::Submodule),
                    EntryMode::Plain | EntryMode::Executable => None,
                },
                ..DiffSide::of_text(mode, ObjectId::of_blob(&bytes), bytes)
            },
            None => DiffSide::default(),
        };
        Self::new(path, side, side_of(base), side_of(work), None, None)
    }

    fn new(
        path: &TreePath,
        side: Side,
        base: DiffSide,
        work: DiffSide,
        old_path: Option<TreePath>,
        in_index: Option<IndexSlot>,
    ) -> Self {
        let mut diff = Self {
            path: path.clone(),
            side,
            base_entry: base.entry,
            work_entry: work.entry,
            old_path,
            whole: base.whole.or(work.whole),
            note: base.note.or(work.note),
            has_crlf_in_worktree: work.has_crlf_in_worktree,
            hunks: Vec::new(),
            base: base.bytes.into(),
            work: work.bytes.into(),
            in_index,
        };
        diff.describe();
        if !matches!(
            diff.whole,
            Some(WholeReason::Binary | WholeReason::TooLarge)
        ) {
            let hunks = lines::hunks(&diff.base, &diff.work).into_iter();
            let hunks = hunks.map(|hunk| DiffHunk {
                base: hunk.before,
                work: hunk.after,
            });
            diff.hunks = hunks.collect();
        }
        diff
    }

    /// Adds the notes that depend on both sides.
    fn describe(&mut self) {
        if let (Some((old, before)), Some((new, after))) = (self.base_entry, self.work_entry)
            && old == EntryMode::Module
            && new == EntryMode::Module
        {
            self.note = Some(ChangeNote::Submodule {
                old: Some(before),
                new: Some(after),
                is_dirty: false,
            });
        }
        if self.whole.is_some() {
            return;
        }
        let note = ChangeNote::of_contents(&self.base, &self.work);
        if note == Some(ChangeNote::Binary) {
            self.whole = Some(WholeReason::Binary);
        }
        let modes = self.base_entry.zip(self.work_entry);
        let modes = modes.map(|((old, _), (new, _))| (old.raw() as u32, new.raw() as u32));
        self.note = note.or_else(|| {
            let (old, new) = modes.filter(|(old, new)| old != new)?;
            Some(ChangeNote::Mode { old, new })
        });
    }
}
