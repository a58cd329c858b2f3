//! Links and permission bits below a folder, reached without following links.
//!
//! These operations are not part of `Files`, because only working trees need them: they contain
//! links as such.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use base::AbsPath;
use rustix::fs::{FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;

use super::beneath::BeneathFiles;
use crate::error::{Error, ErrorReason};
use crate::file_status::FileStatus;
use crate::no_follow;
use crate::path_at::PathAt;
use crate::retry::retry;

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
    let failed = |errno| Error::from_errno(path, "look at", errno);
    let at = match reach(root, path, "look at") {
        Ok(at) => at,
        Err(error) if error.is_not_found() || error.reason == ErrorReason::NotAFolder => {
            return Ok(NoFollowEntry::Absent);
        }
        Err(error) => return Err(error),
    };
    let status = match at.own_status() {
        Ok(status) => status,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(NoFollowEntry::Absent),
        Err(errno) => return Err(failed(errno)),
    };
    Ok(match status.file_type {
        FileType::RegularFile => NoFollowEntry::File {
            is_executable: status.mode & 0o100 != 0,
            size: status.size,
        },
        FileType::Symlink => {
            let target = no_follow::read_link(at.folder(), at.name())
                .map_err(|errno| Error::from_errno(path, "read the link", errno))?;
            NoFollowEntry::Link(OsString::from_vec(target))
        }
        FileType::Directory => NoFollowEntry::Folder,
        _ => NoFollowEntry::Other,
    })
}

/// Creates a link at an unused name below `root`. The target is stored as it is.
pub fn make_link(root: &AbsPath, path: &AbsPath, target: &OsStr) -> Result<(), Error> {
    let at = reach(root, path, "make a link at")?;
    rustix::fs::symlinkat(target, at.folder(), at.name())
        .map_err(|errno| Error::from_errno(path, "make a link at", errno))
}

/// Sets or clears the execute bits of a file below `root`, for every user who may read it.
pub fn set_executable(root: &AbsPath, path: &AbsPath, is_executable: bool) -> Result<(), Error> {
    let at = reach(root, path, "set the mode of")?;
    let failed = |errno| Error::from_errno(path, "set the mode of", errno);
    let refuse_others = |status: FileStatus| {
        if status.file_type.is_file() {
            return Ok(status);
        }
        let reason = ErrorReason::Other("it is not a regular file".to_owned());
        Err(Error::new(path, "set the mode of", reason))
    };
    refuse_others(at.own_status().map_err(failed)?)?;
    let file = at.open(OFlags::RDONLY, Mode::empty()).map_err(failed)?;
    // The file may have been replaced since the first check.
    let mode = refuse_others(FileStatus::of(&file).map_err(failed)?)?.mode;
    let wanted = if is_executable {
        mode | (mode & 0o444) >> 2
    } else {
        mode & !0o111
    };
    if wanted == mode {
        return Ok(());
    }
    retry(|| rustix::fs::fchmod(&file, Mode::from_raw_mode(wanted as RawMode))).map_err(failed)
}

/// Returns an entry below `root` as a name in its open folder.
fn reach(root: &AbsPath, path: &AbsPath, doing: &'static str) -> Result<PathAt, Error> {
    let inner = path.relative_to(root);
    if inner.is_none_or(|inner| inner.as_os_str().is_empty()) {
        let reason = ErrorReason::Other(format!("it is not in {root}"));
        return Err(Error::new(path, doing, reason));
    }
    BeneathFiles::new(root).open_parent(path, doing)
}

#[cfg(test)]
mod tests;
