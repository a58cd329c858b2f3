//! Links and permission bits below a folder, none of whose parts may be a link on the way.
//!
//! What `Files` leaves out because no editor needs it: a working tree holds links as such.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use base::AbsPath;

use super::beneath::{Beneath, Held};
use crate::error::{Error, Reason};

/// A link in the place of the file is not opened.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// What stands at a name, itself and not what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A regular file; whether its owner may execute it.
    File {
        /// Whether the owner's execute bit is set.
        is_executable: bool,
        /// Its length in bytes.
        size: u64,
    },
    /// A link and where it says it leads.
    Link(OsString),
    /// A folder.
    Folder,
    /// A pipe, socket or device.
    Other,
}

/// What stands at `path`, a path below `root`; no link is followed.
pub fn found(root: &AbsPath, path: &AbsPath) -> Result<Found, Error> {
    let (_held, name) = match reach(root, path, "look at") {
        Ok(held) => held,
        Err(error) if error.is_not_found() || error.reason == Reason::NotAFolder => {
            return Ok(Found::Nothing);
        }
        Err(error) => return Err(error),
    };
    let metadata = match fs::symlink_metadata(name.as_path()) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(Found::Nothing),
        Err(error) => return Err(Error::from_io(path, "look at", &error)),
    };
    let kind = metadata.file_type();
    Ok(if kind.is_file() {
        Found::File {
            is_executable: metadata.permissions().mode() & 0o100 != 0,
            size: metadata.len(),
        }
    } else if kind.is_symlink() {
        let target = fs::read_link(name.as_path());
        Found::Link(
            target
                .map_err(|error| Error::from_io(path, "read the link", &error))?
                .into_os_string(),
        )
    } else if kind.is_dir() {
        Found::Folder
    } else {
        Found::Other
    })
}

/// Makes a link at a free name below `root`.
pub fn make_link(root: &AbsPath, path: &AbsPath, target: &OsStr) -> Result<(), Error> {
    let (_held, name) = reach(root, path, "make a link at")?;
    std::os::unix::fs::symlink(target, name.as_path())
        .map_err(|error| Error::from_io(path, "make a link at", &error))
}

/// Sets or clears the execute bits of a file below `root`; whoever may read it may then execute it.
pub fn set_executable(root: &AbsPath, path: &AbsPath, is_executable: bool) -> Result<(), Error> {
    let (_above, name) = reach(root, path, "set the mode of")?;
    let failed = |error: std::io::Error| Error::from_io(path, "set the mode of", &error);
    let metadata = fs::symlink_metadata(name.as_path()).map_err(failed)?;
    if !metadata.is_file() {
        let reason = Reason::Other("it is no regular file".to_owned());
        return Err(Error::new(path, "set the mode of", reason));
    }
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(NO_FOLLOW)
        .open(name.as_path())
        .map_err(failed)?;
    let mode = metadata.permissions().mode();
    let wanted = match is_executable {
        true => mode | (mode & 0o444) >> 2,
        false => mode & !0o111,
    };
    if wanted == mode {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(wanted))
        .map_err(failed)
}

/// The name by which something below `root` is reached, and what keeps that name good.
fn reach(
    root: &AbsPath,
    path: &AbsPath,
    doing: &'static str,
) -> Result<(Option<Held>, AbsPath), Error> {
    let other = |reason: String| Error::new(path, doing, Reason::Other(reason));
    let inner = path.relative_to(root);
    let inner = inner.filter(|inner| !inner.as_os_str().is_empty());
    let inner = inner.ok_or_else(|| other(format!("it is not in {root}")))?;
    if let Some(beneath) = Beneath::new(root) {
        let (held, name) = beneath.hold_name(path, doing)?;
        return Ok((Some(held), name));
    }
    // Where the system has no such door, a look at each folder on the way has to do.
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

fn is_absent(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests;
