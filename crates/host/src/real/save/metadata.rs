//! Copies a file's metadata to the one that replaces it.
//!
//! Each function returns whether everything could be preserved. If not, the save overwrites in
//! place.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{Gid, Uid};
use rustix::io::Errno;

use super::attributes::{AttributeRules, keep_attributes};
use super::{ExistingFile, Temp};
use crate::file_status::FileStatus;
use crate::retry::retry;
use crate::system_calls;

/// Gives the new file the old one's owner and group.
pub(super) fn keep_owner(temp: &Temp, found: &ExistingFile) -> io::Result<bool> {
    let own = FileStatus::of(temp.as_file())?;
    let old = &found.status;
    let uid = (own.uid != old.uid).then(|| Uid::from_raw(old.uid));
    let gid = (own.gid != old.gid).then(|| Gid::from_raw(old.gid));
    if uid.is_none() && gid.is_none() {
        return Ok(true);
    }
    match retry(|| rustix::fs::fchown(temp.as_file(), uid, gid)) {
        Ok(()) => Ok(true),
        Err(Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Gives the new file the extended attributes of the old one, which is open as `old`, its access
/// list, flags and mode.
pub(super) fn keep_rest(temp: &Temp, old: &File, found: &ExistingFile) -> io::Result<bool> {
    let new = temp.as_file();
    let rules = AttributeRules::of_this_system();
    if !keep_attributes(rules, old, new)? || !system_calls::keep_system_metadata(old, new)? {
        return Ok(false);
    }
    let mode = found.status.mode;
    new.set_permissions(Permissions::from_mode(mode))?;
    Ok(FileStatus::of(new)?.mode == mode)
}
