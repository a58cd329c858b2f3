//! The only access to files.
//!
//! Paths are absolute; links are followed unless stated otherwise. Calls block: they belong on a
//! background thread. Every implementation can be shared between threads.

use std::ops::ControlFlow;
use std::path::PathBuf;

use base::{AbsPath, NameRules};

use crate::content_hash::ContentHash;
use crate::error::Error;
use crate::listing::Listing;
use crate::spelling;
use crate::stat::{Stamp, Stat};
use crate::watch::{WatchRequest, Watcher};

/// Files and folders, real or fake.
pub trait Files: Send + Sync {
    /// Reads the whole content of a regular file of at most `limit` bytes, with the stat that
    /// belongs to exactly these bytes. Refuses pipes, devices and folders without opening them.
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error>;

    /// Appends the content to `buffer` in chunks, without a limit, and calls `take` after each until
    /// `take` breaks. `take` may remove what it does not need from the buffer. Only for a path that a
    /// listing or a stat showed to be a regular file: what replaced it since is opened, then refused.
    fn read_chunks(
        &self,
        path: &AbsPath,
        buffer: &mut Vec<u8>,
        take: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), Error>;

    /// Reads up to `length` bytes of a regular file from `offset` on; fewer at its end. Refuses pipes,
    /// devices and folders without opening them. The file may change between two calls.
    fn read_range(&self, path: &AbsPath, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        let content = self.read(path, u64::MAX)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = content.get(start..).unwrap_or_default();
        Ok(rest[..length.min(rest.len())].to_vec())
    }

    /// Returns the metadata of the path's target.
    fn stat(&self, path: &AbsPath) -> Result<Stat, Error>;

    /// Lists a folder. An entry that cannot be examined becomes a problem in the listing.
    fn list(&self, path: &AbsPath) -> Result<Listing, Error>;

    /// Returns the path without links, each name as its folder stores it, so that every spelling of
    /// a path has one result; fails if a part is missing or the links form a cycle.
    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error>;

    /// Replaces the content of a file, or creates it. Afterwards, and after a crash at any moment,
    /// the file holds exactly the old or exactly the new content.
    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error>;

    /// Creates an empty file; the name must be free.
    fn create_file(&self, path: &AbsPath) -> Result<(), Error>;

    /// Creates a folder and its parents; an existing folder is not an error.
    fn create_folder(&self, path: &AbsPath) -> Result<(), Error>;

    /// Renames a file or folder within its volume. Never replaces anything.
    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error>;

    /// Copies a file, or a folder with its contents; links are copied as links. Never replaces
    /// anything; files copied before a failure stay.
    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error>;

    /// Moves a file or folder to the desktop's trash.
    fn trash(&self, path: &AbsPath) -> Result<(), Error>;

    /// Permanently removes a file, a link itself, or a folder with its contents.
    fn remove(&self, path: &AbsPath) -> Result<(), Error>;

    /// Writes a private file of Burin's own (mode 0600) through a temporary file, which replaces a
    /// link. The folder must exist. Durable on return.
    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error>;

    /// Writes a file of Burin's own that the user may have replaced by a link: the link stays, and
    /// so does the mode of its target. A missing file is created private. A read-only file is
    /// refused. Durable on return.
    fn write_through(
        &self,
        path: &AbsPath,
        content: &[u8],
        recovery_folder: &AbsPath,
    ) -> Result<(), Error> {
        if !self.exists(path) {
            return self.write_private(path, content);
        }
        let saved = self.save(&SaveRequest {
            path,
            content,
            expected: ExpectedContent::Anything,
            recovery_folder,
        })?;
        saved.unconfirmed.map_or(Ok(()), Err)
    }

    /// Opens a private file for appending; creates it (mode 0600) if missing.
    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error>;

    /// Takes a lock file for this process, creating it if missing; returns `None` if another
    /// process holds it. The lock is released on drop and when the process dies.
    fn lock(&self, path: &AbsPath) -> Result<Option<FileLock>, Error>;

    /// Starts watching and returns at once; folders are added in the background.
    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error>;

