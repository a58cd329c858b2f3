//! The fields of `stat(2)`, in the same types on every system.

use std::os::fd::AsFd;

use rustix::fs::{FileType, RawMode, Stat as RawStat};

use crate::stat::{FileKind, Stamp};

/// The metadata of one entry, as `stat`, `lstat` or `fstat` returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStatus {
    pub(crate) file_type: FileType,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Number of hard links.
    pub(crate) links: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// The permission bits with set-user-id, set-group-id and sticky bit.
    pub(crate) mode: u32,
    /// Length in bytes.
    pub(crate) size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub(crate) mtime_ns: i128,
    /// Last change of content or metadata, in nanoseconds since 1970.
    pub(crate) ctime_ns: i128,
}

impl FileStatus {
    #[allow(
        clippy::unnecessary_cast,
        reason = "these numbers have other types on other systems"
    )]
    pub(crate) fn from_raw(stat: &RawStat) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            file_type: FileType::from_raw_mode(stat.st_mode as RawMode),
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            links: stat.st_nlink as u64,
            uid: stat.st_uid,
            gid: stat.st_gid,
            mode: stat.st_mode as u32 & 0o7777,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Returns the metadata of an open file.
    pub(crate) fn of(file: impl AsFd) -> rustix::io::Result<Self> {
        rustix::fs::fstat(file).map(|stat| Self::from_raw(&stat))
    }

    /// Returns the kind; a link itself counts as broken.
    pub(crate) fn kind(&self) -> FileKind {
        kind_of(self.file_type)
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            device: self.device,
            inode: self.inode,
            mtime_ns: self.mtime_ns,
            size: self.size,
        }
    }

    /// Returns whether both describe the same file, folder or link.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Returns the kind of a file type; a link itself counts as broken.
pub(crate) fn kind_of(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::BrokenLink,
        _ => FileKind::Other,
    }
}
