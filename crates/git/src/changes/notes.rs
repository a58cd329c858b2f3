//! Remarks on changes: contents without lines, modes, submodules, line endings; and the numbers of
//! changed lines.

use std::fmt;

use crate::contents::{MAX_TEXT_BYTES, WorktreeEntry};
use crate::index_file::slot;
use crate::lines::{changed_lines, is_same_without_cr};
use crate::merge::{EntryMode, ObjectId, TreePath, is_binary};
use crate::repository::Error;

use super::scan::ChangeScan;
use super::{Change, ChangeGroup, ChangeKind};

/// Maximum number of changes whose contents are examined for notes and numbers of lines.
const MAX_EXAMINED: usize = 500;

/// Start of the pointer file that Git LFS stores instead of a content.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// Maximum size in bytes of such a file.
const MAX_POINTER_BYTES: usize = 1024;

/// A remark on a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeNote {
    /// The content is not text.
    Binary,
    /// The content is a pointer of Git LFS.
    LfsPointer {
        /// Size in bytes of the file that the pointer replaces, if it says so.
        size: Option<u64>,
    },
    /// The file is too large for a comparison.
    TooLarge {
        /// Size of the file in bytes.
        size: u64,
    },
    /// The entry is a symlink.
    Symlink,
    /// The contents are equal but for `\r\n` and `\n`.
    LineEndsOnly,
    /// The mode changed.
    Mode {
        /// The mode before.
        old: u32,
        /// The mode after.
        new: u32,
    },
    /// The commit of a submodule changed, or its files.
    Submodule {
        /// The commit before; `None` if there was none.
        old: Option<ObjectId>,
        /// The commit after; `None` if there is none.
        new: Option<ObjectId>,
        /// Whether tracked files of the submodule have changes of their own.
        is_dirty: bool,
    },
    /// The untracked folder is a repository of its own.
    Repository,
    /// The file cannot be read.
    Unreadable,
    /// The filter of this name is a program, which only git runs.
    FilterProgram(String),
}

impl fmt::Display for ChangeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeNote::Binary => f.write_str("binary file"),
            ChangeNote::LfsPointer { size: Some(size) } => {
                write!(f, "Git LFS pointer to {size} bytes")
            }
            ChangeNote::LfsPointer { size: None } => f.write_str("Git LFS pointer"),
            ChangeNote::TooLarge { size } => write!(f, "too large to compare: {size} bytes"),
            ChangeNote::Symlink => f.write_str("symbolic link"),
            ChangeNote::LineEndsOnly => f.write_str("only line endings differ"),
            ChangeNote::Mode { old, new } => write!(f, "mode {old:06o} → {new:06o}"),
            ChangeNote::Submodule { old, new, is_dirty } => {
                let short = |id: &Option<ObjectId>| match id {
                    Some(id) => id.to_string().chars().take(8).collect(),
                    None => "none".to_owned(),
                };
                if old == new {
                    f.write_str("submodule")?;
                } else {
                    write!(f, "submodule {} → {}", short(old), short(new))?;
                }
                if *is_dirty {
                    f.write_str(", with changes of its own")?;
                }
                Ok(())
            }
            ChangeNote::Repository => f.write_str("a repository of its own"),
            ChangeNote::Unreadable => f.write_str("cannot be read"),
            ChangeNote::FilterProgram(name) => write!(f, "stored by the filter \"{name}\""),
        }
    }
}

impl ChangeNote {
    /// Returns the note on a pair of contents, before and after.
    pub(crate) fn of_contents(before: &[u8], after: &[u8]) -> Option<Self> {
        if let Some(size) = lfs_pointer(after).or_else(|| lfs_pointer(before)) {
            return Some(ChangeNote::LfsPointer { size });
        }
        if is_binary(before) || is_binary(after) {
            return Some(ChangeNote::Binary);
        }
        let is_both = !before.is_empty() && !after.is_empty() && before != after;
        (is_both && is_same_without_cr(before, after)).then_some(ChangeNote::LineEndsOnly)
    }

    /// Returns whether the contents have lines that can be compared.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(self, ChangeNote::LineEndsOnly | ChangeNote::Mode { .. })
    }
}

/// Returns the size in a pointer of Git LFS, which is absent in a damaged one; `None` if the
/// content is none.
fn lfs_pointer(bytes: &[u8]) -> Option<Option<u64>> {
    if bytes.len() > MAX_POINTER_BYTES || !bytes.starts_with(LFS_POINTER) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let size = text.lines().find_map(|line| line.strip_prefix("size "));
    Some(size.and_then(|size| size.trim().parse().ok()))
}

/// One side of a change for its note.
enum NotedContent {
    Bytes(Vec<u8>),
    Noted(ChangeNote),
}

