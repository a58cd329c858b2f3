//! Opens files through descriptors, one component at a time, without following links.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use super::{FileContent, MarkState};

/// Larger files are compared by identity, not by content.
const MAX_HELD_BYTES: i64 = 256 << 10;

/// One entry of a folder.
pub(super) struct FolderEntry {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

/// Opens a folder that is not a link.
pub(super) fn open_folder(at: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Opens a folder several levels down without following links.
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

/// Returns the entries of a folder, unsorted.
pub(super) fn entries(folder: impl AsFd) -> Result<Vec<FolderEntry>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report the type.
            FileType::Unknown => match stat(&folder, name) {
                Ok(stat) => kind(&stat),
                Err(_) => continue,
            },
            known => known,
        };
        let name = name.to_owned();
        entries.push(FolderEntry { name, kind });
    }
    Ok(entries)
}

pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(RawMode::from(stat.st_mode))
}

pub(super) fn stat(folder: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the target of a link.
pub(super) fn link(folder: impl AsFd, name: &OsStr) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Reads a regular file up to a limit; returns `None` if it is longer or not a regular file.
pub(super) fn content(
    folder: impl AsFd,
    name: &OsStr,
    limit: i64,
) -> Result<Option<Vec<u8>>, Errno> {
    // Opening a pipe without a writer would block.
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

/// Returns the state of an entry. An unreadable file is compared by identity.
#[allow(
    clippy::unnecessary_cast,
    reason = "the width of this number differs between systems"
)]
pub(super) fn state(folder: impl AsFd, name: &OsStr) -> Result<MarkState, Errno> {
    let stat = stat(&folder, name)?;
    let bytes = match kind(&stat) {
        FileType::Symlink => return link(&folder, name).map(MarkState::Link),
        FileType::RegularFile => content(&folder, name, MAX_HELD_BYTES).unwrap_or(None),
        _ => None,
    };
    let mode = stat.st_mode as u32;
    let file = bytes.map(|bytes| MarkState::File(FileContent { bytes, mode }));
    Ok(file.unwrap_or_else(|| MarkState::Identity(identity(&stat))))
}

/// Returns the identity of an entry and the time of its last change.
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
