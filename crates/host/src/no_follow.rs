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

/// Opens a path several levels below an open folder; the folder itself for an empty path.
///
/// # Errors
/// `LOOP` for a link on the way or at the end, `XDEV` for a path that is absolute or contains `..`.
/// With `PATH` and `NOFOLLOW`, a link at the end may give its own handle.
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
    #[cfg(target_os = "linux")]
    match open_at_once(&folder, path, flags, mode) {
        // Kernels before 5.6, and sandboxes that do not allow the call.
        Err(Errno::NOSYS | Errno::PERM) => {}
        // The kernel could not be certain because of concurrent renames.
        Err(Errno::AGAIN) => {}
        other => return other,
    }
    walk(folder.as_fd(), path, flags, mode)
}

/// Opens a path in one system call.
#[cfg(target_os = "linux")]
fn open_at_once(
    folder: impl AsFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    /// Number of attempts while other processes rename folders on the way.
    const TRIES: usize = 16;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // The kernel refuses links with `LOOP` by itself; with `NOFOLLOW` it could report `NOTDIR`.
    let flags = if flags.contains(OFlags::PATH) {
        flags
    } else {
        flags.difference(OFlags::NOFOLLOW)
    };
    for _ in 0..TRIES {
        match retry(|| rustix::fs::openat2(&folder, path, flags, mode, resolve)) {
            Err(Errno::AGAIN) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// Opens a path component by component.
fn walk(folder: impl AsFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let through = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held = retry(|| rustix::fs::openat(&folder, ".", through, Mode::empty()))?;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => OsStr::new("."),
            _ => return Err(Errno::XDEV),
        };
        let is_last = parts.peek().is_none();
        let flags = if is_last {
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC
        } else {
            through
        };
        let next = match retry(|| rustix::fs::openat(&held, name, flags, mode)) {
            Err(Errno::NOTDIR) if is_link(&held, name) => return Err(Errno::LOOP),
            next => next?,
        };
        match kind(&rustix::fs::fstat(&next)?) {
            // A handle of a path alone can be that of a link.
            FileType::Symlink => return Err(Errno::LOOP),
            FileType::Directory => {}
            _ if !is_last => return Err(Errno::NOTDIR),
            _ => {}
        }
        held = next;
    }
    Ok(held)
}

/// Returns whether the entry `name` is a link; false if it cannot be examined.
fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    stat(folder, name).is_ok_and(|stat| kind(&stat) == FileType::Symlink)
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

/// Reads the file `name`; returns `None` if it is no regular file or longer than `limit` bytes.
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
mod tests;
