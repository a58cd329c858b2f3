//! Opening by descriptor, one name at a time, never through a link.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use super::{Content, State};

/// Larger files are compared by identity.
const LARGEST_HELD: i64 = 256 << 10;

/// One name in a folder.
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

/// Opens a folder that is no link.
pub(super) fn open_folder(at: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Opens a folder some names further down, through no link.
pub(super) fn open_below(top: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut held = open_folder(top, OsStr::new("."))?;
    for part in path.components() {
        held = match part {
            Component::Normal(name) => open_folder(&held, name)?,
            Component::CurDir => continue,
            _ => return Err(Errno::XDEV),
        };
    }
    Ok(held)
}

/// What a folder holds, in no order.
pub(super) fn entries(folder: impl AsFd) -> Result<Vec<Entry>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => match stat(&folder, name) {
                Ok(stat) => kind(&stat),
                Err(_) => continue,
            },
            known => known,
        };
        let name = name.to_owned();
        entries.push(Entry { name, kind });
    }
    Ok(entries)
}

pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(RawMode::from(stat.st_mode))
}

pub(super) fn stat(folder: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Where a link leads.
pub(super) fn link(folder: impl AsFd, name: &OsStr) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// The content of a regular file, up to a limit; `None` when it is longer or something else.
pub(super) fn content(
    folder: impl AsFd,
    name: &OsStr,
    limit: i64,
) -> Result<Option<Vec<u8>>, Errno> {
    // A pipe that nobody writes to would keep us waiting.
    let flags = OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    if kind(&stat(&folder, name)?) != FileType::RegularFile {
        return Ok(None);
    }
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    if kind(&stat) != FileType::RegularFile || stat.st_size > limit {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match rustix::io::read(&file, &mut buffer) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(count) if (bytes.len() + count) as i64 > limit => return Ok(None),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// What of a name is compared. Something that cannot be read is compared by identity.
#[allow(
    clippy::unnecessary_cast,
    reason = "the width of this number differs between systems"
)]
pub(super) fn state(folder: impl AsFd, name: &OsStr) -> Result<State, Errno> {
    let stat = stat(&folder, name)?;
    let bytes = match kind(&stat) {
        FileType::Symlink => return link(&folder, name).map(State::Link),
        FileType::RegularFile => content(&folder, name, LARGEST_HELD).unwrap_or(None),
        _ => None,
    };
    let mode = stat.st_mode as u32;
    let file = bytes.map(|bytes| State::File(Content { bytes, mode }));
    Ok(file.unwrap_or_else(|| State::Is(identity(&stat))))
}

/// Who something is, and when it was last changed in any way.
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
