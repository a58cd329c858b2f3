//! What is known about a file without reading it.

use base::AbsPath;

use crate::error::Error;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link whose target is missing or leads back to itself.
    BrokenLink,
    /// A pipe, socket or device: nothing an editor opens.
    Other,
}

/// Identity and version of a file's content, as far as the file system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The device it lies on.
    pub device: u64,
    /// Its number on that device.
    pub inode: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Length in bytes.
    pub size: u64,
}

/// What the system says about a path, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileKind,
    /// Identity and version.
    pub stamp: Stamp,
    /// The permission bits, as in `0o644`.
    pub mode: u32,
    /// How many names the file has.
    pub links: u64,
    /// Whether this process may write it: false for a file without any write bit, even for root.
    pub is_writable: bool,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: AbsPath,
    /// What it leads to, a link followed.
    pub kind: FileKind,
    /// Whether the name itself is a symbolic link.
    pub is_link: bool,
}

/// What a folder holds, with a problem for every entry that could not be looked at.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Sorted by name, bytewise.
    pub entries: Vec<Entry>,
    /// What could not be read; the rest is still good.
    pub problems: Vec<Error>,
}
