//! Copies of a folder, file by file.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::error::Error;

/// The way in which files of a folder are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileCopy {
    /// By a clone that shares blocks.
    Clone,
    /// Byte by byte.
    Bytes,
}

/// Copies everything in `from` into the empty folder `to`: links as links, files with permissions
/// and modification times. Pipes, sockets and devices are passed over.
pub(crate) fn copy_folder(from: &Path, to: &Path, copy: FileCopy) -> Result<(), Error> {
    for entry in fs::read_dir(from).map_err(Error::file("read", from))? {
        let entry = entry.map_err(Error::file("read", from))?;
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Error::file("look at", &old))?;
        if kind.is_dir() {
            fs::create_dir(&new).map_err(Error::file("create", &new))?;
            copy_folder(&old, &new, copy)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&old).map_err(Error::file("read", &old))?;
            std::os::unix::fs::symlink(target, &new).map_err(Error::file("write", &new))?;
        } else if kind.is_file() {
            copy_file(&old, &new, copy).map_err(Error::file("copy", &old))?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, copy: FileCopy) -> std::io::Result<()> {
    // Build tools compare modification times, so they are kept.
    let old = fs::File::open(from)?;
    let found = old.metadata()?;
    match copy {
        FileCopy::Clone => {
            super::file(&old, to, found.permissions().mode())?;
            fs::set_permissions(to, found.permissions())?;
        }
        FileCopy::Bytes => {
            fs::copy(from, to)?;
        }
    }
    let time = Timespec {
        tv_sec: found.mtime(),
        tv_nsec: found.mtime_nsec(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    // By its path: the permissions of the copy may allow no opening.
    Ok(utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
