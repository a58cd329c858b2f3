//! File operations on Linux.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use crate::durability::{SyncCall, SyncFamily};
use crate::path_at::PathAt;
use crate::retry::retry;

/// The sync calls of this system.
pub(crate) const SYNC_FAMILY: SyncFamily = SyncFamily::Posix;
/// Whether extended attributes follow Apple's rules.
pub(crate) const HAS_APPLE_ATTRIBUTES: bool = false;
/// Whether no volume distinguishes normal forms of names, not even one that distinguishes case.
pub(crate) const VOLUMES_NORMALIZE: bool = false;
/// The error for an extended attribute that does not exist.
pub(crate) const NO_ATTRIBUTE: Errno = Errno::NODATA;
/// Opens a folder for resolving names in it, even if it cannot be listed.
pub(crate) const SEARCH: OFlags = OFlags::PATH;

/// Makes one sync call; `NOTSUP` for those of other systems.
pub(crate) fn sync(file: BorrowedFd<'_>, call: SyncCall) -> Result<(), Errno> {
    match call {
        SyncCall::Data => rustix::fs::fdatasync(file),
        SyncCall::File => rustix::fs::fsync(file),
        SyncCall::Barrier | SyncCall::Full => Err(Errno::NOTSUP),
    }
}

/// Reserves space from `start` on without changing the file's length.
pub(crate) fn reserve(file: &File, start: u64, length: u64) -> Result<(), Errno> {
    retry(|| rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, start, length))
}

/// Creates `target` as a clone of a file that shares its blocks. Linux has no call that also copies
/// the metadata; `io::copy` shares blocks by itself.
pub(crate) fn clone_file(_: &File, _: &PathAt) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

/// Copies metadata other than mode, owner and extended attributes to a file; Linux has none.
pub(crate) fn keep_system_metadata(_: &File, _: &File) -> Result<bool, Errno> {
    Ok(true)
}

/// Returns the name under which the volume stores an open file, if it can differ from the name by
/// which the file was opened.
pub(crate) fn stored_name(_: &File) -> Option<OsString> {
    None
}

/// Returns a path without links; `None` if it does not exist.
#[cfg(any(test, burin_portable))]
pub(crate) fn real_path(path: &Path) -> Option<std::path::PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// Moves a file or folder to the desktop's trash.
pub(crate) fn trash(path: &Path) -> Result<(), trash::Error> {
    trash::delete(path)
}
