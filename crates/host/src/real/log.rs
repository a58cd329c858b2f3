//! Append-only files and lock files.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base::{AbsPath, LogErr};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::durability::{self, JournalSync};
use crate::error::Error;
use crate::files::{AppendLog, FileLock};
use crate::retry::retry;

struct RealLog {
    path: AbsPath,
    file: File,
    /// Bytes of completely written records.
    length: u64,
    /// Whether the file's name may not be durable yet.
    is_new: bool,
    journal: JournalSync,
}

/// Opens a file for appending, or creates it for this user alone. Fails if a link is at the path.
pub(super) fn open(path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
    let file = open_private(path, OpenOptions::new().append(true))?;
    let length = file
        .metadata()
        .map_err(|error| Error::from_io(path, "open", &error))?
        .len();
    Ok(Box::new(RealLog {
        path: path.clone(),
        file,
        length,
        is_new: length == 0,
        journal: JournalSync::default(),
    }))
}

impl AppendLog for RealLog {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        match written {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A partial record would separate the intact ones from those that follow.
                self.file.set_len(self.length).log_err();
                Err(Error::from_io(&self.path, "write", &error))
            }
        }
    }

    fn sync(&mut self) -> Result<(), Error> {
        let failed = |error: &io::Error| Error::from_io(&self.path, "write", error);
        self.journal
            .group(&self.file)
            .map_err(|error| failed(&error))?;
        if self.is_new {
            let folder = self.path.as_path().parent().unwrap_or(Path::new("/"));
            durability::names(folder).map_err(|error| failed(&error))?;
            self.is_new = false;
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.length
    }
}

impl Drop for RealLog {
    fn drop(&mut self) {
        self.journal.finish(&self.file);
    }
}

/// A lock that is released on drop, even while a process being forked still has a copy of the
/// descriptor.
struct LockGuard(File);

impl Drop for LockGuard {
    fn drop(&mut self) {
        // If unlocking fails, the lock is released when its last descriptor closes.
        retry(|| flock(&self.0, FlockOperation::Unlock)).ok();
    }
}

/// Takes the exclusive lock of a file, which is created for this user alone if missing. `Ok(None)`
/// if another holder has the lock; does not wait.
pub(super) fn lock(path: &AbsPath) -> Result<Option<FileLock>, Error> {
    let file = open_private(path, OpenOptions::new().read(true).write(true))?;
    match retry(|| flock(&file, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) => Ok(Some(FileLock {
            _held: Box::new(LockGuard(file)),
        })),
        Err(Errno::AGAIN) => Ok(None),
        Err(errno) => Err(Error::from_errno(path, "lock", errno)),
    }
}

/// Opens a file with `options`, or creates it for this user alone. Fails if a link is at the path.
fn open_private(path: &AbsPath, options: &mut OpenOptions) -> Result<File, Error> {
    options
        .create(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(|error| Error::from_io(path, "open", &error))
}
