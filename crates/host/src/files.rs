//! The one door to files.
//!
//! Paths are absolute; links are followed unless said otherwise. Calls block: they belong on a
//! background thread. Every implementation can be shared between threads.

use std::ops::ControlFlow;
use std::path::PathBuf;

use base::AbsPath;

use crate::content::ContentHash;
use crate::error::Error;
use crate::overwrite::Interrupted;
use crate::stat::{Listing, Stamp, Stat};
use crate::watch::{WatchRequest, Watcher};

/// Files and folders, real or fake.
pub trait Files: Send + Sync {
    /// The whole content of a regular file of at most `limit` bytes, with the stat that belongs to
    /// exactly these bytes. Pipes, devices and folders are refused without being opened.
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error>;

    /// Hands the content over in chunks, without a limit, until `take` breaks.
    fn read_chunks(
        &self,
        path: &AbsPath,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Error>;

    /// What the path leads to.
    fn stat(&self, path: &AbsPath) -> Result<Stat, Error>;

    /// What a folder holds. An entry that cannot be looked at becomes a problem in the listing.
    fn list(&self, path: &AbsPath) -> Result<Listing, Error>;

    /// The path without links; fails where something is missing or links lead in a circle.
    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error>;

    /// Replaces the content of a file, or creates it: afterwards, and after a crash at any moment,
    /// it holds the exact old or the exact new content.
    fn save(&self, request: &SaveRequest<'_>) -> Result<Saved, Error>;

    /// Creates an empty file; the name must be free.
    fn create_file(&self, path: &AbsPath) -> Result<(), Error>;

    /// Creates a folder and the ones above it; one that is already there is fine.
    fn create_folder(&self, path: &AbsPath) -> Result<(), Error>;

    /// Gives a file or folder another name on the same volume. Never replaces anything.
    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error>;

    /// Copies a file, or a folder with everything in it; links are copied as links. Never replaces
    /// anything; what was copied before a failure stays.
    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error>;

    /// Moves something to the desktop's trash.
    fn trash(&self, path: &AbsPath) -> Result<(), Error>;

    /// Removes a file, a link itself, or a folder with everything in it, for good.
    fn remove(&self, path: &AbsPath) -> Result<(), Error>;

    /// Writes a private file of our own (mode 0600) by way of a temporary one, which replaces a link.
    /// The folder must exist. Durable when it returns.
    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error>;

    /// Writes a file of our own that a person may have linked to another place: the link stays, and so does the mode
    /// of the file it leads to. A file that is not there yet becomes private. A file that must not be written is
    /// refused. Durable when it returns.
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
            expected: Expected::Anything,
            recovery_folder,
        })?;
        saved.unconfirmed.map_or(Ok(()), Err)
    }

    /// Opens a private file for appending, created (mode 0600) when missing.
    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error>;

    /// Takes a lock file for this process, created when missing; `None` when another process has
    /// it. It is given back when dropped and when the process dies.
    fn lock(&self, path: &AbsPath) -> Result<Option<Lock>, Error>;

    /// Starts to watch. Returns at once; folders are added in the background.
    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error>;

    /// The saves in place that a crash cut short, read from their records in `recovery_folder`.
    /// Those found whole (nothing written yet, or all of it) are cleared away here; those torn with
    /// certainty by our own write are finished. What is left needs the user's decision.
    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<Interrupted>, Vec<Error>);

    /// Removes what saves that died left in `folder`. Never touches a save still under way.
    fn sweep(&self, folder: &AbsPath) -> Result<(), Error>;

    /// The same files, but below `root` no link is followed, not even one that is planted between two calls:
    /// paths there must be without links. `None` where that cannot be had; then the caller's own look before has
    /// to do.
    fn beneath(&self, _root: &AbsPath) -> Option<Box<dyn Files>> {
        None
    }

    /// Where a link says it leads; `None` for what is no link, or where that cannot be told.
    fn read_link(&self, _path: &AbsPath) -> Option<PathBuf> {
        None
    }

    /// How many bytes still fit on the volume that holds a path; `None` where nobody can tell.
    fn free_bytes(&self, _path: &AbsPath) -> Option<u64> {
        None
    }

    /// The whole content of a regular file of at most `limit` bytes.
    fn read(&self, path: &AbsPath, limit: u64) -> Result<Vec<u8>, Error> {
        self.read_with_stat(path, limit).map(|(content, _)| content)
    }

    /// Whether there is anything at the path; a link that leads nowhere counts.
    fn exists(&self, path: &AbsPath) -> bool {
        !matches!(self.stat(path), Err(error) if error.is_not_found())
    }
}

/// A file that only grows: a journal.
pub trait AppendLog: Send {
    /// Adds `bytes` at the end: all of them, or none when it fails.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// Returns once everything appended is on the disk.
    fn sync(&mut self) -> Result<(), Error>;
    /// Its length in bytes.
    fn len(&self) -> u64;
    /// Whether nothing was written yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A lock file held by this process until it is dropped.
pub struct Lock {
    /// What holds it: an open file, or a fake's entry.
    pub(crate) _held: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}

/// What the caller last knew to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// Identity and version.
    pub stamp: Stamp,
    /// Fingerprint of the bytes.
    pub hash: ContentHash,
}

/// What a save may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exactly this; a file that was only touched, with the same bytes, will do.
    Unchanged(OnDisk),
    /// Nothing: the file is to be new.
    Absent,
    /// Whatever is there: the user said so.
    Anything,
}

/// A save to be made.
#[derive(Clone, Copy, Debug)]
pub struct SaveRequest<'a> {
    /// Where; a link is followed and stays a link.
    pub path: &'a AbsPath,
    /// The whole new content.
    pub content: &'a [u8],
    /// What may be there now.
    pub expected: Expected,
    /// A private folder for the record that precedes overwriting in place; created when missing.
    pub recovery_folder: &'a AbsPath,
}

/// How the new content got there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveWay {
    /// The file was not there before.
    Created,
    /// A new file took the old one's name.
    Replaced,
    /// The old file was overwritten, after a record of both contents was made durable.
    Overwritten,
}

/// A save that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// What is on the disk now.
    pub on_disk: OnDisk,
    /// How it got there.
    pub way: SaveWay,
    /// Set when the content is in place, but the disk would not confirm that it lasts: tell the
    /// user, and keep the text marked as not saved.
    pub unconfirmed: Option<Error>,
}

#[cfg(test)]
mod tests;
