//! File metadata: kind, identity, version, permissions.

use base::AbsPath;

use crate::error::Error;

/// The kind of a path's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file, or a link to one.
    File,
    /// A folder, or a link to one.
    Folder,
    /// A link whose target is missing or that leads back to itself.
    BrokenLink,
    /// A pipe, socket or device, which an editor does not open.
    Other,
}

/// Identity and version of a file's content, as far as the file system records them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Number of the containing device.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Length of the content in bytes.
    pub size: u64,
}

/// The metadata of a path, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The kind of the target.
    pub kind: FileKind,
    /// Identity and version of the content.
    pub stamp: Stamp,
    /// The permission bits, as in `0o644`.
    pub mode: u32,
    /// Number of hard links.
    pub links: u64,
    /// Whether this process may write it: false for a file without any write bit, even for root.
    pub is_writable: bool,
}

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
