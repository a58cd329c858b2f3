//! Durability: the calls that order writes and bring them to the disk.
//!
//! On Linux `fsync` includes the drive's own cache. On macOS it does not: `F_BARRIERFSYNC` orders
//! what was written before it against what follows, and `F_FULLFSYNC` empties the cache of the whole
//! drive. Therefore a rename is preceded by a barrier, and followed by one full sync, which covers
//! content and name. A volume that does not support a call gets the next stronger or, at the end,
//! the portable one.
//! Invariant: the content of a file is ordered before the rename that puts it in place.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use base::LogErr;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::path_at::PathAt;
use crate::retry::retry;
use crate::system_calls;

/// One call that moves written data towards the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncCall {
    /// `fdatasync`: content and length.
    Data,
    /// `fsync`: content and metadata; on macOS as far as the drive, whose cache may reorder it.
    File,
    /// `F_BARRIERFSYNC`: `fsync`, ordered before everything that follows.
    Barrier,
    /// `F_FULLFSYNC`: `fsync`, then the drive empties its cache.
    Full,
}

/// The calls that a system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncFamily {
    /// `fsync` is durable.
    Posix,
    /// `fsync` is not durable; there are barrier and full sync.
    Apple,
}

/// The object of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncTarget {
    File,
    Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncNeed {
    /// The content precedes the rename that follows.
    Order,
    /// Content and metadata are on the disk on return.
    Durable,
    /// The group of journal entries precedes the next one.
    Group,
    /// The names in a folder are on the disk on return.
    Names,
}

type Sync<'a> = &'a mut dyn FnMut(SyncTarget, SyncCall) -> Result<(), Errno>;

/// The longest time between two full syncs of a journal that is being written.
const FULL_INTERVAL: Duration = Duration::from_secs(1);

/// Orders a file's content before the rename that puts it in place.
pub(crate) fn before_rename(file: &File) -> io::Result<()> {
    let mut sync = |_, call| system_calls::sync(file.as_fd(), call);
    perform(
        system_calls::SYNC_FAMILY,
        SyncTarget::File,
        SyncNeed::Order,
        &mut sync,
    )?;
    Ok(())
}

/// Makes a renamed file durable: its content, which `before_rename` ordered, and its name in
/// `folder`.
pub(crate) fn after_rename(file: &File, folder: impl AsFd) -> io::Result<()> {
    let mut sync = |target, call| match target {
        SyncTarget::File => system_calls::sync(file.as_fd(), call),
        SyncTarget::Folder => system_calls::sync(folder.as_fd(), call),
    };
    Ok(confirm(system_calls::SYNC_FAMILY, &mut sync)?)
}

