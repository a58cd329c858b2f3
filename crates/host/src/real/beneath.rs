//! Files below one folder, reached so that no link leads out of it, even if it is created at the
//! same time.
//!
//! The kernel opens each path without following links; the operation then acts on the open handle
//! through `/proc/self/fd`. The path must be free of links: see `canonicalize`. Paths outside the
//! folder behave as with `RealFiles`.

use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use base::AbsPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{RealFiles, folder, read, retry, save};
use crate::error::{Error, ErrorReason};
use crate::files::{AppendLog, FileLock, Files, InterruptedSave, SaveRequest, SaveResult};
use crate::listing::Listing;
use crate::no_follow;
use crate::stat::Stat;
use crate::watch::{WatchRequest, Watcher};

/// Real files that follow no links below `root`.
pub(super) struct BeneathFiles {
    root: AbsPath,
}

/// An open file or folder, and a path that reaches it whatever happens to its name.
pub(super) struct OpenedPath {
    /// Keeps the path valid.
    _handle: OwnedFd,
    path: AbsPath,
}

impl BeneathFiles {
    /// Returns `None` if the system does not support this.
    pub(super) fn new(root: &AbsPath) -> Option<Self> {
        let is_there = Path::new("/proc/self/fd").exists();
        is_there.then(|| Self { root: root.clone() })
    }

    /// Returns the part of a path below the root; `None` for the root itself and for paths outside.
    fn inner<'p>(&self, path: &'p AbsPath) -> Option<&'p Path> {
        let inner = path.relative_to(&self.root)?;
        (!inner.as_os_str().is_empty()).then_some(inner)
    }

    /// Opens a file or folder as a handle.
    fn open_path(&self, path: &AbsPath, doing: &'static str) -> Result<OpenedPath, Error> {
        let inner = path.relative_to(&self.root).unwrap_or(Path::new(""));
        let handle = open(&self.root, inner).map_err(|errno| refused(path, doing, errno))?;
        let reached = AbsPath::new(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let reached = reached.ok_or_else(|| refused(path, doing, Errno::INVAL))?;
        Ok(OpenedPath {
            path: reached,
            _handle: handle,
        })
    }

    /// Opens the folder that contains a name, and returns the name's path through that handle.
    pub(super) fn open_parent(
        &self,
        path: &AbsPath,
        doing: &'static str,
    ) -> Result<(OpenedPath, AbsPath), Error> {
        let above = path.parent().unwrap_or_else(|| path.clone());
        let held = self.open_path(&above, doing)?;
        let name = path.as_path().file_name().unwrap_or_default();
        let reached = held.path.join(name);
        Ok((held, reached))
    }
}

fn refused(path: &AbsPath, doing: &'static str, errno: Errno) -> Error {
    match errno {
        Errno::LOOP | Errno::XDEV => {
            let reason = "it lies behind a link that was not there a moment ago; look again";
            Error::new(path, doing, ErrorReason::Other(reason.to_owned()))
        }
        other => Error::from_errno(path, doing, other),
    }
}

/// Opens a handle of `inner`, relative to `root`, that serves as a path only. Fails with `LOOP` for
/// a link, also at the end; `root` must not be a link either.
fn open(root: &AbsPath, inner: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = retry(|| rustix::fs::open(root.as_path(), flags | OFlags::DIRECTORY, Mode::empty()))?;
    if inner.as_os_str().is_empty() {
        return Ok(top);
    }
    no_follow::open_below(&top, inner, flags, Mode::empty())
}

/// Replaces the handle's path in an error by the requested path.
fn with_path<T>(result: Result<T, Error>, path: &AbsPath) -> Result<T, Error> {
    result.map_err(|error| Error {
        path: path.clone(),
        ..error
    })
}

