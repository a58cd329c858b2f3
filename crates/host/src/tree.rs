//! A folder and everything below it, reached component by component without following links, even
//! if they are created concurrently.
//!
//! Links are entries of their own here: they are seen, read and created, never followed. Paths are
//! relative, with `/`.
//! Limitations: entries whose names are not UTF-8 are reported as problems and left out.
//! Start at `FolderTree::open`.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use base::AbsPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::durability;
use crate::error::{Error, ErrorReason};
use crate::file_status::FileStatus;
use crate::no_follow::{self, FolderEntry};
use crate::stat::FileKind;

/// Prefix of the temporary names under which files are written before they are renamed.
const DRAFT: &str = ".burin-new-";

/// A folder kept open.
#[derive(Debug)]
pub struct FolderTree {
    top: OwnedFd,
    root: AbsPath,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TreeKind {
    /// A regular file without the owner's execute bit.
    File,
    /// A regular file with its owner's execute bit set.
    Executable,
    /// A symbolic link itself.
    Link,
    /// A folder, not a link to one.
    Folder,
    /// A pipe, socket or device.
    Other,
}

/// The metadata of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeEntry {
    /// The kind of the entry.
    pub kind: TreeKind,
    /// Length of the content in bytes.
    pub size: u64,
    /// Inode number on its device.
    pub inode: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Last change of content or metadata, in nanoseconds since 1970.
    pub ctime_ns: i128,
}

/// The caller's decision about an entry in a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkStep {
    /// Visit it, and descend if it is a folder.
    Enter,
    /// Leave it and its contents out.
    Skip,
}

impl FolderTree {
    /// Opens a folder; `root` must be a real path.
    pub fn open(root: &AbsPath) -> Result<Self, Error> {
        let top = no_follow::open_root(root.as_path())
            .map_err(|errno| Error::from_errno(root, "open the folder", errno))?;
        Ok(Self {
            top,
            root: root.clone(),
        })
    }

    /// Returns the folder's path.
    pub fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Returns the metadata of an entry; `None` if it does not exist, or if a part of its path is
    /// not a folder.
    pub fn entry(&self, path: &str) -> Result<Option<TreeEntry>, Error> {
        let found = self
            .open_parent(path, MissingFolders::Leave)
            .and_then(|held| {
                let Some((folder, name)) = held else {
                    return Ok(None);
                };
                match no_follow::stat(&folder, name) {
                    Ok(stat) => Ok(Some(entry_of(&stat))),
                    Err(Errno::NOENT) => Ok(None),
                    Err(errno) => Err(errno),
                }
            });
        found.map_err(|errno| self.failed(path, "look at", errno))
    }

