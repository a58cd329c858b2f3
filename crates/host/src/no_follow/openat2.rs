//! Opens a path below a folder in one system call, which Linux has since 5.6.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::retry::retry;

/// Number of attempts while other processes rename folders on the way.
const TRIES: usize = 16;

/// Returns `None` if the path must be walked: the kernel is older, a sandbox does not allow the
/// call, the path is too long for one, or concurrent renames left the kernel uncertain.
pub(super) fn open(
    folder: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Option<Result<OwnedFd, Errno>> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // The kernel refuses links with `LOOP` by itself; with `NOFOLLOW` it could report `NOTDIR`, or
    // give the handle of a link.
    let flags = flags.difference(OFlags::NOFOLLOW);
    for _ in 0..TRIES {
        match retry(|| rustix::fs::openat2(&folder, path, flags, mode, resolve)) {
            Err(Errno::AGAIN) => {}
            Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => return None,
            other => return Some(other),
        }
    }
    None
}
