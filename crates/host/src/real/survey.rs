//! Looking at thousands of files below one folder, again and again.
//!
//! The folder is held open, so that no path is resolved from the top, and nothing is told but what decides whether
//! a file changed. Links are not followed at the last name: a link is neither a file nor a folder here.
//! Start at `Survey`; `Pages` reads from a file of our own at any place.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::AbsPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat as RawStat, fstat, openat, statat};

use crate::error::{Error, Reason};
use crate::stat::FileKind;

/// A folder that is looked over again and again.
#[derive(Debug)]
pub struct Survey {
    root: OwnedFd,
    path: AbsPath,
}

/// What tells one version of a file or folder from another. The moment of the last change of its content *or* of what
/// is known of it cannot be set back by anybody, so that a file with an old time on it is still seen to be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What it is; `BrokenLink` for any link.
    pub kind: FileKind,
    /// The device it lies on.
    pub device: u64,
    /// Its number on that device.
    pub inode: u64,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of the content, the name or the permissions, in nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// A moment by the wall clock, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    /// How long ago another moment was; nothing where the clock was set back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Mark {
    /// Whether a change made after `moment` is sure to have changed this mark, which was taken after it. File systems
    /// put down the time of the last tick, some only whole seconds; what changed just before may change again
    /// and look the same.
    pub fn is_settled_before(&self, moment: Moment) -> bool {
        /// Longer than any tick.
        const TICK: i64 = 50_000_000;
        /// Where times are whole seconds, or pairs of them.
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

impl Survey {
    /// Opens the folder.
    pub fn open(root: &AbsPath) -> Result<Self, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(root.as_path(), flags, Mode::empty())
            .map_err(|errno| Error::from_errno(root, "open", errno))?;
        Ok(Self {
            root: opened,
            path: root.clone(),
        })
    }

    /// Now, for `Mark::is_settled_before`.
    pub fn moment(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        Moment(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// Whether the path still leads to the folder that was opened.
    pub fn is_in_place(&self) -> bool {
        let Ok(opened) = fstat(&self.root) else {
            return false;
        };
        rustix::fs::stat(self.path.as_path())
            .is_ok_and(|now| (now.st_dev, now.st_ino) == (opened.st_dev, opened.st_ino))
    }

    /// What lies at a path below the folder, the folder itself for an empty one; `None` where nothing can be seen.
    pub fn mark(&self, relative: &Path) -> Option<Mark> {
        let found = if relative.as_os_str().is_empty() {
            fstat(&self.root)
        } else {
            statat(&self.root, relative, AtFlags::SYMLINK_NOFOLLOW)
        };
        found.ok().as_ref().map(mark_of)
    }

    /// The same, for what the disk knows by one name alone: nobody can change it under another.
    pub fn only_mark(&self, relative: &Path) -> Option<Mark> {
        let found = statat(&self.root, relative, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (found.st_nlink == 1).then(|| mark_of(&found))
    }

    /// Hands a regular file's content over in pieces, cut at no particular place, until `take` says no. Answers the
    /// mark that belongs to exactly these bytes; `Reason::Busy` where the file changed meanwhile.
    pub fn read(
        &self,
        relative: &Path,
        buffer: &mut [u8],
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Mark, Error> {
        let failed = |errno| Error::from_errno(&self.path.join(relative), "read", errno);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file =
            openat(&self.root, relative, flags | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let before = mark_of(&fstat(&file).map_err(failed)?);
        if before.kind != FileKind::File {
            let reason = Reason::NotAFile(before.kind);
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
        Err(Error::new(&self.path.join(relative), "read", Reason::Busy))
    }
}

fn mark_of(stat: &RawStat) -> Mark {
    let nanos = |seconds: i64, nanos: u64| {
        let nanos = i64::try_from(nanos).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
    };
    Mark {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            FileType::Symlink => FileKind::BrokenLink,
            _ => FileKind::Other,
        },
        device: stat.st_dev,
        inode: stat.st_ino,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: nanos(stat.st_mtime, stat.st_mtime_nsec),
        ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec),
    }
}

/// A file of our own that is read at any place and by many threads. What was opened stays readable when its
/// name goes.
#[derive(Debug)]
pub struct Pages {
    file: File,
    length: u64,
    path: AbsPath,
}

impl Pages {
    /// Opens a regular file; links are refused.
    pub fn open(path: &AbsPath) -> Result<Self, Error> {
        let failed = |error: &std::io::Error| Error::from_io(path, "open", error);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::options()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(path.as_path())
            .map_err(|error| failed(&error))?;
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if !metadata.is_file() {
            let kind = super::kind_of(metadata.file_type());
            return Err(Error::new(path, "open", Reason::NotAFile(kind)));
        }
        Ok(Self {
            file,
            length: metadata.len(),
            path: path.clone(),
        })
    }

    /// Its length in bytes when it was opened.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether it was empty then.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Fills the buffer from `offset` on; fails where the file is shorter than that.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|error| Error::from_io(&self.path, "read", &error))
    }
}

#[cfg(test)]
mod tests;