impl ChangeScan<'_> {
    /// Adds notes and numbers of lines that need the contents, unless there are too many changes.
    pub(super) fn add_notes(&self, entries: &mut [Change]) {
        if entries.len() > MAX_EXAMINED {
            return;
        }
        for change in entries {
            let is_examined = match change.kind {
                ChangeKind::Added
                | ChangeKind::Modified
                | ChangeKind::Deleted
                | ChangeKind::Renamed
                | ChangeKind::Untracked => {
                    matches!(change.note, None | Some(ChangeNote::Mode { .. }))
                }
                ChangeKind::TypeChanged
                | ChangeKind::ModeChanged
                | ChangeKind::Submodule
                | ChangeKind::Conflicted(_) => false,
            };
            if is_examined {
                // The note is a remark; reading the diff reports the error.
                drop(self.add_note(change));
            }
        }
    }

    fn add_note(&self, change: &mut Change) -> Result<(), Error> {
        let sides = [self.content_before(change)?, self.content_after(change)?];
        match sides {
            [NotedContent::Bytes(before), NotedContent::Bytes(after)] => {
                let note = ChangeNote::of_contents(&before, &after);
                if note.as_ref().is_none_or(ChangeNote::has_lines) {
                    change.lines = Some(changed_lines(&before, &after));
                }
                change.note = change.note.take().or(note);
            }
            [NotedContent::Noted(note), _] | [_, NotedContent::Noted(note)] => {
                change.note = change.note.take().or(Some(note));
            }
        }
        Ok(())
    }

    fn content_before(&self, change: &Change) -> Result<NotedContent, Error> {
        let path = change.old_path.as_ref().unwrap_or(&change.path);
        let entry = match change.group {
            ChangeGroup::Staged => self
                .repository
                .tree_slot(self.repository.committed_tree()?.as_ref(), path)?,
            ChangeGroup::Unstaged => {
                slot(self.index, path).and_then(|slot| Some((slot.entry_mode()?, slot.id)))
            }
            ChangeGroup::Conflicts | ChangeGroup::Untracked => None,
        };
        self.noted_blob(entry)
    }

    fn content_after(&self, change: &Change) -> Result<NotedContent, Error> {
        if change.kind == ChangeKind::Deleted {
            return Ok(NotedContent::Bytes(Vec::new()));
        }
        if change.group == ChangeGroup::Staged {
            let entry = slot(self.index, &change.path);
            return self.noted_blob(entry.and_then(|slot| Some((slot.entry_mode()?, slot.id))));
        }
        self.noted_file(&change.path)
    }

    fn noted_blob(&self, entry: Option<(EntryMode, ObjectId)>) -> Result<NotedContent, Error> {
        let Some((mode, id)) = entry else {
            return Ok(NotedContent::Bytes(Vec::new()));
        };
        match mode {
            EntryMode::Link => return Ok(NotedContent::Noted(ChangeNote::Symlink)),
            // Its commit is an object of another repository.
            EntryMode::Module => return Ok(NotedContent::Bytes(Vec::new())),
            EntryMode::Plain | EntryMode::Executable => {}
        }
        match self.repository.blob_size(id) {
            Some(size) if size > MAX_TEXT_BYTES => {
                Ok(NotedContent::Noted(ChangeNote::TooLarge { size }))
            }
            _ => Ok(match self.repository.blob_bytes(id)? {
                Some(bytes) => NotedContent::Bytes(bytes),
                None => NotedContent::Noted(ChangeNote::Unreadable),
            }),
        }
    }

    fn noted_file(&self, path: &TreePath) -> Result<NotedContent, Error> {
        Ok(
            match self.repository.worktree_entry(path, MAX_TEXT_BYTES)? {
                WorktreeEntry::File { raw, .. } => {
                    if let Some(filter) = self.repository.filter_of(&path.to_path()) {
                        return Ok(NotedContent::Noted(ChangeNote::FilterProgram(filter)));
                    }
                    match self.repository.clean_file(self.index, path, &raw) {
                        Ok(cleaned) => NotedContent::Bytes(cleaned.bytes),
                        // An encoding that only git knows: the bytes are not comparable.
                        Err(_) => NotedContent::Noted(ChangeNote::Binary),
                    }
                }
                WorktreeEntry::TooLarge { size, .. } => {
                    NotedContent::Noted(ChangeNote::TooLarge { size })
                }
                WorktreeEntry::Link(_) => NotedContent::Noted(ChangeNote::Symlink),
                WorktreeEntry::Folder | WorktreeEntry::Special => {
                    NotedContent::Noted(ChangeNote::Unreadable)
                }
                WorktreeEntry::Absent => NotedContent::Bytes(Vec::new()),
            },
        )
    }

    /// Returns the id that git would give the content of a file; `None` if there is no file or it
    /// cannot be converted here.
    pub(super) fn worktree_id(&self, path: &TreePath) -> Result<Option<ObjectId>, Error> {
        match self.repository.worktree_entry(path, MAX_TEXT_BYTES)? {
            WorktreeEntry::File { raw, .. } => {
                let cleaned = self.repository.clean_file(self.index, path, &raw).ok();
                Ok(cleaned.map(|cleaned| ObjectId::of_blob(&cleaned.bytes)))
            }
            _ => Ok(None),
        }
    }
}
