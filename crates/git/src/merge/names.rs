//! Names in a tree, and which of them nobody may bring in.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path of a file in a tree: its parts with single slashes between them, in whatever bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Arc<[u8]>);

/// Why a name is not taken from an agent's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Danger {
    /// A part that some system takes for git's own folder.
    GitFolder,
    /// A part that leads elsewhere: empty, `.` or `..`.
    Elsewhere,
    /// A part that some system cannot keep: a zero byte, a backslash.
    Unkeepable,
    /// A link that leads out of the tree, with where to.
    LinkOut(String),
    /// A link where git wants a file of its own settings.
    LinkedSettings,
}

impl TreePath {
    /// A path by its bytes, as git has them.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(bytes.as_ref().into())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a relative path of the system.
    pub fn to_path(&self) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(std::ffi::OsStr::from_bytes(&self.0))
    }

    /// From a relative path of the system.
    pub fn of_path(path: &Path) -> Self {
        use std::os::unix::ffi::OsStrExt;
        Self::new(path.as_os_str().as_bytes())
    }

    /// Its parts from the top.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The folder it lies in, without a slash behind; empty at the top.
    pub fn folder(&self) -> &[u8] {
        let slash = self.0.iter().rposition(|byte| *byte == b'/');
        slash.map_or(&[], |slash| &self.0[..slash])
    }

    /// The last part.
    pub fn name(&self) -> &[u8] {
        let slash = self.0.iter().rposition(|byte| *byte == b'/');
        slash.map_or(&self.0, |slash| &self.0[slash + 1..])
    }

    /// The folders above it, the nearest first.
    pub fn folders(&self) -> impl Iterator<Item = TreePath> {
        let ends: Vec<usize> = (0..self.0.len()).filter(|ix| self.0[*ix] == b'/').collect();
        let bytes = self.0.clone();
        ends.into_iter()
            .rev()
            .map(move |end| TreePath::new(&bytes[..end]))
    }

    /// What speaks against taking this name, by the name alone.
    pub fn danger(&self) -> Option<Danger> {
        self.parts().find_map(part_danger)
    }

    /// What speaks against a link of this name that leads to `target`.
    pub fn link_danger(&self, target: &[u8]) -> Option<Danger> {
        if is_like(self.name(), "gitmodules", "gitmod~") {
            return Some(Danger::LinkedSettings);
        }
        let out = || {
            Some(Danger::LinkOut(
                String::from_utf8_lossy(target).into_owned(),
            ))
        };
        if target.is_empty() || target.starts_with(b"/") {
            return out();
        }
        let mut depth = self.parts().count() - 1;
        for part in target.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." if depth == 0 => return out(),
                b".." => depth -= 1,
                part if part_danger(part) == Some(Danger::GitFolder) => {
                    return Some(Danger::GitFolder);
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

impl fmt::Display for Danger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Danger::GitFolder => f.write_str("some systems take the name for git's own folder"),
            Danger::Elsewhere => f.write_str("the name leads elsewhere"),
            Danger::Unkeepable => f.write_str("some systems cannot keep the name"),
            Danger::LinkOut(target) => write!(f, "it links to {target}, outside of the repository"),
            Danger::LinkedSettings => {
                f.write_str("it is a link where git wants a file of its own settings")
            }
        }
    }
}

fn part_danger(part: &[u8]) -> Option<Danger> {
    match part {
        b"" | b"." | b".." => return Some(Danger::Elsewhere),
        _ => {}
    }
    if part.contains(&0) || part.contains(&b'\\') {
        return Some(Danger::Unkeepable);
    }
    is_like(part, "git", "git~").then_some(Danger::GitFolder)
}

/// Whether a file system may take `part` for `.{name}`: letters of either case, the short names of NTFS, dots,
/// spaces and streams behind, and the characters that HFS+ does not see.
fn is_like(part: &[u8], name: &str, short: &str) -> bool {
    let text = String::from_utf8_lossy(part);
    let seen: String = text.chars().filter(|it| !is_unseen(*it)).collect();
    let seen = seen.to_lowercase();
    let seen = seen.split(':').next().unwrap_or_default();
    let seen = seen.trim_end_matches(['.', ' ']);
    if seen.strip_prefix('.') == Some(name) {
        return true;
    }
    let number = seen.strip_prefix(short).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_unseen(it: char) -> bool {
    matches!(
        it,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests;
