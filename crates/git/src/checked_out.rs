//! The bytes that git would check out for a file, computed without running any program.
//!
//! Limitation: filter programs named by attributes are not run; files with a filter have no result.

use std::path::Path;

use base::AbsPath;
use git2::FileMode;
use host::{Files as _, RealFiles};

use crate::attributes::Attribute;
use crate::index_file::slot;
use crate::land::eol;
use crate::merge::{EntryMode, TreePath};
use crate::repository::{Error, Repository};

/// Returns the bytes that a checkout of HEAD writes for the file that `path` resolves to, with the
/// line endings of the working tree. `None` if HEAD has no such file, if the file is in no
/// repository, if a filter program would have to run, or if git would replace `$Id$` in it. A file
/// with `working-tree-encoding` is returned in UTF-8, as git stores it.
pub fn checked_out(path: &AbsPath) -> Result<Option<Vec<u8>>, Error> {
    let path = resolved(path);
    let folder = path.parent().unwrap_or_else(|| path.clone());
    match Repository::discover(&folder) {
        Ok(repository) => repository.checked_out(&path),
        Err(Error::NoRepository(_) | Error::Bare(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Repository {
    /// Does the work of the function of this name. Expects `path` with all symlinks resolved.
    fn checked_out(&self, path: &AbsPath) -> Result<Option<Vec<u8>>, Error> {
        let Some(relative) = path.relative_to(self.workdir()) else {
            return Ok(None);
        };
        if !self.is_file_in_head(relative) || self.filter_of(relative).is_some() {
            return Ok(None);
        }
        let Some(bytes) = self.head_bytes(path)? else {
            return Ok(None);
        };
        Ok(self.in_worktree(&TreePath::of_path(relative), &bytes))
    }

    /// Returns the bytes that a checkout of the index writes for a file. `None` if the index has no such file, if the
    /// repository lacks its content, or if only the git program converts it: for a filter, an encoding or `$Id$`.
    pub fn checked_out_index(&self, path: &TreePath) -> Result<Option<Vec<u8>>, Error> {
        let index = self.fresh_index()?;
        let slot =
            slot(&index, path).filter(|slot| slot.entry_mode().is_some_and(EntryMode::is_file));
        let relative = path.to_path();
        let has_encoding = matches!(
            self.attribute(&relative, "working-tree-encoding"),
            Attribute::Named(_)
        );
        let Some(slot) = slot.filter(|_| !has_encoding && self.filter_of(&relative).is_none())
        else {
            return Ok(None);
        };
        let bytes = self.blob_bytes(slot.id)?;
        Ok(bytes.and_then(|bytes| self.in_worktree(path, &bytes)))
    }

    /// Converts the line endings of a stored content to those of the working tree; `None` if `$Id$` in it would be
    /// replaced by the object id.
    fn in_worktree(&self, path: &TreePath, bytes: &[u8]) -> Option<Vec<u8>> {
        let is_ident = self.attribute(&path.to_path(), "ident") == Attribute::True;
        if is_ident && bytes.windows(3).any(|part| part == b"$Id") {
            return None;
        }
        Some(eol::to_worktree(&self.inner, path, bytes).into_owned())
    }

    /// Returns whether HEAD has a regular file at this path, not a symlink, submodule or folder.
    fn is_file_in_head(&self, relative: &Path) -> bool {
        let tree = self.inner.head().and_then(|head| head.peel_to_tree());
        let entry = tree.and_then(|tree| tree.get_path(relative));
        let mode = entry
            .ok()
            .and_then(|entry| u32::try_from(entry.filemode()).ok());
        let is_mode = |wanted: FileMode| mode == u32::try_from(i32::from(wanted)).ok();
        is_mode(FileMode::Blob)
            || is_mode(FileMode::BlobExecutable)
            || is_mode(FileMode::BlobGroupWritable)
    }
}

/// Resolves the symlinks and the spelling of `path`; for a missing file, those of its folder.
fn resolved(path: &AbsPath) -> AbsPath {
    let real = |path: &AbsPath| RealFiles.canonicalize(path).ok();
    let in_folder = || {
        let folder = real(&path.parent()?)?;
        Some(folder.join(path.as_path().file_name()?))
    };
    real(path)
        .or_else(in_folder)
        .unwrap_or_else(|| path.clone())
}

#[cfg(test)]
mod tests;
