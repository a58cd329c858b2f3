//! Paths in a tree, and the check for dangerous ones.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::names::widest_key;

/// Path of a file in a tree: components of arbitrary bytes, separated by single slashes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Arc<[u8]>);

/// Reason why a path from an agent's tree is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameDanger {
    /// A component that some file system treats as `.git`.
    GitFolder,
    /// A component that is empty, `.` or `..`.
    Elsewhere,
    /// A component that some file system cannot store, with a zero byte or a backslash.
    Unkeepable,
    /// A symlink that leaves the tree, with its target.
    LinkOut(String),
    /// A symlink in place of a git settings file.
    LinkedSettings,
}

impl TreePath {
    /// Creates a path from git's bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(bytes.as_ref().into())
    }

    /// Returns the bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Converts to a relative file system path.
    pub fn to_path(&self) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(std::ffi::OsStr::from_bytes(&self.0))
    }

    /// Converts from a relative file system path.
    pub fn of_path(path: &Path) -> Self {
        use std::os::unix::ffi::OsStrExt;
        Self::new(path.as_os_str().as_bytes())
    }

    /// Returns the components, starting at the root.
    pub fn components(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// Returns the parent folder without a trailing slash; empty at the root.
    pub fn folder(&self) -> &[u8] {
        let slash = self.0.iter().rposition(|byte| *byte == b'/');
        slash.map_or(&[], |slash| &self.0[..slash])
    }

    /// Returns the last component.
    pub fn name(&self) -> &[u8] {
        let slash = self.0.iter().rposition(|byte| *byte == b'/');
        slash.map_or(&self.0, |slash| &self.0[slash + 1..])
    }

    /// Returns the parent folders, nearest first.
    pub fn folders(&self) -> impl Iterator<Item = TreePath> {
        let ends: Vec<usize> = (0..self.0.len()).filter(|ix| self.0[*ix] == b'/').collect();
        let bytes = self.0.clone();
        ends.into_iter()
            .rev()
            .map(move |end| TreePath::new(&bytes[..end]))
    }

    /// Returns the reason to reject this path, judged by the path alone.
    pub fn danger(&self) -> Option<NameDanger> {
        self.components().find_map(part_danger)
    }

    /// Returns the reason to reject a symlink at this path with the given target.
    pub fn link_danger(&self, target: &[u8]) -> Option<NameDanger> {
        if is_like(self.name(), "gitmodules", "gitmod~") {
            return Some(NameDanger::LinkedSettings);
        }
        let out = || {
            Some(NameDanger::LinkOut(
                String::from_utf8_lossy(target).into_owned(),
            ))
        };
        if target.is_empty() || target.starts_with(b"/") {
            return out();
        }
        let mut depth = self.components().count() - 1;
        for part in target.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." if depth == 0 => return out(),
                b".." => depth -= 1,
                part if part_danger(part) == Some(NameDanger::GitFolder) => {
                    return Some(NameDanger::GitFolder);
                }
                _ => depth += 1,
            }
        }
        None
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<&str> for TreePath {
    fn from(path: &str) -> Self {
        Self::new(path)
    }
}

impl fmt::Display for NameDanger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameDanger::GitFolder => f.write_str("some systems treat the name as git's own folder"),
            NameDanger::Elsewhere => f.write_str("the name leads outside its folder"),
            NameDanger::Unkeepable => f.write_str("some systems cannot store the name"),
            NameDanger::LinkOut(target) => {
                write!(f, "it links to {target}, outside the repository")
            }
            NameDanger::LinkedSettings => {
                f.write_str("it is a link in place of a git settings file")
            }
        }
    }
}

/// Returns the reason to reject a path component, for any file system: it is empty, `.` or `..`,
/// contains NUL or a backslash, or may be taken for `.git`. `None` if it is safe.
fn part_danger(part: &[u8]) -> Option<NameDanger> {
    match part {
        b"" | b"." | b".." => return Some(NameDanger::Elsewhere),
        _ => {}
    }
    if part.contains(&0) || part.contains(&b'\\') {
        return Some(NameDanger::Unkeepable);
    }
    is_git_folder(part).then_some(NameDanger::GitFolder)
}

/// Returns whether some file system may treat a path component as `.git`.
pub(crate) fn is_git_folder(part: &[u8]) -> bool {
    is_like(part, "git", "git~")
}

/// Returns whether some file system may treat `part` as `.{name}`, considering case, ligatures and
/// normal forms, NTFS short names, trailing dots, spaces and streams, and characters that HFS+
/// ignores. `name` and `short` are in their folded form.
fn is_like(part: &[u8], name: &str, short: &str) -> bool {
    if part
        .first()
        .is_none_or(|byte| byte.is_ascii() && !b".gG".contains(byte))
    {
        return false;
    }
    let seen = widest_key(part);
    let seen = String::from_utf8_lossy(&seen);
    let seen = seen.split(':').next().unwrap_or_default();
    let seen = seen.trim_end_matches(['.', ' ']);
    if seen.strip_prefix('.') == Some(name) {
        return true;
    }
    let number = seen.strip_prefix(short).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
