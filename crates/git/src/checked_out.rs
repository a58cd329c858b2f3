//! The bytes that git would check out for a file, computed without running any program.
//!
//! Limitation: filter programs named by attributes are not run; files with a filter have no result.

use std::path::Path;

use base::AbsPath;
use git2::{AttrCheckFlags, AttrValue, FileMode};
use host::{Files as _, RealFiles};

use crate::land::eol;
use crate::merge::TreePath;
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
        if !self.is_file_in_head(relative) || self.has_filter(relative) {
            return Ok(None);
        }
        let Some(bytes) = self.head_bytes(path)? else {
            return Ok(None);
        };
        // `$Id$` would be replaced by the object id.
        let is_ident = matches!(self.attribute(relative, "ident"), Attribute::True);
        if is_ident && bytes.windows(3).any(|part| part == b"$Id") {
            return Ok(None);
        }
        let name = TreePath::of_path(relative);
        let bytes = eol::to_worktree(&self.inner, &name, &bytes).into_owned();
        Ok(Some(bytes))
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

    /// Returns whether the file's `filter` attribute names a filter for which the config has a
    /// program. `relative` is relative to the working tree. An unreadable config counts as one
    /// without programs.
    fn has_filter(&self, relative: &Path) -> bool {
        let Attribute::Named(filter) = self.attribute(relative, "filter") else {
            return false;
        };
        // A filter without a program changes nothing.
        let config = self.inner.config().ok();
        let has_program = |what: &str| {
            let key = format!("filter.{filter}.{what}");
            let value = config
                .as_ref()
                .and_then(|config| config.get_string(&key).ok());
            value.is_some_and(|value| !value.is_empty())
        };
        ["smudge", "clean", "process"].into_iter().any(has_program)
    }

    fn attribute(&self, relative: &Path, name: &str) -> Attribute {
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        let value = self.inner.get_attr_bytes(relative, name, flags);
        match AttrValue::from_bytes(value.ok().flatten()) {
            AttrValue::True => Attribute::True,
            AttrValue::String(name) => Attribute::Named(name.to_owned()),
            AttrValue::Bytes(name) => Attribute::Named(String::from_utf8_lossy(name).into_owned()),
            AttrValue::False | AttrValue::Unspecified => Attribute::None,
        }
    }
}

enum Attribute {
    None,
    True,
    Named(String),
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
