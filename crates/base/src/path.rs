//! Absolute paths, cheap to clone.
//!
//! Invariant: absolute, without `.` and `..` components. Links are not followed: nothing here
//! looks at a disk.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::printable::{LineFeeds, printable};

/// An absolute path without `.` and `..`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsPath(Arc<Path>);

impl AbsPath {
    /// The path itself when it is absolute, with `.` and `..` resolved by name alone.
    pub fn new(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        path.is_absolute().then(|| Self(normalize(path).into()))
    }

    /// `path` taken from `self` when it is relative; itself when it is absolute.
    pub fn join(&self, path: impl AsRef<Path>) -> Self {
        Self(normalize(&self.0.join(path)).into())
    }

    /// The folder it lies in; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.into()))
    }

    /// The last component as it is; the whole path for the root.
    pub fn file_name(&self) -> &OsStr {
        self.0.file_name().unwrap_or(self.0.as_os_str())
    }

    /// The last component on one line, safe to show. No path is made of it: `file_name` keeps the bytes.
    pub fn shown_name(&self) -> String {
        printable(&self.file_name().to_string_lossy(), LineFeeds::Escape).into_owned()
    }

    /// The path on one line, safe to show.
    pub fn shown(&self) -> String {
        printable(&self.0.to_string_lossy(), LineFeeds::Escape).into_owned()
    }

    /// The last component, lossily as text; the whole path for the root.
    pub fn name(&self) -> String {
        match self.0.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.0.to_string_lossy().into_owned(),
        }
    }

    /// Whether it is `ancestor` or lies beneath it.
    pub fn is_within(&self, ancestor: &AbsPath) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// What is left of it below `ancestor`.
    pub fn relative_to(&self, ancestor: &AbsPath) -> Option<&Path> {
        self.0.strip_prefix(&ancestor.0).ok()
    }

    /// As a standard path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for AbsPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl fmt::Debug for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn normalize(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests;
