//! A path that system calls resolve from an open folder.
//!
//! All operations on real files act on a `PathAt`. An absolute path follows links. A name in an
//! open folder never follows one: neither a link at the name, nor a link that replaces a folder on
//! the way, since the folder is already open.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use base::AbsPath;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::file_status::FileStatus;
use crate::retry::retry;
use crate::stat::Stat;

/// An absolute path, or a name in an open folder.
#[derive(Clone, Debug)]
pub(crate) struct PathAt {
    /// `None` for an absolute path.
    folder: Option<Arc<OwnedFd>>,
    /// The whole path: for messages, and for the name in it.
    path: AbsPath,
}

impl PathAt {
    /// An absolute path, links followed.
    pub(crate) fn absolute(path: &AbsPath) -> Self {
        Self {
            folder: None,
            path: path.clone(),
        }
    }

    /// The last component of `path` in the open `folder`, links not followed.
    pub(crate) fn in_folder(folder: Arc<OwnedFd>, path: &AbsPath) -> Self {
        Self {
            folder: Some(folder),
            path: path.clone(),
        }
    }

    /// Returns the whole path, for messages and records.
    pub(crate) fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns another name in the same folder.
    pub(crate) fn sibling(&self, name: impl AsRef<OsStr>) -> Self {
        let above = self.path.parent().unwrap_or_else(|| self.path.clone());
        Self {
            folder: self.folder.clone(),
            path: above.join(Path::new(name.as_ref())),
        }
    }

    /// Returns the folder for a call of the `*at` family.
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, |folder| folder.as_fd())
    }

    /// Returns the path for a call of the `*at` family.
    pub(crate) fn name(&self) -> &Path {
        match &self.folder {
            Some(_) => Path::new(self.path.as_path().file_name().unwrap_or_default()),
            None => self.path.as_path(),
        }
    }

    fn follows_links(&self) -> bool {
        self.folder.is_none()
    }

    /// Returns the metadata of the entry, or of its target if links are followed.
    pub(crate) fn status(&self) -> Result<FileStatus, Errno> {
        let flags = if self.follows_links() {
            AtFlags::empty()
        } else {
            AtFlags::SYMLINK_NOFOLLOW
        };
        rustix::fs::statat(self.folder(), self.name(), flags)
            .map(|stat| FileStatus::from_raw(&stat))
    }

    /// Returns the metadata of the entry itself.
    pub(crate) fn own_status(&self) -> Result<FileStatus, Errno> {
        rustix::fs::statat(self.folder(), self.name(), AtFlags::SYMLINK_NOFOLLOW)
            .map(|stat| FileStatus::from_raw(&stat))
    }

    /// Opens the entry. Never waits for the writer of a pipe, and never gains a terminal.
    pub(crate) fn open(&self, flags: OFlags, mode: Mode) -> Result<File, Errno> {
        let links = if self.follows_links() {
            OFlags::empty()
        } else {
            OFlags::NOFOLLOW
        };
        let flags = flags | links | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        retry(|| rustix::fs::openat(self.folder(), self.name(), flags, mode)).map(File::from)
    }

    /// Opens the folder that contains the entry.
    pub(crate) fn open_parent(&self) -> Result<OwnedFd, Errno> {
        let above = match &self.folder {
            Some(_) => Path::new("."),
            None => self.path.as_path().parent().unwrap_or(Path::new("/")),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        retry(|| rustix::fs::openat(self.folder(), above, flags, Mode::empty()))
    }

    /// Checks whether this process may write the entry.
    pub(crate) fn check_writable(&self) -> Result<(), Errno> {
        let check =
            |flags| rustix::fs::accessat(self.folder(), self.name(), Access::WRITE_OK, flags);
        if self.follows_links() {
            return check(AtFlags::empty());
        }
        match check(AtFlags::SYMLINK_NOFOLLOW) {
            // Kernels before 5.8, and sandboxes that do not allow the call. The check has no effect
            // on a link's target.
            Err(Errno::NOSYS | Errno::INVAL | Errno::PERM) => check(AtFlags::empty()),
            other => other,
        }
    }

    /// Converts `status` to the public type.
    pub(crate) fn stat_of(&self, status: &FileStatus) -> Stat {
        Stat {
            kind: status.kind(),
            stamp: status.stamp(),
            mode: status.mode,
            links: status.links,
            is_writable: status.mode & 0o222 != 0 && self.check_writable().is_ok(),
        }
    }

    /// Renames the entry; replaces what `to` names.
    pub(crate) fn rename(&self, to: &Self) -> Result<(), Errno> {
        retry(|| rustix::fs::renameat(self.folder(), self.name(), to.folder(), to.name()))
    }

    /// Renames the entry with flags, which not every volume supports.
    pub(crate) fn rename_with(&self, to: &Self, flags: RenameFlags) -> Result<(), Errno> {
        let (old, new) = (self.name(), to.name());
        retry(|| rustix::fs::renameat_with(self.folder(), old, to.folder(), new, flags))
    }

    /// Removes a file, a link itself, or another entry that is not a folder.
    pub(crate) fn unlink(&self) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.folder(), self.name(), AtFlags::empty())
    }
}
