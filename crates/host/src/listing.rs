//! The entries of a folder.

use base::AbsPath;

use crate::error::Error;
use crate::stat::FileKind;

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// The entry's path, links not resolved.
    pub path: AbsPath,
    /// The kind of its target, links followed.
    pub kind: FileKind,
    /// Whether the entry itself is a symbolic link.
    pub is_link: bool,
}

/// The entries of a folder, with a problem for every entry that could not be examined.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Sorted by name, bytewise.
    pub entries: Vec<ListedEntry>,
    /// Failures; the remaining entries are still valid.
    pub problems: Vec<Error>,
}
