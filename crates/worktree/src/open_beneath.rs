//! File access relative to an open folder that never follows symlinks, so an agent cannot redirect
//! it.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2,
    readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

/// An open folder below which paths are resolved without following symlinks.
#[derive(Debug)]
pub(crate) struct RootedDir {
    folder: OwnedFd,
    path: PathBuf,
}

/// The content of a directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathContent {
    /// There is no entry.
    Absent,
    /// A regular file, and whether it is executable.
    File(Vec<u8>, bool),
    /// A symlink, with its target.
    Link(Vec<u8>),
    /// A folder, without its entries.
    Folder,
    /// A pipe, socket or device.
    Other,
}

impl PathContent {
    /// Mode and content as in a Git tree; `None` for entries that Git does not store.
    pub(crate) fn into_entry(self) -> Option<(u32, Vec<u8>)> {
        match self {
            Self::File(content, true) => Some((0o100755, content)),
            Self::File(content, false) => Some((0o100644, content)),
            Self::Link(target) => Some((0o120000, target)),
            Self::Absent | Self::Folder | Self::Other => None,
        }
    }

    pub(crate) fn from_entry(mode: u32, content: Vec<u8>) -> Self {
        match mode {
            0o120000 => Self::Link(content),
            mode => Self::File(content, mode & 0o111 != 0),
        }
    }
}

impl RootedDir {
    /// Opens a folder. Its own path must not be under an agent's control.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let folder = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self {
            folder,
            path: path.to_path_buf(),
        })
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder below this one.
    pub(crate) fn open_dir(&self, name: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        Ok(self.resolve(name, flags, Mode::empty())?)
    }

    /// Reads a regular file of at most `limit` bytes; `None` if there is none.
    pub(crate) fn read(&self, name: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        // Without `NONBLOCK`, opening a pipe would wait for its writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let opened = match self.resolve(name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let stat = fstat(&opened)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut content = Vec::new();
        File::from(opened)
            .take(limit + 1)
            .read_to_end(&mut content)?;
        if content.len() as u64 > limit {
            Err(io::Error::other("it is too large"))
        } else {
            Ok(Some(content))
        }
    }

    /// Reads an entry, with the content of a file of at most `limit` bytes.
    pub(crate) fn read_entry(&self, name: &Path, limit: u64) -> io::Result<PathContent> {
        let Some((parent, last)) = self.parent_of(name)? else {
            return Ok(PathContent::Absent);
        };
        let stat = match statat(&parent, last, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(PathContent::Absent),
            Err(errno) => return Err(errno.into()),
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => match self.read(name, limit)? {
                Some(content) => PathContent::File(content, stat.st_mode & 0o100 != 0),
                None => PathContent::Absent,
            },
            FileType::Symlink => {
                PathContent::Link(readlinkat(&parent, last, Vec::new())?.into_bytes())
            }
            FileType::Directory => PathContent::Folder,
            _ => PathContent::Other,
        })
    }

    /// Writes a file or symlink, or removes the entry; creates parent folders. Files are replaced
    /// atomically.
    pub(crate) fn write_entry(&self, name: &Path, held: &PathContent) -> io::Result<()> {
        if *held == PathContent::Absent {
            return self.remove(name);
        }
        let parent = self.make_parent(name)?;
        let last = name.file_name().ok_or(Errno::INVAL)?;
        let temporary = format!(".burin-{}-{}", std::process::id(), name_hash(name));
        match unlinkat(&parent, temporary.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        match held {
            PathContent::File(content, is_executable) => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(if *is_executable { 0o777 } else { 0o666 });
                let file = openat(&parent, temporary.as_str(), flags, mode)?;
                File::from(file).write_all(content)?;
            }
            PathContent::Link(target) => {
                symlinkat(
                    std::ffi::OsStr::from_bytes(target),
                    &parent,
                    temporary.as_str(),
                )?;
            }
            _ => return Err(Errno::INVAL.into()),
        }
        match renameat(&parent, temporary.as_str(), &parent, last) {
            Ok(()) => Ok(()),
            // An empty folder is replaced; a non-empty one is not.
            Err(Errno::ISDIR) => {
                let cleared = unlinkat(&parent, last, AtFlags::REMOVEDIR)
                    .and_then(|()| renameat(&parent, temporary.as_str(), &parent, last));
                if cleared.is_err() {
                    unlinkat(&parent, temporary.as_str(), AtFlags::empty())?;
                }
                Ok(cleared?)
            }
            Err(errno) => {
                unlinkat(&parent, temporary.as_str(), AtFlags::empty())?;
                Err(errno.into())
            }
        }
    }

    /// Removes a file or symlink, and parent folders that become empty. A missing entry is no
    /// error.
    pub(crate) fn remove(&self, name: &Path) -> io::Result<()> {
        let Some((parent, last)) = self.parent_of(name)? else {
            return Ok(());
        };
        match unlinkat(&parent, last, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut folder = name.parent();
        while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
            let Some((parent, last)) = self.parent_of(path)? else {
                break;
            };
            if unlinkat(&parent, last, AtFlags::REMOVEDIR).is_err() {
                break;
            }
            folder = path.parent();
        }
        Ok(())
    }

    /// Opens the parent folder of `name` and returns the last component; `None` if there is no such
    /// folder.
    fn parent_of<'a>(&self, name: &'a Path) -> io::Result<Option<(OwnedFd, &'a std::ffi::OsStr)>> {
        let last = name.file_name().ok_or(Errno::INVAL)?;
        let parent = name.parent().filter(|path| !path.as_os_str().is_empty());
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        match self.resolve(parent.unwrap_or(Path::new(".")), flags, Mode::empty()) {
            Ok(folder) => Ok(Some((folder, last))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    fn make_parent(&self, name: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let parent = name.parent().unwrap_or(Path::new(""));
        let mut made = PathBuf::new();
        for part in parent.components() {
            let above = if made.as_os_str().is_empty() {
                self.folder.try_clone()?
            } else {
                self.resolve(&made, flags, Mode::empty())?
            };
            match mkdirat(&above, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            made.push(part);
        }
        let whole = if made.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &made
        };
        Ok(self.resolve(whole, flags, Mode::empty())?)
    }

    fn resolve(&self, name: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..16 {
            match openat2(&self.folder, name, flags, mode, how) {
                // A concurrent rename kept the kernel from proving that the path stays below.
                Err(Errno::AGAIN | Errno::INTR) => {}
                other => return other,
            }
        }
        Err(Errno::AGAIN)
    }
}

/// The entries of an open folder, except `.` and `..`, with their types.
pub(crate) fn dir_entries(folder: &OwnedFd) -> io::Result<Vec<(std::ffi::CString, FileType)>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        names.push((name.to_owned(), kind));
    }
    Ok(names)
}

/// A hash that keeps temporary names distinct.
pub(crate) fn name_hash(name: &Path) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.as_os_str().as_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}