    /// Returns the saves in place that a crash cut short, read from their records in
    /// `recovery_folder`. A save found whole (nothing written yet, or all of it) is cleared; a file
    /// certainly torn by our own write is finished. The rest needs the user's decision.
    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>);

    /// Removes temporary files that crashed saves left in `folder`. Never touches a save in
    /// progress.
    fn sweep(&self, folder: &AbsPath) -> Result<(), Error>;

    /// Returns the same files, except that reading, listing and changing below `root` follow no link,
    /// even if it is created during the call; paths below `root` must be free of links. `stat` and
    /// `canonicalize` follow links as ever. Real files always return some; `None` means that the
    /// caller must rely on its own earlier check.
    fn open_beneath(&self, _root: &AbsPath) -> Option<Box<dyn Files>> {
        None
    }

    /// Returns the target of a link; `None` if the path is not a link or cannot be read.
    fn read_link(&self, _path: &AbsPath) -> Option<PathBuf> {
        None
    }

    /// Returns the path with each name as its folder stores it, for volumes that ignore case or
    /// normal form. Links are not followed; names that do not exist stay as they are.
    fn stored_path(&self, path: &AbsPath) -> AbsPath {
        spelling::stored_path(self, path)
    }

    /// Returns how the volume of a folder compares names, judged by the entries in and above it.
    /// `NameRules::EXACT` if no entry has another spelling.
    fn name_rules(&self, folder: &AbsPath) -> NameRules {
        spelling::name_rules(self, folder)
    }

    /// Returns the free bytes on the path's volume; `None` if unknown.
    fn free_bytes(&self, _path: &AbsPath) -> Option<u64> {
        None
    }

    /// Reads the whole content of a regular file of at most `limit` bytes.
    fn read(&self, path: &AbsPath, limit: u64) -> Result<Vec<u8>, Error> {
        self.read_with_stat(path, limit).map(|(content, _)| content)
    }

    /// Returns whether anything exists at the path, broken links included.
    fn exists(&self, path: &AbsPath) -> bool {
        !matches!(self.stat(path), Err(error) if error.is_not_found())
    }
}

/// An append-only file, such as a journal.
pub trait AppendLog: Send {
    /// Appends `bytes` completely; on failure appends nothing.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// Returns once all appended bytes survive a crash of the system. On macOS, where the drive's
    /// cache is flushed separately, a power failure can lose the groups since the last flush, but
    /// never an earlier group without the later ones. The cache is flushed at most once a second, by
    /// the first group after that time, and when the log is dropped.
    fn sync(&mut self) -> Result<(), Error>;
    /// Returns the length in bytes.
    fn len(&self) -> u64;
    /// Returns whether nothing was written yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A lock file held by this process until it is dropped.
pub struct FileLock {
    /// The resource that holds the lock: an open file, or a fake's entry.
    pub(crate) _held: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for FileLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileLock")
    }
}

/// The version of a file that the caller last saw on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Identity and version of the file.
    pub stamp: Stamp,
    /// Hash of the content.
    pub hash: ContentHash,
}

/// The state of the file that a save may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedContent {
    /// Exactly this version; a file that was only touched, with the same bytes, is accepted.
    Unchanged(OnDisk),
    /// No file: the save creates it.
    Absent,
    /// Any content: the user confirmed.
    Anything,
}

/// A request to save a file.
#[derive(Clone, Copy, Debug)]
pub struct SaveRequest<'a> {
    /// The path to write; a link is followed and stays a link.
    pub path: &'a AbsPath,
    /// The complete new content.
    pub content: &'a [u8],
    /// The state that the file may be in now.
    pub expected: ExpectedContent,
    /// A private folder for the record that precedes overwriting in place; created if missing.
    pub recovery_folder: &'a AbsPath,
}

/// The method by which the new content was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveMethod {
    /// The file did not exist before.
    Created,
    /// A new file took over the old one's name.
    Replaced,
    /// The old file was overwritten, after a record of both contents was made durable.
    Overwritten,
}

/// The result of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveResult {
    /// The version that is on disk now.
    pub on_disk: OnDisk,
    /// The method that was used.
    pub method: SaveMethod,
    /// Set if the content is in place but the disk did not confirm that it is durable: tell the
    /// user, and keep the buffer marked as unsaved.
    pub unconfirmed: Option<Error>,
}

/// A save in place that a crash cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedSave {
    /// The file that was being saved.
    pub target: AbsPath,
    /// The content to be saved.
    pub new: Vec<u8>,
    /// The previous content; `None` if it could not be read.
    pub old: Option<Vec<u8>>,
    /// The state of the file.
    pub state: InterruptedSaveState,
    /// The record on disk. Removing it discards the save; do so once the user has decided.
    pub record: AbsPath,
}

/// The state of an interrupted save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterruptedSaveState {
    /// The file was torn and now holds the new content; the record is gone.
    Finished,
    /// The file is torn, and finishing it failed.
    Torn(Error),
    /// The file holds other content: it was changed since.
    ChangedSince,
    /// The file no longer exists.
    Gone,
}

#[cfg(test)]
mod tests;
