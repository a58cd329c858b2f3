//! What goes wrong at the border, as sentences for the reader.
//!
//! Invariant: every message says what was tried, on which path, why it failed, and, where there is
//! something to be done, what.

use std::fmt;
use std::io;

use base::AbsPath;
use rustix::io::Errno;

use crate::stat::{FileKind, Stat};

/// Why an effect did not happen, with the path and what was being done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where.
    pub path: AbsPath,
    /// What was tried, as a verb: "save", "read".
    pub doing: &'static str,
    /// What stood in the way.
    pub reason: Reason,
}

/// What stood in the way, named for what the caller does about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing there.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// Someone else's, or protected by its permissions.
    PermissionDenied,
    /// The file is marked read-only: it has no write bit.
    ReadOnly,
    /// The whole volume is mounted read-only.
    ReadOnlyVolume,
    /// The disk is full.
    NoSpace,
    /// The user's share of the disk is used up.
    QuotaExceeded,
    /// Not a regular file where one is needed.
    NotAFile(FileKind),
    /// Not a folder where one is needed.
    NotAFolder,
    /// Links that lead in a circle.
    LinkLoop,
    /// More bytes than the caller would take.
    TooLarge {
        /// Its length in bytes, as far as known.
        size: u64,
        /// The most the caller would take, in bytes.
        limit: u64,
    },
    /// The file is not what the caller last saw; nothing was written.
    ChangedOnDisk {
        /// What is there now; `None` when it is gone.
        now: Option<Stat>,
    },
    /// A name or path longer than the file system takes.
    NameTooLong,
    /// Too many open files, watches or the like; trying later may work.
    Exhausted,
    /// Busy, locked or interrupted; trying again may work.
    Busy,
    /// The disk or its driver failed.
    Device,
    /// The caller asked to stop.
    Cancelled,
    /// Anything else, in the words of the system.
    Other(String),
}

impl Error {
    /// An error about `path` met while `doing` something.
    pub fn new(path: &AbsPath, doing: &'static str, reason: Reason) -> Self {
        Self {
            path: path.clone(),
            doing,
            reason,
        }
    }

    /// Whether the same call may succeed later without anybody changing permissions or names.
    pub fn is_retryable(&self) -> bool {
        match self.reason {
            Reason::NoSpace
            | Reason::QuotaExceeded
            | Reason::Exhausted
            | Reason::Busy
            | Reason::Device => true,
            Reason::NotFound
            | Reason::AlreadyExists
            | Reason::PermissionDenied
            | Reason::ReadOnly
            | Reason::ReadOnlyVolume
            | Reason::NotAFile(_)
            | Reason::NotAFolder
            | Reason::LinkLoop
            | Reason::TooLarge { .. }
            | Reason::ChangedOnDisk { .. }
            | Reason::NameTooLong
            | Reason::Cancelled
            | Reason::Other(_) => false,
        }
    }

    /// Whether there was simply nothing at the path.
    pub fn is_not_found(&self) -> bool {
        self.reason == Reason::NotFound
    }

    pub(crate) fn from_io(path: &AbsPath, doing: &'static str, error: &io::Error) -> Self {
        let reason = match error.raw_os_error() {
            Some(code) => Reason::from_errno(Errno::from_raw_os_error(code)),
            None => match error.kind() {
                io::ErrorKind::NotFound => Reason::NotFound,
                io::ErrorKind::AlreadyExists => Reason::AlreadyExists,
                io::ErrorKind::PermissionDenied => Reason::PermissionDenied,
                _ => Reason::Other(error.to_string()),
            },
        };
        Self::new(path, doing, reason)
    }

    pub(crate) fn from_errno(path: &AbsPath, doing: &'static str, errno: Errno) -> Self {
        Self::new(path, doing, Reason::from_errno(errno))
    }
}

impl Reason {
    pub(crate) fn from_errno(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::EXIST | Errno::NOTEMPTY => Self::AlreadyExists,
            Errno::ACCESS | Errno::PERM => Self::PermissionDenied,
            Errno::ROFS => Self::ReadOnlyVolume,
            Errno::NOSPC => Self::NoSpace,
            Errno::DQUOT => Self::QuotaExceeded,
            Errno::FBIG => Self::Other("the file would be larger than the volume allows".into()),
            Errno::ISDIR => Self::NotAFile(FileKind::Folder),
            Errno::NOTDIR => Self::NotAFolder,
            Errno::LOOP => Self::LinkLoop,
            Errno::NAMETOOLONG => Self::NameTooLong,
            Errno::MFILE | Errno::NFILE | Errno::NOMEM => Self::Exhausted,
            Errno::AGAIN | Errno::BUSY | Errno::INTR | Errno::TXTBSY => Self::Busy,
            Errno::IO | Errno::NXIO => Self::Device,
            other => Self::Other(io::Error::from(other).to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.doing, self.path, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = match self {
            Self::NotFound => "there is no such file or folder",
            Self::AlreadyExists => "something of that name is already there; choose another name",
            Self::PermissionDenied => {
                "permission denied; change the permissions of the file or its folder, or save \
                 elsewhere"
            }
            Self::ReadOnly => {
                "the file is marked read-only; make it writable first, or save under another name"
            }
            Self::ReadOnlyVolume => "the volume is mounted read-only; save elsewhere",
            Self::NoSpace => "the disk is full; free some space and try again",
            Self::QuotaExceeded => "your disk quota is used up; free some space and try again",
            Self::NotAFile(FileKind::Folder) => "it is a folder, not a file",
            Self::NotAFile(FileKind::BrokenLink) => "the link leads nowhere",
            Self::NotAFile(FileKind::File | FileKind::Other) => {
                "it is a pipe, socket or device, not a regular file"
            }
            Self::NotAFolder => "a part of the path is not a folder",
            Self::LinkLoop => "its links lead in a circle; repair the link",
            Self::TooLarge { size, limit } => {
                return write!(f, "it has {size} bytes, and at most {limit} can be taken");
            }
            Self::ChangedOnDisk { now: Some(_) } => {
                "the file was changed by another program; compare before you overwrite it"
            }
            Self::ChangedOnDisk { now: None } => {
                "the file was removed by another program; save again to create it anew"
            }
            Self::NameTooLong => "the name is too long for this volume; choose a shorter one",
            Self::Exhausted => {
                "the system is out of memory, open files or watches; close something and try again"
            }
            Self::Busy => "it is in use; try again",
            Self::Device => "the disk reported an error; check the disk, and save a copy elsewhere",
            Self::Cancelled => "it was cancelled",
            Self::Other(message) => message,
        };
        f.write_str(sentence)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
