//! Copies a file's metadata to the one that replaces it.
//!
//! Each function returns whether everything could be preserved. If not, the save overwrites in
//! place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use xattr::FileExt;

use super::{ExistingFile, Temp};
use crate::real::retry;

/// Attributes that the kernel derives from the content; they must not be copied.
const NOT_COPIED: [&str; 2] = ["security.ima", "security.evm"];
/// An attribute that a new file inherits from its folder and the old one may not have had.
const INHERITED: &str = "system.posix_acl_access";

/// Gives the new file the old one's owner and group.
pub(super) fn keep_owner(temp: &Temp, found: &ExistingFile) -> io::Result<bool> {
    let own = temp.as_file().metadata()?;
    let old = &found.metadata;
    let uid = (own.uid() != old.uid()).then(|| Uid::from_raw(old.uid()));
    let gid = (own.gid() != old.gid()).then(|| Gid::from_raw(old.gid()));
    if uid.is_none() && gid.is_none() {
        return Ok(true);
    }
    match retry(|| rustix::fs::fchown(temp.as_file(), uid, gid)) {
        Ok(()) => Ok(true),
        Err(Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Gives the new file the old one's extended attributes, access lists included, and its mode.
pub(super) fn keep_rest(temp: &Temp, found: &ExistingFile) -> io::Result<bool> {
    if !keep_attributes(temp, found)? {
        return Ok(false);
    }
    let mode = found.metadata.mode() & 0o7777;
    let file = temp.as_file();
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(file.metadata()?.mode() & 0o7777 == mode)
}

/// Gives the new file exactly the old one's extended attributes. Returns false if one of them
/// cannot be read, set or removed; true if the file system has none.
fn keep_attributes(temp: &Temp, found: &ExistingFile) -> io::Result<bool> {
    let old = match old_attributes(found) {
        Ok(old) => old,
        Err(error) if is_unsupported(&error) => return Ok(true),
        // The attribute is unreadable: only the old file itself can keep it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
        Err(error) => return Err(error),
    };
    let file = temp.as_file();
    for (name, value) in &old {
        let is_kept = file.get_xattr(name).ok().flatten().as_ref() == Some(value)
            || file.set_xattr(name, value).is_ok();
        if !is_kept {
            return Ok(false);
        }
    }
    let is_inherited = |name: &OsString| name.as_os_str() == INHERITED && !old.contains_key(name);
    if file.list_xattr()?.any(|name| is_inherited(&name)) {
        return Ok(file.remove_xattr(INHERITED).is_ok());
    }
    Ok(true)
}

/// Returns the old file's extended attributes by name, without those in `NOT_COPIED`. Fails if one
/// is unreadable.
fn old_attributes(found: &ExistingFile) -> io::Result<BTreeMap<OsString, Vec<u8>>> {
    let mut attributes = BTreeMap::new();
    for name in xattr::list(&found.path)? {
        if NOT_COPIED
            .iter()
            .any(|skipped| name.as_os_str() == *skipped)
        {
            continue;
        }
        if let Some(value) = xattr::get(&found.path, &name)? {
            attributes.insert(name, value);
        }
    }
    Ok(attributes)
}

/// Returns whether an error means that the file system has no extended attributes.
fn is_unsupported(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOTSUP | Errno::NOSYS))
}
