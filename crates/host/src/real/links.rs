//! Links and permission bits below a folder, reached without following links.
//!
//! These operations are not part of `Files`, because only working trees need them: they contain
//! links as such.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use base::AbsPath;

use super::beneath::{BeneathFiles, OpenedPath};
use crate::error::{Error, ErrorReason};

/// A link in the place of the file is not opened.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// The entry at a path itself, not its link target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoFollowEntry {
    /// Nothing exists at the path.
    Absent,
    /// A regular file with its executable bit and size.
    File {
        /// Whether the owner's execute bit is set.
        is_executable: bool,
        /// Length of the file in bytes.
        size: u64,
    },
    /// A symbolic link and its target.
    Link(OsString),
    /// A folder, not a link to one.
    Folder,
    /// A pipe, socket or device.
    Other,
}

/// Returns the entry at `path`, which lies below `root`, without following links.
pub fn entry_at(root: &AbsPath, path: &AbsPath) -> Result<NoFollowEntry, Error> {
    let (_held, name) = match reach(root, path, "look at") {
        Ok(held) => held,
        Err(error) if error.is_not_found() || error.reason == ErrorReason::NotAFolder => {
            return Ok(NoFollowEntry::Absent);
        }
        Err(error) => return Err(error),
    };
    let metadata = match fs::symlink_metadata(name.as_path()) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(NoFollowEntry::Absent),
        Err(error) => return Err(Error::from_io(path, "look at", &error)),
    };
    let kind = metadata.file_type();
    Ok(if kind.is_file() {
        NoFollowEntry::File {
            is_executable: metadata.permissions().mode() & 0o100 != 0,
            size: metadata.len(),
        }
    } else if kind.is_symlink() {
        let target = fs::read_link(name.as_path());
        NoFollowEntry::Link(
            target
                .map_err(|error| Error::from_io(path, "read the link", &error))?
                .into_os_string(),
        )
    } else if kind.is_dir() {
        NoFollowEntry::Folder
    } else {
        NoFollowEntry::Other
    })
}

/// Creates a link at an unused name below `root`.
pub fn make_link(root: &AbsPath, path: &AbsPath, target: &OsStr) -> Result<(), Error> {
    let (_held, name) = reach(root, path, "make a link at")?;
    std::os::unix::fs::symlink(target, name.as_path())
        .map_err(|error| Error::from_io(path, "make a link at", &error))
}

/// Sets or clears the execute bits of a file below `root`, for every user who may read it.
pub fn set_executable(root: &AbsPath, path: &AbsPath, is_executable: bool) -> Result<(), Error> {
    let (_above, name) = reach(root, path, "set the mode of")?;
    let failed = |error: std::io::Error| Error::from_io(path, "set the mode of", &error);
    let metadata = fs::symlink_metadata(name.as_path()).map_err(failed)?;
    if !metadata.is_file() {
        let reason = ErrorReason::Other("it is no regular file".to_owned());
        return Err(Error::new(path, "set the mode of", reason));
    }
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(NO_FOLLOW)
        .open(name.as_path())
        .map_err(failed)?;
    let mode = metadata.permissions().mode();
    let wanted = if is_executable {
        mode | (mode & 0o444) >> 2
    } else {
        mode & !0o111
    };
    if wanted == mode {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(wanted))
        .map_err(failed)
}

/// Returns the path through which an entry below `root` is reached, and the handle that keeps this
/// path valid.
fn reach(
    root: &AbsPath,
    path: &AbsPath,
    doing: &'static str,
) -> Result<(Option<OpenedPath>, AbsPath), Error> {
    let other = |reason: String| Error::new(path, doing, ErrorReason::Other(reason));
    let inner = path.relative_to(root);
    let inner = inner.filter(|inner| !inner.as_os_str().is_empty());
    let inner = inner.ok_or_else(|| other(format!("it is not in {root}")))?;
    if let Some(beneath) = BeneathFiles::new(root) {
        let (held, name) = beneath.open_parent(path, doing)?;
        return Ok((Some(held), name));
    }
    // Without kernel support, check each folder on the way.
    let mut above = root.clone();
    for part in inner
        .parent()
        .into_iter()
        .flat_map(|parent| parent.components())
    {
        above = above.join(part);
        let metadata = fs::symlink_metadata(above.as_path())
            .map_err(|error| Error::from_io(path, doing, &error))?;
        if !metadata.is_dir() {
            return Err(other(format!("{above} is no folder of its own")));
        }
    }
    Ok((None, path.clone()))
}

/// Returns whether an error means that the path does not exist or leads through an entry that is
/// not a folder.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests;
