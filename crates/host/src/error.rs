//! Errors of this crate, as sentences for the user.
//!
//! Invariant: every message says what was attempted, on which path, why it failed and, where
//! possible, what to do about it.

use std::fmt;
use std::io;

use base::AbsPath;
use rustix::io::Errno;

use crate::stat::{FileKind, Stat};

/// A failed operation with its path and cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The path that the operation was about.
    pub path: AbsPath,
    /// The attempted operation as a verb: "save", "read".
    pub doing: &'static str,
    /// The cause of the failure.
    pub reason: ErrorReason,
}

/// The cause of a failure, named for what the caller does about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorReason {
    /// Nothing exists at the path.
    NotFound,
    /// The name is already in use.
    AlreadyExists,
    /// The file belongs to another user, or its permissions forbid the operation.
    PermissionDenied,
    /// The file is read-only: it has no write bit.
    ReadOnly,
    /// The whole volume is mounted read-only.
    ReadOnlyVolume,
    /// The disk is full.
    NoSpace,
    /// The user's disk quota is used up.
    QuotaExceeded,
    /// A regular file is required.
    NotAFile(FileKind),
    /// A folder is required.
    NotAFolder,
    /// The symbolic links form a cycle.
    LinkLoop,
    /// The file exceeds the caller's limit.
    TooLarge {
        /// Length in bytes, as far as known.
        size: u64,
        /// The caller's limit in bytes.
        limit: u64,
    },
    /// The file is not the one that the caller last saw; nothing was written.
    ChangedOnDisk {
        /// The file's current state; `None` if it is gone.
        now: Option<Stat>,
    },
    /// The name or path exceeds the file system's limit.
    NameTooLong,
    /// Too many open files or watches, or too little memory; retrying later may work.
    Exhausted,
    /// The file is busy or locked, or the call was interrupted; retrying may work.
    Busy,
    /// The disk or its driver failed.
    Device,
    /// The caller cancelled the operation.
    Cancelled,
    /// Any other cause, in the system's words.
    Other(String),
}

impl Error {
    /// Creates an error about `path` that occurred while `doing` something.
    pub fn new(path: &AbsPath, doing: &'static str, reason: ErrorReason) -> Self {
        Self {
            path: path.clone(),
            doing,
            reason,
        }
    }

    /// Returns whether nothing existed at the path.
    pub fn is_not_found(&self) -> bool {
        self.reason == ErrorReason::NotFound
    }

    pub(crate) fn from_io(path: &AbsPath, doing: &'static str, error: &io::Error) -> Self {
        let reason = match error.raw_os_error() {
            Some(code) => ErrorReason::from_errno(Errno::from_raw_os_error(code)),
            None => match error.kind() {
                io::ErrorKind::NotFound => ErrorReason::NotFound,
                io::ErrorKind::AlreadyExists => ErrorReason::AlreadyExists,
                io::ErrorKind::PermissionDenied => ErrorReason::PermissionDenied,
                _ => ErrorReason::Other(error.to_string()),
            },
        };
        Self::new(path, doing, reason)
    }

    pub(crate) fn from_errno(path: &AbsPath, doing: &'static str, errno: Errno) -> Self {
        Self::new(path, doing, ErrorReason::from_errno(errno))
    }
}

impl ErrorReason {
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

impl fmt::Display for ErrorReason {
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
                "the file was removed by another program; save again to recreate it"
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
