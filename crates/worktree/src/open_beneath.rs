//! Reads and writes Git's entries below an open folder without following symlinks, so that an agent
//! cannot redirect them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use host::no_follow;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, symlinkat, unlinkat,
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
    /// Returns mode and content as in a Git tree; `None` for entries that Git does not store.
    pub(crate) fn into_entry(self) -> Option<(u32, Vec<u8>)> {
        match self {
            Self::File(content, true) => Some((0o100755, content)),
            Self::File(content, false) => Some((0o100644, content)),
            Self::Link(target) => Some((0o120000, target)),
            Self::Absent | Self::Folder | Self::Other => None,
        }
    }

    /// Returns the entry for a mode and content of a Git tree.
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
        Ok(Self {
            folder: no_follow::open_root(path)?,
            path: path.to_path_buf(),
        })
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder below this one.
    pub(crate) fn open_dir(&self, name: &Path) -> io::Result<OwnedFd> {
        Ok(no_follow::open_folder_below(&self.folder, name)?)
    }

    /// Reads a regular file of at most `limit` bytes; `None` if there is none. A symlink on the way, a
    /// larger file and any other kind of entry are errors.
    pub(crate) fn read(&self, name: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        // Without `NONBLOCK`, opening a pipe would wait for its writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let opened = match self.open_entry(name, flags, Mode::empty()) {
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
        let stat = match no_follow::stat(&parent, last) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(PathContent::Absent),
            Err(errno) => return Err(errno.into()),
        };
        Ok(match no_follow::kind(&stat) {
            FileType::RegularFile => match self.read(name, limit)? {
                Some(content) => PathContent::File(content, stat.st_mode & 0o100 != 0),
                None => PathContent::Absent,
            },
            FileType::Symlink => PathContent::Link(no_follow::read_link(&parent, last)?),
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

    /// Removes a file or symlink, and parent folders that become empty. A missing entry is not an
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
        match no_follow::open_folder_below(&self.folder, parent.unwrap_or(Path::new(""))) {
            Ok(folder) => Ok(Some((folder, last))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Creates the missing parent folders of `name` and opens the innermost. Fails if one of them
    /// is a symlink or a file.
    fn make_parent(&self, name: &Path) -> io::Result<OwnedFd> {
        let parent = name.parent().unwrap_or(Path::new(""));
        let mut made = PathBuf::new();
        for part in parent.components() {
            let above = no_follow::open_folder_below(&self.folder, &made)?;
            match mkdirat(&above, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            made.push(part);
        }
        Ok(no_follow::open_folder_below(&self.folder, &made)?)
    }

    /// Opens the entry `name` below this folder without following symlinks.
    fn open_entry(&self, name: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        no_follow::open_below(&self.folder, name, flags, mode)
    }
}

/// Returns 16 hexadecimal digits that distinguish paths.
pub(crate) fn name_hash(name: &Path) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.as_os_str().as_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}
