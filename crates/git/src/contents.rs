//! The entry and the bytes of a path in a commit, in the index and in the working tree.

use std::os::unix::ffi::OsStrExt as _;

use host::links::{self, NoFollowEntry};
use host::{ErrorReason, Files as _, RealFiles};

use crate::clean::{CleanError, Cleaned};
use crate::index_file::slot;
use crate::merge::{EntryMode, ObjectId, TreePath};
use crate::repository::{Error, Repository, unreadable};

/// Maximum size in bytes of a file whose content is compared.
pub(crate) const MAX_TEXT_BYTES: u64 = 20 << 20;

/// An entry of the working tree, its links not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorktreeEntry {
    /// Nothing exists at the path, or a link is on the way to it.
    Absent,
    /// A file with its bytes as they are on disk.
    File {
        /// Plain or executable; `None` if the working tree stores no such bit.
        mode: Option<EntryMode>,
        /// The bytes of the file.
        raw: Vec<u8>,
    },
    /// A file that is too large to be compared.
    TooLarge {
        /// Plain or executable; `None` if the working tree stores no such bit.
        mode: Option<EntryMode>,
        /// Length in bytes.
        size: u64,
    },
    /// A symlink with its target.
    Link(Vec<u8>),
    /// A folder.
    Folder,
    /// A pipe, socket or device.
    Special,
}

impl Repository {
    /// Returns the tree of HEAD; `None` if there is no commit yet.
    pub(crate) fn committed_tree(&self) -> Result<Option<git2::Tree<'_>>, Error> {
        match self.inner.head().and_then(|head| head.peel_to_tree()) {
            Ok(tree) => Ok(Some(tree)),
            Err(error)
                if matches!(
                    error.code(),
                    git2::ErrorCode::UnbornBranch | git2::ErrorCode::NotFound
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(self.failed("HEAD", &error)),
        }
    }

    /// Returns mode and id of a path in a tree; `None` if there is none or it is a folder.
    pub(crate) fn tree_slot(
        &self,
        tree: Option<&git2::Tree<'_>>,
        path: &TreePath,
    ) -> Result<Option<(EntryMode, ObjectId)>, Error> {
        let Some(tree) = tree else {
            return Ok(None);
        };
        match tree.get_path(&path.to_path()) {
            Ok(entry) => {
                Ok(EntryMode::of(entry.filemode()).map(|mode| (mode, ObjectId(entry.id()))))
            }
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.failed(&path.to_string(), &error)),
        }
    }

    /// Returns the bytes of a blob; `None` if the repository lacks it, as a partial clone may.
    pub(crate) fn blob_bytes(&self, id: ObjectId) -> Result<Option<Vec<u8>>, Error> {
        match self.inner.find_blob(id.0) {
            Ok(blob) => Ok(Some(blob.content().to_vec())),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.failed(&id.to_string(), &error)),
        }
    }

    /// Returns the length of a blob in bytes without reading it; `None` if the repository lacks it.
    pub(crate) fn blob_size(&self, id: ObjectId) -> Option<u64> {
        let header = self.inner.odb().and_then(|odb| odb.read_header(id.0));
        header.ok().map(|(size, _)| size as u64)
    }

    /// Reads the entry of the working tree at a path; a file of more than `limit` bytes is not read.
    pub(crate) fn worktree_entry(
        &self,
        path: &TreePath,
        limit: u64,
    ) -> Result<WorktreeEntry, Error> {
        let is_elsewhere = |part: &[u8]| matches!(part, b"" | b"." | b"..");
        if path.components().any(is_elsewhere) {
            return Ok(WorktreeEntry::Absent);
        }
        let root = self.workdir();
        let place = root.join(path.to_path());
        let is_executable = match links::entry_at(root, &place) {
            Ok(NoFollowEntry::File { is_executable, .. }) => is_executable,
            Ok(NoFollowEntry::Absent) => return Ok(WorktreeEntry::Absent),
            Ok(NoFollowEntry::Folder) => return Ok(WorktreeEntry::Folder),
            Ok(NoFollowEntry::Other) => return Ok(WorktreeEntry::Special),
            Ok(NoFollowEntry::Link(target)) => {
                return Ok(WorktreeEntry::Link(target.as_bytes().to_vec()));
            }
            // Git knows no files behind a link.
            Err(error) if matches!(error.reason, ErrorReason::LinkLoop) => {
                return Ok(WorktreeEntry::Absent);
            }
            Err(error) => return Err(error.into()),
        };
        let mode = self.keeps_modes().then_some(if is_executable {
            EntryMode::Executable
        } else {
            EntryMode::Plain
        });
        let within = RealFiles.open_beneath(root);
        let read = match &within {
            Some(files) => files.read(&place, limit),
            None => RealFiles.read(&place, limit),
        };
        match read {
            Ok(raw) => Ok(WorktreeEntry::File { mode, raw }),
            Err(error) => match error.reason {
                ErrorReason::TooLarge { size, .. } => Ok(WorktreeEntry::TooLarge { mode, size }),
                ErrorReason::NotFound => Ok(WorktreeEntry::Absent),
                _ => Err(error.into()),
            },
        }
    }

    /// Converts the content of a file to the bytes that git stores.
    pub(crate) fn clean_file(
        &self,
        index: &git2::Index,
        path: &TreePath,
        raw: &[u8],
    ) -> Result<Cleaned, CleanError> {
        let in_index = || self.blob_bytes(slot(index, path)?.id).ok()?;
        self.clean(path, raw, &in_index)
    }

    /// Wraps an error of libgit2 about the working tree.
    pub(crate) fn failed_here(&self, error: &git2::Error) -> Error {
        unreadable(self.workdir().as_path(), error)
    }
}