    /// Reads a file of at most `limit` bytes, or the target of a link; returns `None` if there is
    /// neither. Fails with `TooLarge` for a longer file.
    pub fn read(&self, path: &str, limit: u64) -> Result<Option<(TreeKind, Vec<u8>)>, Error> {
        let doing = "read";
        let held = self.open_parent(path, MissingFolders::Leave);
        let Some((folder, name)) = held.map_err(|errno| self.failed(path, doing, errno))? else {
            return Ok(None);
        };
        let file = match no_follow::open_file(&folder, name) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            // A link; or, as some systems report it, an entry that cannot be opened.
            Err(Errno::LOOP | Errno::MLINK) => {
                return match no_follow::read_link(&folder, name) {
                    Ok(target) => Ok(Some((TreeKind::Link, target))),
                    Err(Errno::NOENT | Errno::INVAL) => Ok(None),
                    Err(errno) => Err(self.failed(path, doing, errno)),
                };
            }
            Err(Errno::NXIO) => return Ok(None),
            Err(errno) => return Err(self.failed(path, doing, errno)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| self.failed(path, doing, errno))?;
        let entry = entry_of(&stat);
        if !matches!(entry.kind, TreeKind::File | TreeKind::Executable) {
            return Ok(None);
        }
        let too_large =
            |size| Error::new(&self.at(path), doing, ErrorReason::TooLarge { size, limit });
        if entry.size > limit {
            return Err(too_large(entry.size));
        }
        let mut bytes = Vec::with_capacity(entry.size as usize);
        let read = File::from(file).take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| Error::from_io(&self.at(path), doing, &error))?;
        if bytes.len() as u64 > limit {
            Err(too_large(bytes.len() as u64))
        } else {
            Ok(Some((entry.kind, bytes)))
        }
    }

    /// Visits everything that is not a folder. `step` is called for each name with whether it is a
    /// folder; entries that cannot be examined are returned as problems.
    pub fn walk(
        &self,
        step: &mut dyn FnMut(&str, bool) -> WalkStep,
        visit: &mut dyn FnMut(&str, TreeEntry),
    ) -> Vec<Error> {
        let mut problems = Vec::new();
        let mut open = vec![String::new()];
        while let Some(path) = open.pop() {
            let walked = self.folder(&path, step, visit, &mut open, &mut problems);
            // An entry that vanished during the walk is not a problem.
            if let Err(errno) = walked
                && !matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
            {
                problems.push(self.failed(&path, "list", errno));
            }
        }
        problems
    }

    /// Visits the entries of one folder, which is empty for the top; adds the subfolders that
    /// `step` enters to `open`. Names that are not UTF-8 become problems; a missing folder is not
    /// an error. Fails if the folder or an entry cannot be examined.
    fn folder(
        &self,
        path: &str,
        step: &mut dyn FnMut(&str, bool) -> WalkStep,
        visit: &mut dyn FnMut(&str, TreeEntry),
        open: &mut Vec<String>,
        problems: &mut Vec<Error>,
    ) -> Result<(), Errno> {
        let Some(folder) = self.descend(Path::new(path), MissingFolders::Leave)? else {
            return Ok(());
        };
        for FolderEntry { name, kind } in no_follow::entries(&folder)? {
            let Some(text) = name.to_str() else {
                let shown = self.at(path).join(name.to_string_lossy().as_ref());
                let why = "its name is not UTF-8, so it is left out".to_owned();
                problems.push(Error::new(&shown, "look at", ErrorReason::Other(why)));
                continue;
            };
            if text.starts_with(DRAFT) {
                continue;
            }
            let inner = if path.is_empty() {
                text.to_owned()
            } else {
                format!("{path}/{text}")
            };
            // Entries that `step` skips need no metadata.
            if step(&inner, kind == FileType::Directory) == WalkStep::Skip {
                continue;
            }
            let stat = match no_follow::stat(&folder, &name) {
                Ok(stat) => entry_of(&stat),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno),
            };
            if stat.kind == TreeKind::Folder {
                open.push(inner)
            } else {
                visit(&inner, stat)
            }
        }
        Ok(())
    }

    /// Writes a file or link and replaces the previous entry, completely written before it is
    /// renamed; creates missing parent folders. A file keeps the previous file's permissions except
    /// for the execute bits. With `is_lasting` it is durable on return.
    pub fn write(
        &self,
        path: &str,
        kind: TreeKind,
        bytes: &[u8],
        is_lasting: bool,
    ) -> Result<(), Error> {
        let written = self.try_write(path, kind, bytes, is_lasting);
        written.map_err(|error| match error.raw_os_error() {
            Some(code) => self.failed(path, "write", Errno::from_raw_os_error(code)),
            None => Error::from_io(&self.at(path), "write", &error),
        })
    }

    /// Does the work of `write`. Fails if a link or a file is in the place of a folder on the way.
    /// Removes the temporary file if the last step, renaming it, fails.
    fn try_write(
        &self,
        path: &str,
        kind: TreeKind,
        bytes: &[u8],
        is_lasting: bool,
    ) -> std::io::Result<()> {
        let held = self.open_parent(path, MissingFolders::Make)?;
        let (folder, name) = held.ok_or(Errno::NOTDIR)?;
        let draft = draft(name);
        let before = no_follow::stat(&folder, name).ok();
        unlink(&folder, &draft)?;
        let file = if kind == TreeKind::Link {
            let target = Path::new(std::ffi::OsStr::from_bytes(bytes));
            rustix::fs::symlinkat(target, &folder, &draft)?;
            None
        } else {
            let is_executable = kind == TreeKind::Executable;
            Some(write_draft(&folder, &draft, bytes, is_executable, before)?)
        };
        if is_lasting && let Some(file) = &file {
            durability::before_rename(file)?;
        }
        if let Err(errno) = rustix::fs::renameat(&folder, &draft, &folder, name) {
            unlink(&folder, &draft)?;
            return Err(errno.into());
        }
        match file {
            Some(file) if is_lasting => durability::after_rename(&file, &folder),
            None if is_lasting => durability::names_in(&folder),
            _ => Ok(()),
        }
    }

    /// Removes a file or link, and parent folders that become empty. A missing entry is not an
    /// error.
    pub fn remove(&self, path: &str) -> Result<(), Error> {
        let failed = |errno| self.failed(path, "remove", errno);
        let held = self
            .open_parent(path, MissingFolders::Leave)
            .map_err(failed)?;
        let Some((folder, name)) = held else {
            return Ok(());
        };
        unlink(&folder, name).map_err(failed)?;
        let mut above = Path::new(path).parent();
        while let Some(folder) = above.filter(|it| !it.as_os_str().is_empty()) {
            let held = self.open_parent(folder.to_str().unwrap_or_default(), MissingFolders::Leave);
            let Ok(Some((outer, name))) = held else {
                return Ok(());
            };
            // A folder that is not empty stays.
            if rustix::fs::unlinkat(&outer, name, AtFlags::REMOVEDIR).is_err() {
                return Ok(());
            }
            above = folder.parent();
        }
        Ok(())
    }

    /// Removes what an interrupted `write` left beside a path.
    pub fn sweep(&self, path: &str) -> Result<(), Error> {
        let swept = match self.open_parent(path, MissingFolders::Leave) {
            Ok(Some((folder, name))) => unlink(&folder, &draft(name)),
            Ok(None) => Ok(()),
            Err(errno) => Err(errno),
        };
        swept.map_err(|errno| self.failed(path, "clear away a draft of", errno))
    }

    /// Returns the folder that contains a path and the path's last component; `None` if there is no
    /// such folder.
    fn open_parent<'p>(
        &self,
        path: &'p str,
        missing: MissingFolders,
    ) -> Result<Option<(OwnedFd, &'p str)>, Errno> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() || matches!(name, "." | "..") {
            return Err(Errno::INVAL);
        }
        let folder = self.descend(Path::new(folder), missing)?;
        Ok(folder.map(|folder| (folder, name)))
    }

    /// Opens a folder below the top without following links. With `MissingFolders::Make` missing
    /// folders are created; with `Leave`, a folder that is missing or is something else gives
    /// `None`. Fails with `XDEV` if `path` is absolute or contains `..`.
    fn descend(&self, path: &Path, missing: MissingFolders) -> Result<Option<OwnedFd>, Errno> {
        let mut held = no_follow::open_folder(&self.top, ".")?;
        for part in path.components() {
            let Component::Normal(name) = part else {
                return Err(Errno::XDEV);
            };
            let mut next = no_follow::open_folder(&held, name);
            if matches!(next, Err(Errno::NOENT)) && missing == MissingFolders::Make {
                match rustix::fs::mkdirat(&held, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                next = no_follow::open_folder(&held, name);
            }
            held = match (next, missing) {
                (Ok(next), _) => next,
                (Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP), MissingFolders::Leave) => {
                    return Ok(None);
                }
                (Err(errno), _) => return Err(errno),
            };
        }
        Ok(Some(held))
    }

    fn at(&self, path: &str) -> AbsPath {
        self.root.join(path)
    }

    fn failed(&self, path: &str, doing: &'static str, errno: Errno) -> Error {
        match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::XDEV => {
                let why = "a link or a file is in the place of a folder on the way to it";
                Error::new(&self.at(path), doing, ErrorReason::Other(why.to_owned()))
            }
            Errno::ISDIR => Error::new(
                &self.at(path),
                doing,
                ErrorReason::NotAFile(FileKind::Folder),
            ),
            other => Error::from_errno(&self.at(path), doing, other),
        }
    }
}

