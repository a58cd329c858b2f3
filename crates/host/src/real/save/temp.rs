//! Temporary files beside the files that they will replace.
//!
//! Their names begin with `.burin-`. Each is locked while its save is in progress, so that a later
//! save or sweep can recognize a leftover by its free lock. The creator of a temporary file checks,
//! once it has the lock, that the name still refers to it; a concurrent sweep does no harm.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use base::AbsPath;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::remove_temp;
use crate::content_hash::ContentHash;
use crate::error::Error;
use crate::real::parent_of;

/// Prefix of the names; eight letters and digits follow.
const PREFIX: &str = ".burin-";
const SUFFIX_LENGTH: usize = 8;
const TRIES: u64 = 16;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A temporary file, removed on drop unless it was kept.
pub(super) struct Temp {
    path: AbsPath,
    file: File,
    is_kept: bool,
}

impl Temp {
    /// Creates an empty file in the folder of `target`, with `mode` restricted by the umask.
    pub(super) fn create(target: &AbsPath, mode: u32) -> io::Result<Self> {
        let folder = parent_of(target);
        let name = target.as_path().as_os_str().as_bytes();
        for round in 0..TRIES {
            // The first name depends on the target alone, so that a leftover of a crash is found
            // again.
            let path = folder.join(temp_name(name, round));
            match Self::create_at(path.clone(), mode) {
                Ok(Some(temp)) => return Ok(temp),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if remove_if_stale(&path)
                        && let Some(temp) = Self::create_at(path, mode).unwrap_or(None)
                    {
                        return Ok(temp);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(Errno::BUSY))
    }

    /// Creates and locks a temporary file. `Ok(None)` if a concurrent sweep took it; fails with
    /// `AlreadyExists` if the name is taken.
    fn create_at(path: AbsPath, mode: u32) -> io::Result<Option<Self>> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)?;
        let temp = Self {
            path,
            file,
            is_kept: false,
        };
        // Other errors mean a volume without locks; there no sweep happens either.
        if flock(&temp.file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::AGAIN) {
            // A concurrent sweep took it for a leftover.
            return Ok(None);
        }
        let own = temp.file.metadata()?;
        let is_there = fs::symlink_metadata(&temp.path).is_ok_and(|named| is_same(&named, &own));
        Ok(is_there.then_some(temp))
    }

    pub(super) fn path(&self) -> &AbsPath {
        &self.path
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    pub(super) fn as_file(&self) -> &File {
        &self.file
    }

    /// Marks the file as renamed to its final name.
    pub(super) fn persist(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.is_kept {
            remove_temp(&self.path);
        }
    }
}

/// Removes the files that crashed saves left in `folder`.
pub(crate) fn sweep(folder: &AbsPath) -> Result<(), Error> {
    let failed = |error: &io::Error| Error::from_io(folder, "list", error);
    for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
        let name = entry.map_err(|error| failed(&error))?.file_name();
        if is_temp_name(&name) {
            remove_if_stale(&folder.join(&name));
        }
    }
    Ok(())
}

/// Returns whether a file name is that of a temporary file of a save, in progress or crashed.
pub fn is_temp_name(name: &OsStr) -> bool {
    let suffix = name.as_bytes().strip_prefix(PREFIX.as_bytes());
    suffix.is_some_and(|suffix| {
        suffix.len() == SUFFIX_LENGTH && suffix.iter().all(u8::is_ascii_alphanumeric)
    })
}

fn temp_name(target: &[u8], round: u64) -> String {
    let mut seed = target.to_vec();
    if round > 0 {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        seed.extend_from_slice(&process::id().to_le_bytes());
        seed.extend_from_slice(&count.to_le_bytes());
    }
    let mut left = ContentHash::of(&seed).0;
    let digits: String = (0..SUFFIX_LENGTH)
        .map(|_| {
            let digit = (left % 36) as u32;
            left /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        })
        .collect();
    format!("{PREFIX}{digits}")
}

/// Removes one of Burin's temporary files if no save in progress holds it. Returns whether it was
/// stale.
fn remove_if_stale(path: &AbsPath) -> bool {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path);
    let Ok(file) = opened else { return false };
    let Ok(own) = file.metadata() else {
        return false;
    };
    let is_ours = own.is_file() && own.uid() == rustix::process::geteuid().as_raw();
    if !is_ours || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return false;
    }
    let is_there = fs::symlink_metadata(path).is_ok_and(|named| is_same(&named, &own));
    if is_there {
        remove_temp(path);
    }
    is_there
}

/// Returns whether two files are one, by device and inode.
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}
