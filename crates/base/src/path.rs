//! Absolute paths, cheap to clone.
//!
//! Invariant: absolute, without `.` and `..` components. Links are not followed: this module never
//! accesses the disk.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::printable::{LineFeeds, printable};

/// An absolute path without `.` and `..`. Symlinks are not resolved, and the file need not exist.
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsPath(Arc<Path>);

impl AbsPath {
    /// Creates a path; `None` if `path` is relative. Resolves `.` and `..` lexically, without
    /// access to the disk.
    pub fn new(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        path.is_absolute().then(|| Self(normalize(path).into()))
    }

    /// Resolves `path` against `self`, `.` and `..` included; an absolute `path` is returned as it
    /// is.
    pub fn join(&self, path: impl AsRef<Path>) -> Self {
        Self(normalize(&self.0.join(path)).into())
    }

    /// Returns the parent folder; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.into()))
    }

    /// Returns the last component with its exact bytes; the whole path for the root.
    pub fn file_name(&self) -> &OsStr {
        self.0.file_name().unwrap_or(self.0.as_os_str())
    }

    /// Returns the last component on one line, with characters escaped that would hide or reorder
    /// text, for display. Not for building paths: `file_name` keeps the exact bytes.
    pub fn printable_name(&self) -> String {
        printable(&self.file_name().to_string_lossy(), LineFeeds::Escape).into_owned()
    }

    /// Returns the path on one line, with characters escaped that would hide or reorder text, for
    /// display.
    pub fn printable(&self) -> String {
        printable(&self.0.to_string_lossy(), LineFeeds::Escape).into_owned()
    }

    /// Returns the last component as text, invalid UTF-8 replaced by U+FFFD; the whole path for the
    /// root.
    pub fn name(&self) -> String {
        match self.0.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.0.to_string_lossy().into_owned(),
        }
    }

    /// Returns whether it is `ancestor` or below it, by components.
    pub fn is_within(&self, ancestor: &AbsPath) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// Returns the path relative to `ancestor`, empty if both are equal; `None` if it is not below
    /// it.
    pub fn relative_to(&self, ancestor: &AbsPath) -> Option<&Path> {
        self.0.strip_prefix(&ancestor.0).ok()
    }

    /// Returns it as a standard path.
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

/// Serialized as a string. Fails for a path that is not valid UTF-8.
impl Serialize for AbsPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(path) => serializer.serialize_str(path),
            None => Err(S::Error::custom(format!("{self} is not valid UTF-8"))),
        }
    }
}

impl<'de> Deserialize<'de> for AbsPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = String::deserialize(deserializer)?;
        let not_absolute = || D::Error::custom(format!("{path:?} is not an absolute path"));
        Self::new(&path).ok_or_else(not_absolute)
    }
}

impl fmt::Debug for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn normalize(path: &Path) -> PathBuf {
    if is_normal(path) {
        return path.to_owned();
    }
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

/// Returns whether an absolute path has no `.`, no `..` and no needless slash.
fn is_normal(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let mut names = bytes.split(|byte| *byte == b'/').skip(1);
    bytes == b"/" || names.all(|name| !matches!(name, b"" | b"." | b".."))
}

#[cfg(test)]
mod tests;
