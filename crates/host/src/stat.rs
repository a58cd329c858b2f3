//! File metadata: kind, identity, version, permissions.

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
