//! The state of an entry, by which changes are found.

use std::ffi::OsStr;
use std::os::fd::AsFd;

use host::no_follow::{kind, read_file, read_link, stat};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::{FileContent, MarkState};

/// Files longer than this, in bytes, are compared by identity, not by content.
const MAX_HELD_BYTES: u64 = 256 << 10;

/// Returns the state of an entry, of a link itself. A file that is unreadable or longer than
/// `MAX_HELD_BYTES` has its identity as its state. Fails if the entry cannot be examined.
#[allow(
    clippy::unnecessary_cast,
    reason = "the width of this number differs between systems"
)]
pub(super) fn state(folder: impl AsFd, name: &OsStr) -> Result<MarkState, Errno> {
    let stat = stat(&folder, name)?;
    let bytes = match kind(&stat) {
        FileType::Symlink => return read_link(&folder, name).map(MarkState::Link),
        FileType::RegularFile => read_file(&folder, name, MAX_HELD_BYTES).unwrap_or(None),
        _ => None,
    };
    let mode = stat.st_mode as u32;
    let file = bytes.map(|bytes| MarkState::File(FileContent { bytes, mode }));
    Ok(file.unwrap_or_else(|| MarkState::Identity(identity(&stat))))
}

/// Returns device, inode, size in bytes, and the time of the last change of content or metadata in
/// seconds and nanoseconds.
#[allow(
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "the widths of these numbers differ between systems"
)]
pub(super) fn identity(stat: &Stat) -> [u64; 5] {
    [
        stat.st_dev as u64,
        stat.st_ino as u64,
        stat.st_size as u64,
        stat.st_ctime as u64,
        stat.st_ctime_nsec as u64,
    ]
}
