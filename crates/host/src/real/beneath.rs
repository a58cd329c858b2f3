//! Files below one folder, reached so that no link leads out of it, whoever plants one and whenever.
//!
//! A path is opened part by part by the kernel, which follows no link on the way; what is then done, is done to
//! what was opened, by way of `/proc/self/fd`. So the path must be one without links: see `canonicalize`.
//! Outside of the folder everything is as without it.

use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path};

use base::AbsPath;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{RealFiles, folder, read, retry, save};
use crate::error::{Error, Reason};
use crate::files::{AppendLog, Files, Lock, SaveRequest, Saved};
use crate::overwrite::Interrupted;
use crate::stat::{Listing, Stat};
use crate::watch::{WatchRequest, Watcher};

/// The machine's own files, those below `root` without links.
pub(super) struct Beneath {
    root: AbsPath,
}

/// Something that was opened, and a path by which it is reached whatever happens to its name.
pub(super) struct Held {
    /// Keeps the path alive.
    _handle: OwnedFd,
    path: AbsPath,
}

impl Beneath {
    /// `None` where the system offers no way.
    pub(super) fn new(root: &AbsPath) -> Option<Self> {
        let is_there = Path::new("/proc/self/fd").exists();
        is_there.then(|| Self { root: root.clone() })
    }

    /// The part of a path below the root; `None` for the root itself and what lies outside.
    fn inner<'p>(&self, path: &'p AbsPath) -> Option<&'p Path> {
        let inner = path.relative_to(&self.root)?;
        (!inner.as_os_str().is_empty()).then_some(inner)
    }

    /// Opens a file or folder itself, to be reached by.
    fn hold(&self, path: &AbsPath, doing: &'static str) -> Result<Held, Error> {
        let inner = path.relative_to(&self.root).unwrap_or(Path::new(""));
        let handle = open(&self.root, inner).map_err(|errno| refused(path, doing, errno))?;
        let reached = AbsPath::new(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let reached = reached.ok_or_else(|| refused(path, doing, Errno::INVAL))?;
        Ok(Held {
            path: reached,
            _handle: handle,
        })
    }

    /// A name in the folder that holds it.
    pub(super) fn hold_name(
        &self,
        path: &AbsPath,
        doing: &'static str,
    ) -> Result<(Held, AbsPath), Error> {
        let above = path.parent().unwrap_or_else(|| path.clone());
        let held = self.hold(&above, doing)?;
        let name = path.as_path().file_name().unwrap_or_default();
        let reached = held.path.join(name);
        Ok((held, reached))
    }
}

fn refused(path: &AbsPath, doing: &'static str, errno: Errno) -> Error {
    match errno {
        Errno::LOOP | Errno::XDEV => {
            let reason = "it lies behind a link that was not there a moment ago; look again";
            Error::new(path, doing, Reason::Other(reason.to_owned()))
        }
        other => Error::from_errno(path, doing, other),
    }
}

fn open(root: &AbsPath, inner: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = retry(|| rustix::fs::open(root.as_path(), flags | OFlags::DIRECTORY, Mode::empty()))?;
    if inner.as_os_str().is_empty() {
        return Ok(top);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match retry(|| rustix::fs::openat2(&top, inner, flags, Mode::empty(), resolve)) {
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => walk(top, inner),
        // The kernel could not be sure while something was renamed.
        Err(Errno::AGAIN) => walk(top, inner),
        other => other,
    }
}

/// The same part by part.
fn walk(top: OwnedFd, inner: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held = top;
    let mut parts = inner.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(Errno::XDEV);
        };
        let next = retry(|| rustix::fs::openat(&held, name, flags, Mode::empty()))?;
        let kind = rustix::fs::fstat(&next)?.st_mode;
        match rustix::fs::FileType::from_raw_mode(kind) {
            rustix::fs::FileType::Symlink => return Err(Errno::LOOP),
            rustix::fs::FileType::Directory => {}
            _ if parts.peek().is_some() => return Err(Errno::NOTDIR),
            _ => {}
        }
        held = next;
    }
    Ok(held)
}

/// An error of the path by which something was reached, as one of the path that was asked for.
fn named<T>(result: Result<T, Error>, path: &AbsPath) -> Result<T, Error> {
    result.map_err(|error| Error {
        path: path.clone(),
        ..error
    })
}

impl Files for Beneath {
    fn read_with_stat(&self, path: &AbsPath, limit: u64) -> Result<(Vec<u8>, Stat), Error> {
        if self.inner(path).is_none() {
            return RealFiles.read_with_stat(path, limit);
        }
        let held = self.hold(path, "read")?;
        named(read::whole(&held.path, limit), path)
    }

    fn read_chunks(
        &self,
        path: &AbsPath,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.read_chunks(path, take);
        }
        let held = self.hold(path, "read")?;
        named(read::chunks(&held.path, take), path)
    }

    fn stat(&self, path: &AbsPath) -> Result<Stat, Error> {
        RealFiles.stat(path)
    }

    fn list(&self, path: &AbsPath) -> Result<Listing, Error> {
        if !path.is_within(&self.root) {
            return RealFiles.list(path);
        }
        let held = self.hold(path, "list")?;
        let mut listing = named(folder::list(&held.path), path)?;
        for entry in &mut listing.entries {
            entry.path = path.join(entry.path.as_path().file_name().unwrap_or_default());
        }
        Ok(listing)
    }

    fn canonicalize(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        RealFiles.canonicalize(path)
    }

    fn save(&self, request: &SaveRequest<'_>) -> Result<Saved, Error> {
        if self.inner(request.path).is_none() {
            return RealFiles.save(request);
        }
        let (_held, target) = self.hold_name(request.path, "save")?;
        named(save::save_at(request, &target), request.path)
    }

    fn create_file(&self, path: &AbsPath) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.create_file(path);
        }
        let (_held, target) = self.hold_name(path, "create")?;
        named(RealFiles.create_file(&target), path)
    }

    fn create_folder(&self, path: &AbsPath) -> Result<(), Error> {
        let Some(inner) = self.inner(path) else {
            return RealFiles.create_folder(path);
        };
        let mut there = self.root.clone();
        for part in inner.components() {
            there = there.join(part);
            match self.hold(&there, "create the folder") {
                Ok(_) => continue,
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
            let (_held, target) = self.hold_name(&there, "create the folder")?;
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
        let (_source, one) = self.hold_name(from, "rename")?;
        let (_target, two) = self.hold_name(to, "rename to")?;
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
        let (_source, one) = self.hold_name(from, "copy")?;
        let (_target, two) = self.hold_name(to, "copy to")?;
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
        let (_held, target) = self.hold_name(path, "remove")?;
        named(folder::remove(&target), path)
    }

    fn write_private(&self, path: &AbsPath, content: &[u8]) -> Result<(), Error> {
        if self.inner(path).is_none() {
            return RealFiles.write_private(path, content);
        }
        let (_held, target) = self.hold_name(path, "write")?;
        named(RealFiles.write_private(&target, content), path)
    }

    fn open_log(&self, path: &AbsPath) -> Result<Box<dyn AppendLog>, Error> {
        RealFiles.open_log(path)
    }

    fn lock(&self, path: &AbsPath) -> Result<Option<Lock>, Error> {
        RealFiles.lock(path)
    }

    fn watch(&self, request: WatchRequest) -> Result<Watcher, Error> {
        RealFiles.watch(request)
    }

    fn interrupted(&self, recovery_folder: &AbsPath) -> (Vec<Interrupted>, Vec<Error>) {
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
