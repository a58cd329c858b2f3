//! Entries below an open folder, reached without following links: the one implementation for all
//! crates that handle untrusted folders.
//!
//! Links are entries of their own here: they are listed, examined and read, never followed, even if
//! another process creates them at the same time. `FolderTree` and `Files::open_beneath` are built
//! on this module; a crate that needs an operation of its own uses its handles.
//! Invariant: an opened handle lies below the folder that it was opened from.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::retry::retry;
use crate::system_calls::SEARCH;

#[cfg(all(target_os = "linux", not(burin_portable)))]
mod openat2;

/// The flags that open a folder, but not a link to one.
pub const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::RDONLY)
    .union(OFlags::CLOEXEC);

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name in its folder.
    pub name: OsString,
    /// The type of the entry itself.
    pub kind: FileType,
}

/// Opens a folder by its path, which must not be under an agent's control; its last component must
/// not be a link.
pub fn open_root(path: &Path) -> Result<OwnedFd, Errno> {
    retry(|| rustix::fs::open(path, FOLDER, Mode::empty()))
}

/// Like `open_root`, for resolving names in the folder, even if it cannot be listed.
pub(crate) fn open_root_for_search(path: &Path) -> Result<OwnedFd, Errno> {
    search_or_read(|flags| retry(|| rustix::fs::open(path, flags, Mode::empty())))
}

/// Opens the folder `name`, a single component, in an open folder.
pub fn open_folder(folder: impl AsFd, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    retry(|| rustix::fs::openat(&folder, name, FOLDER, Mode::empty()))
}

/// Opens the file `name`, a single component, for reading.
pub fn open_file(folder: impl AsFd, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    // Without `NONBLOCK`, opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    retry(|| rustix::fs::openat(&folder, name, flags, Mode::empty()))
}

/// Opens a folder several levels below an open one; the open folder itself for an empty path.
pub fn open_folder_below(folder: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    open_below(folder, path, FOLDER, Mode::empty())
}

/// Like `open_folder_below`, for resolving names in the folder, even if it cannot be listed.
pub(crate) fn open_for_search(folder: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    search_or_read(|flags| open_below(&folder, path, flags, Mode::empty()))
}

/// Opens a path several levels below an open folder; the folder itself for an empty path.
///
/// # Errors
/// `LOOP` for a link on the way or at the end, `XDEV` for a path that is absolute or contains `..`.
pub fn open_below(
    folder: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let is_inner = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(is_inner) {
        return Err(Errno::XDEV);
    }
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    #[cfg(all(target_os = "linux", not(burin_portable)))]
    if let Some(opened) = openat2::open(&folder, path, flags, mode) {
        return opened;
    }
    walk(folder.as_fd(), path, flags, mode)
}

/// Opens a path component by component: each in the folder that was opened before it, so that a
/// link is met as such, whenever it is planted.
fn walk(folder: impl AsFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let open = |held: Option<&OwnedFd>, name: &OsStr, flags, mode| match held {
        Some(held) => retry(|| rustix::fs::openat(held, name, flags, mode)),
        None => retry(|| rustix::fs::openat(&folder, name, flags, mode)),
    };
    let mut held = None;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => OsStr::new("."),
            _ => return Err(Errno::XDEV),
        };
        let opened = if parts.peek().is_none() {
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            open(held.as_ref(), name, flags, mode)
        } else {
            search_or_read(|flags| open(held.as_ref(), name, flags, Mode::empty()))
        };
        let opened = match opened {
            // The system may object to the link's type first.
            Err(Errno::NOTDIR | Errno::MLINK) if is_link_at(&folder, held.as_ref(), name) => {
                return Err(Errno::LOOP);
            }
            other => other?,
        };
        // A handle that is only for searching can be that of a link.
        if flags.contains(SEARCH) && kind(&rustix::fs::fstat(&opened)?).is_symlink() {
            return Err(Errno::LOOP);
        }
        held = Some(opened);
    }
    held.ok_or(Errno::NOENT)
}

/// Opens a folder for reading, which every system has; if that is not permitted, for searching.
fn search_or_read(open: impl Fn(OFlags) -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let search = FOLDER | SEARCH;
    if cfg!(all(target_os = "linux", not(burin_portable))) {
        return open(search);
    }
    match open(FOLDER) {
        Err(Errno::ACCESS) => open(search),
        other => other,
    }
}

fn is_link_at(folder: impl AsFd, held: Option<&OwnedFd>, name: &OsStr) -> bool {
    let stat = match held {
        Some(held) => stat(held, name),
        None => stat(folder, name),
    };
    stat.is_ok_and(|stat| kind(&stat).is_symlink())
}

/// Returns the entries of a folder, unsorted and without `.` and `..`.
pub fn entries(folder: impl AsFd) -> Result<Vec<FolderEntry>, Errno> {
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
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno),
            },
            known => known,
        };
        let name = name.to_owned();
        entries.push(FolderEntry { name, kind });
    }
    Ok(entries)
}

/// Returns the metadata of the entry `name` itself.
pub fn stat(folder: impl AsFd, name: impl Arg) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the file type in an entry's metadata.
pub fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(RawMode::from(stat.st_mode))
}

/// Returns the target of a link.
pub fn read_link(folder: impl AsFd, name: impl Arg) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(folder, name, Vec::new()).map(CString::into_bytes)
}

/// Reads the file `name`; returns `None` if it is not a regular file or is longer than `limit`
/// bytes.
pub fn read_file(
    folder: impl AsFd,
    name: impl Arg + Copy,
    limit: u64,
) -> Result<Option<Vec<u8>>, Errno> {
    // Opening a device may have effects, so its type is looked at first, and again when it is open.
    if kind(&stat(&folder, name)?) != FileType::RegularFile {
        return Ok(None);
    }
    let file = open_file(&folder, name)?;
    let stat = rustix::fs::fstat(&file)?;
    let is_longer = |count: usize| count as u64 > limit;
    if kind(&stat) != FileType::RegularFile || stat.st_size.cast_unsigned() > limit {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match retry(|| rustix::io::read(&file, &mut *buffer))? {
            0 => return Ok(Some(bytes)),
            count if is_longer(bytes.len() + count) => return Ok(None),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