impl Files for BeneathFiles {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        if self.inner(path).is_none() {
            return RealFiles.read_with_stat(path, limit);
        }
        let held = self.open_path(path, "read")?;
        with_path(read::read_whole(&held.path, limit), path)
    }

    fn read_chunks(
        &self,
        path: &AbsPath,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.read_chunks(path, take);
        }
        let held = self.open_path(path, "read")?;
        with_path(read::chunks(&held.path, take), path)
    }

    fn stat(&self, path: &AbsPath) -> Result<Stat, Error> {
        RealFiles.stat(path)
    }

    fn list(&self, path: &AbsPath) -> Result<Listing, Error> {
        if !path.is_within(&self.root) {
            return RealFiles.list(path);
        }
        let held = self.open_path(path, "list")?;
        let mut listing = with_path(folder::list(&held.path), path)?;
        for entry in &mut listing.entries {
            entry.path = path.join(entry.path.as_path().file_name().unwrap_or_default());
        }
        Ok(listing)
    }

    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        RealFiles.canonicalize(path)
    }

    fn save(&self, request: &SaveRequest<'_>) -> Result<SaveResult, Error> {
        if self.inner(request.path).is_none() {
            return RealFiles.save(request);
        }
        let (_held, target) = self.open_parent(request.path, "save")?;
        with_path(save::save_at(request, &target), request.path)
    }

    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.create_file(path);
        }
        let (_held, target) = self.open_parent(path, "create")?;
        with_path(RealFiles.create_file(&target), path)
    }

    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        let Some(inner) = self.inner(path) else {
            return RealFiles.create_folder(path);
        };
        let mut there = self.root.clone();
        for part in inner.components() {
            there = there.join(part);
            match self.open_path(&there, "create the folder") {
                Ok(_) => continue,
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
            let (_held, target) = self.open_parent(&there, "create the folder")?;
            match rustix::fs::mkdir(target.as_path(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(Error::from_errno(&there, "create the folder", errno)),
            }
        }
        Ok(())
    }

    fn rename(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        if self.inner(from).is_none() || self.inner(to).is_none() {
            return RealFiles.rename(from, to);
        }
        let (_source, one) = self.open_parent(from, "rename")?;
        let (_target, two) = self.open_parent(to, "rename to")?;
        folder::rename(&one, &two).map_err(|error| {
            let path = if error.path == two { to } else { from };
            Error {
                path: path.clone(),
                ..error
            }
        })
    }

    fn copy(&self, from: &AbsPath, to: &AbsPath) -> Result<(), Error> {
        if self.inner(from).is_none() || self.inner(to).is_none() {
            return RealFiles.copy(from, to);
        }
        let (_source, one) = self.open_parent(from, "copy")?;
        let (_target, two) = self.open_parent(to, "copy to")?;
        RealFiles.copy(&one, &two).map_err(|error| {
            let path = if error.path == two { to } else { from };
            Error {
                path: path.clone(),
                ..error
            }
        })
    }

    fn trash(&self, path: &AbsPath) -> Result<(), Error> {
        RealFiles.trash(path)
    }

    fn remove(&self, path: &AbsPath) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.remove(path);
        }
        let (_held, target) = self.open_parent(path, "remove")?;
        with_path(folder::remove(&target), path)
    }

    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.write_private(path, content);
        }
        let (_held, target) = self.open_parent(path, "write")?;
        with_path(RealFiles.write_private(&target, content), path)
    }

    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
        RealFiles.open_log(path)
    }

    fn lock(&self, path: &AbsPath) -> Result<Option<FileLock>, Error> {
        RealFiles.lock(path)
    }

    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error> {
        RealFiles.watch(request)
    }

    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<InterruptedSave>, Vec<Error>) {
        RealFiles.interrupted(recovery_folder)
    }

    fn sweep(&self, folder: &AbsPath) -> Result<(), Error> {
        RealFiles.sweep(folder)
    }

    fn free_bytes(&self, path: &AbsPath) -> Option<u64> {
        RealFiles.free_bytes(path)
    }
}

#[cfg(test)]
mod tests;