/// The treatment of missing parent folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MissingFolders {
    Leave,
    Make,
}

/// Writes a new file under a temporary name, with the permissions of the file before.
fn write_draft(
    folder: &OwnedFd,
    draft: &str,
    bytes: &[u8],
    is_executable: bool,
    before: Option<rustix::fs::Stat>,
) -> std::io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let made = Mode::from_raw_mode(0o666);
    let file = rustix::fs::openat(folder, draft, flags | OFlags::CLOEXEC, made)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    let own = rustix::fs::fstat(&file)?.st_mode;
    let as_before = before.map(|it| it.st_mode);
    let as_before =
        as_before.filter(|mode| FileType::from_raw_mode(*mode) == FileType::RegularFile);
    let mode = as_before.unwrap_or(own) & 0o777;
    let mode = if is_executable {
        mode | (mode & 0o444) >> 2
    } else {
        mode & !0o111
    };
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    Ok(file)
}

fn entry_of(stat: &rustix::fs::Stat) -> TreeEntry {
    let status = FileStatus::from_raw(stat);
    let kind = match status.file_type {
        FileType::RegularFile if status.mode & 0o100 != 0 => TreeKind::Executable,
        FileType::RegularFile => TreeKind::File,
        FileType::Symlink => TreeKind::Link,
        FileType::Directory => TreeKind::Folder,
        _ => TreeKind::Other,
    };
    TreeEntry {
        kind,
        size: status.size,
        inode: status.inode,
        mtime_ns: status.mtime_ns,
        ctime_ns: status.ctime_ns,
    }
}

/// Returns the temporary name of a file. It is derived from the file's name, so that a leftover can
/// be found, and short.
fn draft(name: &str) -> String {
    let hash = crate::content_hash::ContentHash::of(name.as_bytes());
    format!("{DRAFT}{:016x}", hash.0 as u64)
}

/// Returns whether a file name is a temporary name of `FolderTree::write` or of a save, in progress
/// or interrupted.
pub fn is_draft_name(name: &std::ffi::OsStr) -> bool {
    let made = name
        .to_str()
        .and_then(|name| name.strip_prefix(DRAFT))
        .is_some_and(|rest| rest.len() == 16 && rest.chars().all(|ch| ch.is_ascii_hexdigit()));
    made || crate::is_temp_name(name)
}

/// Removes a file or link from a folder; a missing one is not an error.
fn unlink(folder: impl AsFd, name: &str) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests;
