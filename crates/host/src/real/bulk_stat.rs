//! Repeated bulk metadata queries for thousands of files below one folder.
//!
//! The folder stays open, so that no path is resolved from the root, and only the fields that
//! decide whether a file changed are returned. A link in the last component is not followed: it is
//! neither a file nor a folder here.
//! Start at `BulkStat`; `RandomAccessFile` reads from one file at arbitrary offsets.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::AbsPath;
use rustix::fs::{AtFlags, Mode, OFlags, Stat as RawStat, fstat, openat, statat};

use crate::error::{Error, ErrorReason};
use crate::file_status::FileStatus;
use crate::path_at::PathAt;
use crate::stat::FileKind;

/// A folder kept open for repeated queries.
#[derive(Debug)]
pub struct BulkStat {
    root: OwnedFd,
    path: AbsPath,
}

/// Distinguishes versions of a file or folder. The change time (ctime) cannot be set back by any
/// program, so a file with an old modification time is still recognized as changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// The kind; `BrokenLink` for any link.
    pub kind: FileKind,
    /// Number of the containing device.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
    /// Length of the content in bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the content, name or permissions, in nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// A wall-clock time in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(i64);

impl WallTime {
    /// Returns the time since `earlier`; zero if the clock was set back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl FileVersion {
    /// Returns whether every change made after `moment` is certain to differ from this version,
    /// which was taken after it. File systems store the time of the last clock tick, some only
    /// whole seconds; a file that changed just before may change again and look the same.
    pub fn is_settled_before(&self, moment: WallTime) -> bool {
        /// Longer than any clock tick.
        const TICK: i64 = 50_000_000;
        /// For file systems with a resolution of one or two seconds.
        const COARSE: i64 = 2_500_000_000;
        let last = self.ctime_ns.max(self.mtime_ns);
        let margin = if self.ctime_ns % 1_000_000_000 == 0 {
            COARSE
        } else {
            TICK
        };
        last.saturating_add(margin) < moment.0
    }
}

impl BulkStat {
    /// Opens the folder for repeated queries.
    pub fn open(root: &AbsPath) -> Result<Self, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(root.as_path(), flags, Mode::empty())
            .map_err(|errno| Error::from_errno(root, "open", errno))?;
        Ok(Self {
            root: opened,
            path: root.clone(),
        })
    }

    /// Returns the current time, for `FileVersion::is_settled_before`.
    pub fn now(&self) -> WallTime {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        WallTime(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// Returns whether the path still leads to the folder that was opened.
    pub fn is_in_place(&self) -> bool {
        let Ok(opened) = fstat(&self.root) else {
            return false;
        };
        rustix::fs::stat(self.path.as_path())
            .is_ok_and(|now| (now.st_dev, now.st_ino) == (opened.st_dev, opened.st_ino))
    }

    /// Returns the version of a path below the folder, or of the folder itself for an empty path;
    /// `None` if it cannot be read.
    pub fn version(&self, relative: &Path) -> Option<FileVersion> {
        let found = if relative.as_os_str().is_empty() {
            fstat(&self.root)
        } else {
            statat(&self.root, relative, AtFlags::SYMLINK_NOFOLLOW)
        };
        found.ok().as_ref().map(mark_of)
    }

    /// Like `version`, but only for a file without other hard links, which no program can change under
    /// another name.
    pub fn version_if_single_link(&self, relative: &Path) -> Option<FileVersion> {
        let found = statat(&self.root, relative, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (found.st_nlink == 1).then(|| mark_of(&found))
    }

    /// Passes a regular file's content to `take` in arbitrary pieces until `take` returns false.
    /// Returns the version of exactly these bytes; fails with `ErrorReason::Busy` if the file changed
    /// meanwhile.
    pub fn read(
        &self,
        relative: &Path,
        buffer: &mut [u8],
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<FileVersion, Error> {
        let failed = |errno| Error::from_errno(&self.path.join(relative), "read", errno);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file =
            openat(&self.root, relative, flags | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let before = mark_of(&fstat(&file).map_err(failed)?);
        if before.kind != FileKind::File {
            let reason = ErrorReason::NotAFile(before.kind);
            return Err(Error::new(&self.path.join(relative), "read", reason));
        }
        loop {
            match rustix::io::read(&file, &mut *buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if !take(&buffer[..count]) {
                        break;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        let after = mark_of(&fstat(&file).map_err(failed)?);
        if before == after {
            return Ok(after);
        }
        Err(Error::new(
            &self.path.join(relative),
            "read",
            ErrorReason::Busy,
        ))
    }
}

fn mark_of(stat: &RawStat) -> FileVersion {
    let status = FileStatus::from_raw(stat);
    let nanos = |nanos: i128| i64::try_from(nanos).unwrap_or(i64::MAX);
    FileVersion {
        kind: status.kind(),
        device: status.device,
        inode: status.inode,
        size: status.size,
        mtime_ns: nanos(status.mtime_ns),
        ctime_ns: nanos(status.ctime_ns),
    }
}

/// A file of Burin's own, read at arbitrary offsets by many threads. It stays readable after its
/// name is removed.
#[derive(Debug)]
pub struct RandomAccessFile {
    file: File,
    length: u64,
    path: AbsPath,
}

impl RandomAccessFile {
    /// Opens a regular file; refuses links.
    pub fn open(path: &AbsPath) -> Result<Self, Error> {
        let failed = |errno| Error::from_errno(path, "open", errno);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
        let file = PathAt::absolute(path)
            .open(flags, Mode::empty())
            .map_err(failed)?;
        let status = FileStatus::of(&file).map_err(failed)?;
        if status.kind() != FileKind::File {
            let reason = ErrorReason::NotAFile(status.kind());
            return Err(Error::new(path, "open", reason));
        }
        Ok(Self {
            file,
            length: status.size,
            path: path.clone(),
        })
    }

    /// Returns the length in bytes when it was opened.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Returns whether it was empty when opened.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Fills the buffer from `offset` on; fails if the file is too short.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|error| Error::from_io(&self.path, "read", &error))
    }
}

#[cfg(test)]
mod tests;