/// Like `after_rename`, with the folder that contains `at`.
pub(crate) fn after_rename_at(file: &File, at: &PathAt) -> io::Result<()> {
    match at.open_parent() {
        Ok(folder) => after_rename(file, folder),
        // A folder that is writable but not readable cannot be synced.
        Err(Errno::ACCESS) if system_calls::SYNC_FAMILY == SyncFamily::Posix => Ok(()),
        Err(Errno::ACCESS) => full(file),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes a file's content and metadata durable.
pub(crate) fn full(file: &File) -> io::Result<()> {
    let mut sync = |_, call| system_calls::sync(file.as_fd(), call);
    perform(
        system_calls::SYNC_FAMILY,
        SyncTarget::File,
        SyncNeed::Durable,
        &mut sync,
    )?;
    Ok(())
}

/// Makes the names in a folder durable.
pub(crate) fn names(folder: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(opened) => names_in(opened),
        // A folder that is writable but not readable cannot be synced.
        Err(Errno::ACCESS) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Makes the names in an open folder durable.
pub(crate) fn names_in(folder: impl AsFd) -> io::Result<()> {
    let mut sync = |_, call| system_calls::sync(folder.as_fd(), call);
    folder_names(system_calls::SYNC_FAMILY, &mut sync)?;
    Ok(())
}

/// The syncs of a journal: each group is ordered before the next; about once a second, and at the
/// end, everything is durable.
#[derive(Debug, Default)]
pub(crate) struct JournalSync {
    last_full: Option<Instant>,
    /// Whether a group was ordered since, but is not durable for certain.
    is_owing: bool,
}

impl JournalSync {
    /// Syncs what was written since the last call.
    pub(crate) fn group(&mut self, file: &File) -> io::Result<()> {
        let since = self.last_full.map(|last| last.elapsed());
        let mut sync = |_, call| system_calls::sync(file.as_fd(), call);
        let is_full = group(system_calls::SYNC_FAMILY, since, &mut sync)?;
        self.is_owing = !is_full;
        if is_full {
            self.last_full = Some(Instant::now());
        }
        Ok(())
    }

    /// Makes everything durable that is not yet.
    pub(crate) fn finish(&mut self, file: &File) {
        if std::mem::take(&mut self.is_owing) {
            full(file).log_err();
        }
    }
}

/// Syncs one group; returns whether everything written so far is durable.
fn group(family: SyncFamily, since_full: Option<Duration>, sync: Sync<'_>) -> Result<bool, Errno> {
    let need = match since_full {
        Some(since) if since < FULL_INTERVAL => SyncNeed::Group,
        None | Some(_) if family == SyncFamily::Apple => SyncNeed::Durable,
        None | Some(_) => SyncNeed::Group,
    };
    let done = perform(family, SyncTarget::File, need, sync)?;
    Ok(family == SyncFamily::Posix || done == SyncCall::Full)
}

/// Makes content and name durable after a rename.
fn confirm(family: SyncFamily, sync: Sync<'_>) -> Result<(), Errno> {
    let is_durable = folder_names(family, sync)?;
    if !is_durable {
        perform(family, SyncTarget::File, SyncNeed::Durable, sync)?;
    }
    Ok(())
}

/// Returns whether the call also made everything else on the drive durable, as far as the system has
/// such a call.
fn folder_names(family: SyncFamily, sync: Sync<'_>) -> Result<bool, Errno> {
    match perform(family, SyncTarget::Folder, SyncNeed::Names, sync) {
        Ok(call) => Ok(family == SyncFamily::Posix || call == SyncCall::Full),
        // Some network and FUSE volumes do not support any call for folders.
        Err(errno) if is_unsupported(errno) => Ok(family == SyncFamily::Posix),
        Err(errno) => Err(errno),
    }
}

/// Makes the first call that the volume supports.
fn perform(
    family: SyncFamily,
    target: SyncTarget,
    need: SyncNeed,
    sync: Sync<'_>,
) -> Result<SyncCall, Errno> {
    let mut last = Errno::NOTSUP;
    for &call in calls(family, need) {
        match retry(|| sync(target, call)) {
            Ok(()) => return Ok(call),
            Err(errno) if is_unsupported(errno) => last = errno,
            Err(errno) => return Err(errno),
        }
    }
    Err(last)
}

/// The calls that serve a need, in the order in which they are tried.
fn calls(family: SyncFamily, need: SyncNeed) -> &'static [SyncCall] {
    use SyncCall::{Barrier, Data, File, Full};
    match (family, need) {
        (SyncFamily::Posix, SyncNeed::Group) => &[Data],
        (SyncFamily::Posix, SyncNeed::Order | SyncNeed::Durable | SyncNeed::Names) => &[File],
        // A volume without barriers is not ordered otherwise than by emptying the cache.
        (SyncFamily::Apple, SyncNeed::Order | SyncNeed::Group) => &[Barrier, Full, File],
        (SyncFamily::Apple, SyncNeed::Durable | SyncNeed::Names) => &[Full, File],
    }
}

fn is_unsupported(errno: Errno) -> bool {
    // Two of them are one on some systems.
    [
        Errno::INVAL,
        Errno::NOTSUP,
        Errno::OPNOTSUPP,
        Errno::NOSYS,
        Errno::NOTTY,
    ]
    .contains(&errno)
}

#[cfg(test)]
mod tests;
